#pragma once
/// Names and comments in a C++ header that is written from results.

#include <map>
#include <set>
#include <string>
#include <utility>

namespace tuner::convert {

/// \p text for the end of a comment, where a backslash would also comment out the next line.
std::string comment(const std::string& text);

/// A unique identifier for each text, other than those that the header uses itself.
class Identifiers {
 public:
  Identifiers() = default;
  explicit Identifiers(std::set<std::string> taken) : taken_(std::move(taken)) {}
  /// Made of the letters and digits of \p text.
  const std::string& of(const std::string& text);
  /// \p wanted, or \p wanted with a number.
  const std::string& of(const std::string& text, const std::string& wanted);

 private:
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace tuner::convert
