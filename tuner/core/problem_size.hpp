#pragma once
/// The caller's problem: its sizes (`n`, `nx`, `ny`) and its choices (element type, operation). Choices select
/// code and must match exactly when wisdom is looked up; sizes may match nearby ones.

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace tuner {

struct ProblemSize {
  std::map<std::string, std::int64_t> sizes;   ///< e.g. {"nx", 4096}; never negative
  std::map<std::string, std::string> choices;  ///< e.g. {"T", "float"}, {"operation", "sum"}

  /// `T=float operation=sum`: the part that must match exactly.
  std::string choices_text() const;
  /// The choices of such a text; words that are not of the form name=value are left out.
  static std::map<std::string, std::string> parse_choices(const std::string& text);
  /// `nx=4096 ny=4096`.
  std::string sizes_text() const;
  /// Both, choices first.
  std::string text() const;

  friend bool operator==(const ProblemSize&, const ProblemSize&) = default;
  friend auto operator<=>(const ProblemSize&, const ProblemSize&) = default;
};

}  // namespace tuner
