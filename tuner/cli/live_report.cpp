#include <tuner/cli/live_report.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <cache/disk.hpp>
#include <cache/session.hpp>

#include <tuner/cli/kernel_amounts.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/core/error.hpp>
#include <tuner/session/records.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

constexpr std::chrono::milliseconds kEvery = report::Live{}.every;
/// Writing takes at most one kShare-th of the time.
constexpr int kShare = 20;

}  // namespace

LiveReport::LiveReport(const TuneJobs& jobs, const Device& device, Wisdom& wisdom, Console& console)
    : jobs_(jobs), device_(device), wisdom_(wisdom), console_(console), next_(Clock::now() + kEvery) {
  const std::string& file = jobs_.request.report;
  if (file != "-") cache::write_text(file, report::page({}, {kVersion, cache::now_ms(), {}, report::Live{}}));
}

void LiveReport::update(const Progress& progress) {
  if (Clock::now() < next_ || jobs_.request.report == "-") return;
  report::Live live;
  live.finished = progress.finished;
  live.planned = progress.planned;
  if (progress.remaining) live.remaining_s = progress.remaining->count();
  write(live);
}

void LiveReport::write(std::optional<report::Live> live) {
  const Clock::time_point begun = Clock::now();
  const KernelSpec& spec = *jobs_.all.front().spec;
  const cache::KernelRecord kernel = to_record(spec, jobs_.request.tuning.session.objective);
  try {
    std::vector<report::Tuning> found = report::gather(wisdom_.databases(), {kernel.name, device_.key.text()}).tunings;
    std::erase_if(found, [&](const report::Tuning& one) {
      const auto is_it = [&](const TuneJob& job) { return to_record(job.size) == one.key.problem; };
      return !(one.key.kernel == kernel) || std::none_of(jobs_.all.begin(), jobs_.all.end(), is_it);
    });
    add_amounts(found, spec.program.file);
    const cache::Database& user = wisdom_.user();
    const std::string database = user.is_in_memory() ? "memory" : user.path().string();
    write_or_print(jobs_.request.report, report::page(found, {kVersion, cache::now_ms(), {database}, std::move(live)}));
  } catch (const Error& error) {
    if (std::exchange(all_written_, false)) console_.warning(fmt::format("--report: {}", error.what()));
  }
  next_ = Clock::now() + std::max<Clock::duration>(kEvery, kShare * (Clock::now() - begun));
}

}  // namespace tuner::cli
