#pragma once
/// `tune --report FILE`: the report of a tuning, written again and again while it runs. An open page updates itself.

#include <chrono>
#include <string>
#include <vector>

#include <tuner/cli/terminal.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/observer.hpp>
#include <tuner/session/tuning.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// Replaces the page as a whole, so that readers find the old or the new one. Writes at most every two seconds, and
/// spends at most a twentieth of the time on it.
class LiveReport : public Observer {
 public:
  /// Writes a first page, but only the last one to `-`, standard output. Throws cache::CacheError if it cannot be
  /// written; warns once on \p console if a later page cannot be. The arguments must outlive it.
  LiveReport(std::string file, Wisdom& wisdom, const TuningOptions& options, Console& console);

  void on_start(const SessionPlan& plan) override;
  void on_trial(const Trial& trial, const Progress& progress) override;
  void on_finalists(std::size_t count) override;

  /// Writes the last page, which does not update any more: the stored results of \p spec on \p device for \p problems.
  void finish(const KernelSpec& spec, const Device& device, const std::vector<ProblemSize>& problems);
  bool all_written() const { return all_written_; }

 private:
  using Clock = std::chrono::steady_clock;
  void write(std::vector<report::Tuning>& tunings, std::optional<report::Live> live);

  std::string file_;
  Wisdom& wisdom_;
  const TuningOptions& options_;
  Console& console_;
  std::vector<report::Tuning> tunings_;  // the one that runs first
  report::Live live_;
  Clock::time_point next_;
  bool all_written_ = true;
};

}  // namespace tuner::cli
