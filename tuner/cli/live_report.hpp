#pragma once
/// `tune --report FILE`: the report of a tuning, written again while it runs. A page that is open follows it.

#include <chrono>
#include <string>
#include <vector>

#include <tuner/cli/terminal.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/observer.hpp>
#include <tuner/session/tuning.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// Writes the page through a temporary file that takes its place: readers find the old or the new one. At most every
/// two seconds, and never for more than a twentieth of the time.
class LiveReport : public Observer {
 public:
  /// Writes a first page. Throws cache::CacheError when it cannot be written; what cannot be written later is said once
  /// on \p console. All of them must outlive it.
  LiveReport(std::string file, Wisdom& wisdom, const TuningOptions& options,
             std::vector<std::filesystem::path> template_path, Console& console);

  void on_start(const SessionPlan& plan) override;
  void on_trial(const Trial& trial, const Progress& progress) override;
  void on_finalists(std::size_t count) override;

  /// The last page, which follows nothing any more: what is stored of \p spec on \p device for \p problems.
  void finish(const KernelSpec& spec, const Device& device, const std::vector<ProblemSize>& problems);
  bool all_written() const { return all_written_; }

 private:
  using Clock = std::chrono::steady_clock;
  void write(std::vector<report::Tuning>& tunings, std::optional<report::Live> live);

  std::string file_;
  Wisdom& wisdom_;
  const TuningOptions& options_;
  std::vector<std::filesystem::path> template_path_;
  Console& console_;
  std::vector<report::Tuning> tunings_;  // the one that runs first
  report::Live live_;
  Clock::time_point next_;
  bool all_written_ = true;
};

}  // namespace tuner::cli
