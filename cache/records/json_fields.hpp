#pragma once
/// Converts fields to JSON and back: visitors for cache/records/fields.hpp. Private to this room.

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <cache/records/record_checks.hpp>
#include <cache/records/json.hpp>
#include <cache/records/json_value.hpp>

namespace tuner::cache {

/// what() names the member and its fault.
class MemberError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Records inside records become objects.
template <class T>
inline constexpr bool kIsRecord =
    std::is_same_v<T, ResourceRecord> || std::is_same_v<T, DeviceRecord> || std::is_same_v<T, EnvironmentRecord>;

/// Whether an optional field is left out.
template <class T>
bool is_nothing(const T& field) {
  if constexpr (requires { field.has_value(); }) return !field.has_value();
  if constexpr (requires { field.empty(); }) return field.empty();
  return false;
}

/// Writes a record as a line of JSON. Builds no JSON object, because this runs for each row that is read.
class LineWriter {
 public:
  /// Leaves out fields that have any flag of \p without.
  explicit LineWriter(unsigned without = kPlain) : without_(without) {}

  template <class T>
  void operator()(std::string_view name, const T& field, unsigned how) {
    if ((how & without_) != 0 || ((how & kOptional) != 0 && is_nothing(field))) return;
    append(text_ += text_.empty() ? '{' : ',', name);
    append(text_ += ':', field, how);
  }
  std::string line() const { return text_.empty() ? "{}" : text_ + '}'; }

  /// NaN and infinities become null.
  template <class T>
  static void append(std::string& text, const T& field, unsigned how = kPlain) {
    if constexpr (std::is_same_v<T, bool>) {
      text += field ? "true" : "false";
    } else if constexpr (std::is_same_v<T, double>) {
      text +=
          std::isfinite(field) ? text_of_json(field == 0 ? 0.0 : field) : "null";  // one zero: SQLite does not store -0
    } else if constexpr (std::is_integral_v<T>) {
      (how & kInstant) != 0 ? append(text, instant_text(field)) : void(text += std::to_string(field));
    } else if constexpr (std::is_same_v<T, Sizes>) {
      append(text, sizes_text(field));
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
      if ((how & kObject) != 0) {
        const auto object = read_json_or_nothing(field);
        text += object && object->template as<JsonValue::Object>() != nullptr ? object->text() : "{}";
      } else if (std::all_of(field.begin(), field.end(), plain)) {
        ((text += '"') += field) += '"';
      } else {
        text += text_of_json((how & kProse) != 0 ? prose(field) : std::string(field));
      }
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      const char* separator = "[";
      for (const double number : field) append(text += std::exchange(separator, ","), number);
      text += field.empty() ? "[]" : "]";
    } else if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
      LineWriter object;
      for (const auto& [name, number] : field) object(name, number, kPlain);
      text += object.line();
    } else if constexpr (requires { field.has_value(); }) {
      field ? append(text, *field, how) : void(text += "null");
    } else {
      LineWriter object;
      visit_fields(field, object);
      text += object.line();
    }
  }
  template <class T>
  static std::string text_of(const T& field) {
    std::string text;
    append(text, field);
    return text;
  }

 private:
  std::string text_;
  const unsigned without_;
};

/// Sets each field from an object. Strict: throws MemberError for a member that is missing or has another type.
class JsonReader {
 public:
  explicit JsonReader(const JsonValue& object) : object_(object) {
    if (object.as<JsonValue::Object>() == nullptr) throw MemberError("not a JSON object");
  }

  template <class T>
  void operator()(const char* name, T& field, unsigned how) {
    const JsonValue* const found = object_.member(name);
    if (found != nullptr) return set(field, *found, name, how);
    if ((how & kOptional) == 0) throw MemberError(fmt::format("'{}' is missing", name));
  }

  template <class T>
  static void set(T& field, const JsonValue& value, const char* name, unsigned how = kPlain) {
    const auto require = [&](bool good, const char* what) {
      if (!good) throw MemberError(fmt::format("'{}' is not {}", name, what));
    };
    const auto* const text = value.as<std::string>();
    if constexpr (std::is_same_v<T, bool>) {
      require(value.as<bool>() != nullptr, "true or false");
      field = *value.as<bool>();
    } else if constexpr (std::is_same_v<T, double>) {
      const auto number = value.number();
      require(number || value.is_null(), "a number");
      field = number ? *number + 0.0 : std::numeric_limits<double>::quiet_NaN();  // one zero
    } else if constexpr (std::is_integral_v<T>) {
      if ((how & kInstant) != 0) {
        const auto ms = text != nullptr ? parse_instant(*text) : std::nullopt;
        require(ms.has_value(), "an instant like 2026-01-31T23:59:59.000Z");
        field = static_cast<T>(ms.value_or(0));
        return;
      }
      const auto* const natural = value.as<std::uint64_t>();
      const auto* const integer = value.as<std::int64_t>();
      require(natural != nullptr || integer != nullptr, "an integer");
      require(natural != nullptr ? std::in_range<T>(*natural) : std::in_range<T>(*integer),
              std::is_same_v<T, int> ? "within 32 bits" : "within 64 bits");
      field = natural != nullptr ? static_cast<T>(*natural) : static_cast<T>(*integer);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if ((how & kObject) != 0) {
        require(value.as<JsonValue::Object>() != nullptr, "an object");
        field = value.text();
      } else {
        require(text != nullptr, "a string");
        field = *text;
      }
    } else if constexpr (std::is_same_v<T, Sizes>) {
      require(text != nullptr, "a string");
      auto sizes = parse_sizes(*text);
      if (!sizes) throw MemberError(*text + ": no sizes like 'nx=4096 ny=4096', sorted by name");
      field = std::move(*sizes);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      const auto* const list = value.as<JsonValue::List>();
      require(list != nullptr, "a list");
      for (const JsonValue& number : *list) set(field.emplace_back(), number, name);
    } else if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
      const auto* const members = value.as<JsonValue::Object>();
      require(members != nullptr, "an object");
      for (const auto& [key, number] : *members) set(field[key], number, name);
    } else if constexpr (kIsRecord<T>) {
      visit_fields(field, JsonReader(value));
    } else if (!value.is_null()) {
      set(field.emplace(), value, name, how);
    }
  }

 private:
  const JsonValue& object_;
};

}  // namespace tuner::cache
