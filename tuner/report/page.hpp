#pragma once
/// One HTML file that shows tunings: an answer, pictures and tables. It loads nothing. A Content-Security-Policy with
/// the script's hash lets it run only this script. Contents of a database are JSON, which the script shows as text.

#include <tuner/report/tuning.hpp>

namespace tuner::report {

struct PageOptions {
  std::string tuner;                   ///< version of tuner
  std::int64_t made_ms = 0;            ///< since 1970
  std::vector<std::string> databases;  ///< sources of the results, for people
};

/// The first line of every page. It identifies a file as a page.
inline constexpr std::string_view kPageMark = "<!doctype html><!-- tuner report -->";

/// \p tunings: in the order of the list. The page shows the first one first.
std::string page(std::span<const Tuning> tunings, const PageOptions& options);

}  // namespace tuner::report
