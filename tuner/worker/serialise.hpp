#pragma once
/// Values to bytes and back, for messages between processes of one machine and one build: little-endian, lengths
/// before contents. Reading never trusts a length.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tuner/core/error.hpp>

namespace tuner::worker {

/// Bytes that are no message of this protocol.
class ProtocolError : public Error {
 public:
  using Error::Error;
};

class Writer {
 public:
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put(std::string_view text);
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(std::span<const std::byte> bytes);
  template <typename T>
  void put(const std::vector<T>& values) {
    put(std::uint64_t{values.size()});
    if constexpr (std::is_arithmetic_v<T>) {
      const auto bytes = std::as_bytes(std::span(values));
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    } else {
      for (const T& value : values) put(value);
    }
  }
  void put(const std::vector<std::byte>& bytes) { put(std::span<const std::byte>(bytes)); }
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
  /// Structs have a free function write(Writer&, const T&) in namespace tuner::worker.
  template <typename T>
  requires std::is_class_v<T>
  void put(const T& value) { write(*this, value); }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Every get() throws ProtocolError when the bytes end too early.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void get(T& value) {
    std::memcpy(&value, need(sizeof value).data(), sizeof value);
  }
  void get(bool& value);
  void get(std::string& text);
  void get(std::vector<std::byte>& bytes);
  template <typename T>
  void get(std::vector<T>& values) {
    const std::size_t count = get_count(std::is_arithmetic_v<T> ? sizeof(T) : 1);
    values.clear();
    if constexpr (std::is_arithmetic_v<T>) {
      values.resize(count);
      const auto from = need(count * sizeof(T));
      if (count > 0) std::memcpy(values.data(), from.data(), from.size());
    } else {
      for (std::size_t i = 0; i < count; ++i) get(values.emplace_back());
    }
  }
  template <typename K, typename V>
  void get(std::map<K, V>& values) {
    const std::size_t count = get_count(1);
    values.clear();
    for (std::size_t i = 0; i < count; ++i) {
      K key{};
      get(key);
      get(values[std::move(key)]);
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    value.reset();
    if (present) get(value.emplace());
  }
  /// An enumerator from 0 to \p last.
  template <typename T>
  requires std::is_enum_v<T>
  void get(T& value, T last) {
    std::underlying_type_t<T> number{};
    get(number);
    if (number < 0 || number > static_cast<std::underlying_type_t<T>>(last)) bad_enumerator();
    value = static_cast<T>(number);
  }
  /// Structs have a free function read(Reader&, T&) in namespace tuner::worker.
  template <typename T>
  requires std::is_class_v<T>
  void get(T& value) { read(*this, value); }
  template <typename T>
  T get() {
    T value{};
    get(value);
    return value;
  }

  /// Throws ProtocolError unless everything was read.
  void end() const;

 private:
  std::span<const std::byte> need(std::size_t count);
  /// A number of elements of at least \p bytes each, checked against what is left.
  std::size_t get_count(std::size_t bytes);
  [[noreturn]] static void bad_enumerator();

  std::span<const std::byte> bytes_;
};

}  // namespace tuner::worker
