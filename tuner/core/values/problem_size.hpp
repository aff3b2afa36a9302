#pragma once
/// The caller's problem: its sizes (`n`, `nx`, `ny`) and its choices (element type, operation). A lookup of wisdom
/// needs exactly the same choices, because they select code. It also accepts similar sizes.

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace tuner {

struct ProblemSize {
  std::map<std::string, std::int64_t> sizes;   ///< e.g. {"nx", 4096}; never negative
  std::map<std::string, std::string> choices;  ///< e.g. {"T", "float"}, {"operation", "sum"}

  /// `T=float operation=sum`.
  std::string choices_text() const;
  /// Inverse of choices_text(). Words that are not of the form name=value are ignored.
  static std::map<std::string, std::string> parse_choices(const std::string& text);
  /// `nx=4096 ny=4096`.
  std::string sizes_text() const;
  /// Both, choices first.
  std::string text() const;

  friend bool operator==(const ProblemSize&, const ProblemSize&) = default;
  friend auto operator<=>(const ProblemSize&, const ProblemSize&) = default;
};

}  // namespace tuner
