#include <tuner/cli/live_report.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <cache/exchange.hpp>
#include <cache/session.hpp>

#include <tuner/cli/kernel_amounts.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/session/records.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

constexpr std::chrono::milliseconds kEvery{2000};
/// Writing takes at most one kShare-th of the time.
constexpr int kShare = 20;

}  // namespace

LiveReport::LiveReport(std::string file, Wisdom& wisdom, const TuningOptions& options, Console& console)
    : file_(std::move(file)), wisdom_(wisdom), options_(options), console_(console) {
  live_.every = kEvery;
  const report::PageOptions page{kVersion, cache::now_ms(), {}, live_};
  if (file_ != "-") cache::write_text(file_, report::page({}, page));
}

void LiveReport::on_start(const SessionPlan& plan) {
  report::Tuning tuning;
  tuning.key = {context_of(*plan.spec, *plan.size, *plan.device, options_.session.objective),
                conditions_text(options_, *plan.spec)};
  tuning.database = wisdom_.user().path().string();
  if (plan.resumed > 0) {
    std::vector<cache::TrialRecord> earlier = cache::finished_trials(wisdom_.user(), tuning.key);
    const std::int64_t began = earlier.empty() ? 0 : earlier.front().created_ms;
    report::append_session(tuning, std::move(earlier), began, 0);
  }
  cache::SessionRecord session;
  session.key = tuning.key;
  session.strategy = std::string(plan.strategy);
  session.seed = options_.session.seed;
  session.origin = options_.origin;
  session.started_ms = cache::now_ms();
  tuning.sessions.push_back(std::move(session));
  tunings_.insert(tunings_.begin(), std::move(tuning));
  add_amounts({tunings_.data(), 1}, plan.spec->file);
  next_ = Clock::now() + kEvery;
}

void LiveReport::on_trial(const Trial& trial, const Progress& progress) {
  report::Tuning& tuning = tunings_.front();
  cache::TrialRecord record = to_record(trial);
  record.created_ms = cache::now_ms();
  const double before = tuning.trials.size() > progress.finished ? tuning.trials[progress.resumed].at_s : 0;
  tuning.trials.push_back({std::move(record), before + progress.elapsed.count(), false});
  tuning.sessions.back().trials = static_cast<std::int64_t>(progress.finished);
  live_.finished = progress.finished;
  live_.planned = progress.planned;
  live_.remaining_s = progress.remaining ? std::optional(progress.remaining->count()) : std::nullopt;
  if (Clock::now() >= next_) write(tunings_, live_);
}

void LiveReport::on_finalists(std::size_t) { write(tunings_, live_); }

void LiveReport::finish(const KernelSpec& spec, const Device& device, const std::vector<ProblemSize>& problems) {
  const cache::KernelRecord kernel = to_record(spec, options_.session.objective);
  std::vector<report::Tuning> found = report::gather(wisdom_.databases(), {kernel.name, device.key.text()}).tunings;
  std::erase_if(found, [&](const report::Tuning& one) {
    const auto is_it = [&](const ProblemSize& size) { return to_record(size) == one.key.problem; };
    return !(one.key.kernel == kernel) || std::none_of(problems.begin(), problems.end(), is_it);
  });
  add_amounts(found, spec.file);
  write(found, std::nullopt);
}

void LiveReport::write(std::vector<report::Tuning>& tunings, std::optional<report::Live> live) {
  if (file_ == "-" && live) return;
  const Clock::time_point begun = Clock::now();
  const cache::Database& user = wisdom_.user();
  const std::string database = user.is_in_memory() ? "memory" : user.path().string();
  try {
    write_or_print(file_, report::page(tunings, {kVersion, cache::now_ms(), {database}, std::move(live)}));
  } catch (const cache::CacheError& error) {
    if (std::exchange(all_written_, false)) console_.warning(fmt::format("--report: {}", error.what()));
  }
  next_ = Clock::now() + std::max<Clock::duration>(kEvery, kShare * (Clock::now() - begun));
}

}  // namespace tuner::cli
