#pragma once
/// Tuning parameters and their values.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner {

/// One value of a tuning parameter: an integer, a boolean or a string. Values have a total order. Their text parses
/// back to the same value.
class Value {
 public:
  Value() : data_(std::int64_t{0}) {}
  Value(std::int64_t v) : data_(v) {}
  Value(int v) : data_(std::int64_t{v}) {}
  Value(bool v) : data_(v) {}
  Value(std::string v) : data_(std::move(v)) {}
  Value(const char* v) : data_(std::string(v)) {}

  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_boolean() const { return std::holds_alternative<bool>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }

  /// Integer value; booleans count as 0 and 1. Throws std::bad_variant_access for a string.
  std::int64_t integer() const {
    return is_boolean() ? std::int64_t{std::get<bool>(data_)} : std::get<std::int64_t>(data_);
  }
  /// Throws std::bad_variant_access unless is_boolean().
  bool boolean() const { return std::get<bool>(data_); }
  /// Throws std::bad_variant_access unless is_string().
  const std::string& string() const { return std::get<std::string>(data_); }

  /// The number that a word is, if it has a point or a negative exponent: `0.5`, `1e-3`. There is no arithmetic with
  /// it, and C++ gets it as written.
  std::optional<double> fraction() const;

  /// `42`, `true`, `shuffle`, as in kernel files, command lines and databases.
  std::string text() const;
  /// Inverse of text(). Everything that is neither a decimal integer nor `true` or `false` is a string.
  static Value parse(std::string_view text);

  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;

 private:
  std::variant<std::int64_t, bool, std::string> data_;
};

struct TuningParameter {
  std::string name;
  std::vector<Value> values;  ///< at least one, without duplicates, in the author's order
};

}  // namespace tuner
