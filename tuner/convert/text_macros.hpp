#pragma once
/// Finds the values of macros in a C++ text without a compiler. Internal to the room.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tuner::convert {

class TextMacros {
 public:
  /// The macros at the end of \p code, which has no comments; \p given are defined before its first line. Evaluates
  /// `#if` and similar directives with integer conditions; text under other conditions is unknown. Macros that the
  /// compiler or an included file may define are unknown too.
  TextMacros(std::string_view code, std::map<std::string, std::string, std::less<>> given);

  /// The replacement of \p name; nullopt if it is not a macro, takes arguments, or is unknown.
  std::optional<std::string> value(const std::string& name) const;

 private:
  enum class Truth { no, yes, unknown };

  static Truth both(Truth a, Truth b) { return a == Truth::no || b == Truth::no ? Truth::no : a > b ? a : b; }

  Truth holds(std::string_view condition) const;
  Truth is_defined(const std::string& name) const;
  bool may_be_elsewhere(std::string_view name) const;
  void read(std::string_view directive, std::string_view rest, Truth is_read);

  std::map<std::string, std::string, std::less<>> values_;
  std::set<std::string> unknown_;
  bool includes_ = false;  // includes a file that does not belong to the compiler
};

}  // namespace tuner::convert
