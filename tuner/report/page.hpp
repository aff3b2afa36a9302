#pragma once
/// One HTML file that shows tunings: answer, pictures, tables. It loads nothing, runs only the program's own script
/// (a Content-Security-Policy with its hash), and whatever stood in a database reaches it as data in JSON that the
/// script shows as text.

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/report/tuning.hpp>

namespace tuner::report {

/// A page that is written again while a tuning runs: it loads itself again and keeps the reader's place.
struct Live {
  std::chrono::milliseconds every{2000};
  std::size_t finished = 0;            ///< trials of this run
  std::optional<std::size_t> planned;  ///< where that is known
  std::optional<double> remaining_s;   ///< estimate
};

struct PageOptions {
  std::string tuner;                   ///< version of tuner
  std::int64_t made_ms = 0;            ///< since 1970
  std::vector<std::string> databases;  ///< where it is from, for people
  std::optional<Live> live;            ///< absent: final
};

/// The first line of every page, by which a file is known to be one.
inline constexpr std::string_view kPageMark = "<!doctype html><!-- tuner report -->";

/// \p tunings in the order in which they are listed; the first is shown first.
std::string page(std::span<const Tuning> tunings, const PageOptions& options);

}  // namespace tuner::report
