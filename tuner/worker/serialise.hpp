#pragma once
/// Values to bytes and back, for messages between processes of one build: little-endian, lengths before contents.
/// Reading never trusts a length. transfer() serves both directions. A struct can be sent if a function fields() for it
/// exists (protocol.hpp).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/error.hpp>

namespace tuner::worker {

/// The bytes are not a message of this protocol.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

class Writer {
 public:
  static constexpr bool reading = false;
  void raw(const void* from, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// Throws ProtocolError when the bytes end too early.
  void raw(void* to, std::size_t count) {
    if (count > left())
      throw ProtocolError("message ends early: " + std::to_string(count) + " bytes wanted, " + std::to_string(left()) +
                          " left");
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

/// A type with values from 0 to last(). Takes one byte.
constexpr bool last(bool) { return true; }
template <typename T>
concept Bounded = std::same_as<T, bool> ||(std::is_enum_v<T>&& requires(T value) { last(value); });
template <typename T>
concept Struct = requires(T& value) {
  fields(value);
};
template <typename T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
/// Text or numbers in one piece of memory.
template <typename T>
concept Flat =
    std::same_as<T, std::string> || std::same_as<T, std::vector<std::byte>> || std::same_as<T, std::vector<double>>;

template <typename Stream, typename T>
void transfer(Stream& stream, T& value);

/// The number of elements, which stands before them. Each takes at least \p bytes, so the number is checked against the
/// bytes that are left.
template <typename Stream>
std::size_t transfer_count(Stream& stream, std::size_t size, std::size_t bytes) {
  std::uint64_t count = size;
  transfer(stream, count);
  if constexpr (Stream::reading)
    if (count > stream.left() / bytes)
      throw ProtocolError("message claims " + std::to_string(count) + " elements in " + std::to_string(stream.left()) +
                          " bytes");
  return static_cast<std::size_t>(count);
}

/// Reads one element after the other, so that a false length takes no more memory than the bytes that follow it.
template <typename Element, typename Stream, typename T>
void transfer_elements(Stream& stream, T& values) {
  std::size_t count = transfer_count(stream, values.size(), 1);
  if constexpr (Stream::reading) {
    for (values.clear(); count > 0; --count) {
      Element element{};
      transfer(stream, element);
      values.insert(values.end(), std::move(element));
    }
  } else {
    for (const auto& element : values) transfer(stream, element);
  }
}
template <typename Stream, typename T>
void transfer_container(Stream& stream, std::vector<T>& values) {
  transfer_elements<T>(stream, values);
}
template <typename Stream, typename K, typename V>
void transfer_container(Stream& stream, std::map<K, V>& values) {
  transfer_elements<std::pair<K, V>>(stream, values);
}
template <typename Stream, typename T>
void transfer_container(Stream& stream, std::optional<T>& value) {
  bool there = value.has_value();
  transfer(stream, there);
  if constexpr (Stream::reading) value = there ? std::optional<T>(std::in_place) : std::nullopt;
  if (there) transfer(stream, *value);
}
/// Makes \p value hold an empty alternative \p index. Throws ProtocolError when there is none.
template <typename... T>
void choose(std::variant<T...>& value, std::size_t index) {
  const auto choose_one_of = [&]<std::size_t... Each>(std::index_sequence<Each...>) {
    return ((index == Each ? (static_cast<void>(value.template emplace<Each>()), true) : false) || ...);
  };
  if (!choose_one_of(std::index_sequence_for<T...>()))
    throw ProtocolError("message has a value of unknown type " + std::to_string(index));
}
template <typename Stream, typename... T>
void transfer_container(Stream& stream, std::variant<T...>& value) {
  auto index = static_cast<std::uint8_t>(value.index());
  transfer(stream, index);
  if constexpr (Stream::reading) choose(value, index);
  std::visit([&](auto& each) { transfer(stream, each); }, value);
}
template <typename Stream>
void transfer_container(Stream& stream, Configuration& configuration) {
  std::string text = configuration.text();
  transfer(stream, text);
  if constexpr (Stream::reading) try {
      configuration = Configuration::parse(text);
    } catch (const std::invalid_argument& error) {
      throw ProtocolError(error.what());
    }
}

template <typename Stream, typename T>
void transfer(Stream& stream, T& value) {
  if constexpr (std::is_const_v<T>) {
    static_assert(!Stream::reading);
    transfer(stream, const_cast<std::remove_const_t<T>&>(value));  // writing does not change it
  } else if constexpr (Bounded<T>) {
    auto number = static_cast<std::uint8_t>(value);
    transfer(stream, number);
    if (number > static_cast<std::uint8_t>(last(value)))
      throw ProtocolError("message has the value " + std::to_string(number) + " where there is none");
    if constexpr (Stream::reading) value = static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    stream.raw(&value, sizeof value);
  } else if constexpr (Flat<T>) {
    const std::size_t count = transfer_count(stream, value.size(), sizeof value[0]);
    if constexpr (Stream::reading) value.resize(count);
    stream.raw(value.data(), count * sizeof value[0]);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... each) { (transfer(stream, each), ...); }, value);
  } else if constexpr (std::is_empty_v<T>) {
  } else if constexpr (Struct<T>) {
    std::apply([&](auto&... each) { (transfer(stream, each), ...); }, fields(value));
  } else {
    transfer_container(stream, value);
  }
}

}  // namespace tuner::worker
