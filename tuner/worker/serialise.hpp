#pragma once
/// Values to bytes and back, for messages between processes of one machine and one build: little-endian, lengths
/// before contents. Reading never trusts a length. A struct travels when there is a function fields() for it
/// (fields.hpp).

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/error.hpp>

namespace tuner::worker {

/// Bytes that are no message of this protocol.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

template <typename T>
concept Number = std::is_arithmetic_v<T>;
/// An enum with a function last(), its greatest enumerator; the least is 0.
template <typename T>
concept Enumerator = requires(T value) {
  last(value);
};
template <typename T>
concept Struct = requires(T& value) {
  fields(value);
};

class Writer {
 public:
  template <typename T>
  requires(Number<T> || std::is_enum_v<T>) void put(T value) { raw(std::as_bytes(std::span(&value, 1))); }
  void put(const std::string& text) { put_bytes(std::as_bytes(std::span(text))); }
  void put(const std::vector<std::byte>& bytes) { put_bytes(bytes); }
  void put(const std::vector<double>& values) {
    put(std::uint64_t{values.size()});
    raw(std::as_bytes(std::span(values)));
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
  }
  template <typename T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& value : values) put(value);
  }
  template <typename K, typename V>
  void put(const std::map<K, V>& values) {
    put(std::uint64_t{values.size()});
    for (const auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename... T>
  void put(const std::variant<T...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& each) { put(each); }, value);
  }
  void put(const Configuration& configuration);
  void put(const Struct auto& value) {
    std::apply([&](const auto&... each) { (put(each), ...); }, fields(value));
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void put_bytes(std::span<const std::byte> bytes) {
    put(std::uint64_t{bytes.size()});
    raw(bytes);
  }

  std::vector<std::byte> bytes_;
};

/// Every get() throws ProtocolError when the bytes end too early.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void get(Number auto& value) { std::memcpy(&value, need(sizeof value).data(), sizeof value); }
  void get(bool& value);
  template <Enumerator T>
  void get(T& value) {
    const auto number = get<std::underlying_type_t<T>>();
    if (number > static_cast<std::underlying_type_t<T>>(last(value)))
      throw ProtocolError("message has an unknown enumerator");
    value = static_cast<T>(number);
  }
  void get(std::string& text);
  void get(std::vector<std::byte>& bytes);
  void get(std::vector<double>& values);
  template <typename T>
  void get(std::vector<T>& values) {
    values.clear();
    for (std::size_t count = get_count(1); count > 0; --count) get(values.emplace_back());
  }
  template <typename T, std::size_t N>
  void get(std::array<T, N>& values) {
    for (T& value : values) get(value);
  }
  template <typename K, typename V>
  void get(std::map<K, V>& values) {
    values.clear();
    for (std::size_t count = get_count(1); count > 0; --count) {
      K key = get<K>();
      get(values[std::move(key)]);
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) get(value.emplace());
  }
  template <typename... T>
  void get(std::variant<T...>& value) {
    get_alternative(value, get<std::uint8_t>(), std::index_sequence_for<T...>());
  }
  void get(Configuration& configuration);
  void get(Struct auto& value) {
    std::apply([&](auto&... each) { (get(each), ...); }, fields(value));
  }
  template <typename T>
  T get() {
    T value{};
    get(value);
    return value;
  }
  /// Reads alternative \p index of \p value. Throws ProtocolError when there is none.
  template <typename Variant, std::size_t... Each>
  void get_alternative(Variant& value, std::size_t index, std::index_sequence<Each...>) {
    const bool known = ((index == Each ? (get(value.template emplace<Each>()), true) : false) || ...);
    if (!known) throw ProtocolError("message has a value of unknown type " + std::to_string(index));
  }

  /// Throws ProtocolError unless everything was read.
  void end() const;

 private:
  std::span<const std::byte> need(std::size_t count);
  /// A number of elements of at least \p bytes each, checked against what is left.
  std::size_t get_count(std::size_t bytes);

  std::span<const std::byte> bytes_;
};

}  // namespace tuner::worker
