#pragma once
/// Reports: the parts that need the kernel's file (traffic, arithmetic, the default and the limit of the best), and
/// `tune --report FILE`.

#include <span>

#include <tuner/cli/commands/tune_jobs.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/report/page.hpp>
#include <tuner/report/tuning.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner::cli {

/// Fills in the amounts and the verdict of those \p tunings whose kernel is among \p kernels and has the same source.
void add_amounts(std::span<report::Tuning> tunings, KernelsByName kernels);

/// The verdict on the best configuration of \p tuning, by its latest trial and the counters of that trial. \p device is
/// the device of \p tuning, \p spec the kernel that was measured. Nothing if there is no best. Throws Error for sizes
/// that \p spec does not take, as another's database may hold.
std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device);

/// The report of a tuning, written again and again while it runs. An open page updates itself.
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
