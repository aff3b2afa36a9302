#pragma once
/// `tune --report FILE`: the report of a tuning, written again and again while it runs. An open page updates itself.

#include <chrono>
#include <optional>

#include <tuner/cli/terminal.hpp>
#include <tuner/cli/tune_jobs.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/tune_session.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// Replaces the page as a whole, so that readers find the old or the new one. Writes at most every two seconds, and
/// spends at most a twentieth of the time on it.
class LiveReport {
 public:
  /// Of \p jobs, which are of one kernel, on \p device. Writes a first page, but only the last one to `-`, standard
  /// output. Throws cache::CacheError if it cannot be written; warns once on \p console if a later page cannot be made
  /// or written. The arguments must outlive it.
  LiveReport(const TuneJobs& jobs, const Device& device, Wisdom& wisdom, Console& console);

  /// Writes the stored trials, if it is time to.
  void update(const Progress& progress);
  /// Writes the last page, which does not update any more.
  void finish() { write(std::nullopt); }
  bool all_written() const { return all_written_; }

 private:
  using Clock = std::chrono::steady_clock;
  void write(std::optional<report::Live> live);

  const TuneJobs& jobs_;
  const Device& device_;
  Wisdom& wisdom_;
  Console& console_;
  Clock::time_point next_;
  bool all_written_ = true;
};

}  // namespace tuner::cli
