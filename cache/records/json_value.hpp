#pragma once
/// A JSON value for calls: unlike Json, whose destructor allocates and then ends a process that has no memory left, it
/// can always be destroyed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tuner::cache {

struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  /// In a value that was read, integers below 0 are std::int64_t, and others std::uint64_t.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Object> value = nullptr;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  bool is_null() const { return as<std::nullptr_t>() != nullptr; }
  /// nullopt unless it is a number.
  std::optional<double> number() const;
  /// The member \p name of an object; null if there is none, or this is not an object. Of equal names the last one
  /// counts.
  const JsonValue* member(std::string_view name) const;
  /// In one line, as text_of_json() prints it. \p ascii: without other characters.
  std::string text(bool ascii = false) const;
};

/// Throws Json::exception if \p text is not JSON. \p text must not nest deeply.
JsonValue read_json(std::string_view text);
/// nullopt if \p text is not JSON, or nests deeply.
std::optional<JsonValue> read_json_or_nothing(std::string_view text);
bool is_json_object(std::string_view text);

}  // namespace tuner::cache
