#pragma once
/// What the macros of a C++ text stand for, as far as can be told without a compiler. Internal to the room.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tuner::convert {

class TextMacros {
 public:
  /// Those of \p code, which has no comments, where it ends, when \p given are defined before its first line. Follows
  /// `#if` and its kin where their conditions are integers; what stands behind another condition is not known, nor is
  /// what the compiler or a file that the text includes may define.
  TextMacros(std::string_view code, std::map<std::string, std::string, std::less<>> given);

  /// What \p name is replaced by; nothing where it is no macro, takes arguments, or is not known.
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
  bool includes_ = false;  // a file that is not the compiler's own
};

}  // namespace tuner::convert
