#include <tuner/worker/finals.hpp>

#include <algorithm>

namespace tuner::worker {
namespace {

constexpr std::size_t kMostImages = 64;

/// The value below which the part \p q (0 to 1) of \p sorted lies.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

void Finals::offer(const Trial& trial, std::shared_ptr<const Image> image) {
  const Measurement* const measurement = trial.measurement();
  if (measurement == nullptr) return;
  fastest_[trial.configuration] = {measurement->median_ns, std::move(image)};
  if (fastest_.size() <= kMostImages) return;
  fastest_.erase(
      std::ranges::max_element(fastest_, [](const auto& a, const auto& b) { return a.second.first < b.second.first; }));
}

void Finals::begin(std::vector<Configuration> configurations, double seconds, Placement placement) {
  seconds_ = seconds;
  in_new_process_ = placement == Placement::new_process;
  if (placement != Placement::present) ++placement_;
  ++round_;
  finalists_.clear();
  for (Configuration& configuration : configurations) {
    const auto known = fastest_.find(configuration);
    finalists_.push_back({std::move(configuration), known == fastest_.end() ? nullptr : known->second.second, {}, {}});
  }
}

Finals::Finalist* Finals::find(std::size_t i, const Configuration& configuration) {
  return i < finalists_.size() && finalists_[i].configuration == configuration ? &finalists_[i] : nullptr;
}

std::optional<RunJob> Finals::job() const {
  if (finalists_.empty()) return std::nullopt;
  RunJob job;
  job.finals_s = seconds_;
  job.placement = placement_;
  job.in_new_process = in_new_process_;
  for (const Finalist& one : finalists_) {
    if (one.failed) continue;
    if (!one.image) return std::nullopt;
    job.configurations.push_back(one.configuration);
    job.images.push_back(one.image);
    if (known_.contains(one.configuration)) job.checked.push_back(one.configuration);
  }
  return job;
}

void Finals::measured(int lane, const RunJob& job, const std::vector<Trial>& trials) {
  for (Finalist& one : finalists_)
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (job.configurations[i] == one.configuration)
        one.trials.insert_or_assign(lane, trials[i]).first->second.round = trials.size() > 1 ? round_ : 0;
}

bool Finals::complete(int lane) const {
  return std::ranges::all_of(finalists_,
                             [lane](const Finalist& one) { return one.failed || one.trials.contains(lane); });
}

/// A kernel that is wrong on one device is wrong. Trials of devices that are no longer in use do not count.
const Trial& Finals::trial(const Finalist& one, int decider, std::span<const int> lanes) const {
  if (one.failed) return *one.failed;
  for (const int lane : lanes) {
    const Trial& found = one.trials.at(lane);
    if (found.crashed || std::holds_alternative<WrongResult>(found.outcome)) return found;
  }
  return one.trials.at(decider);
}

std::optional<std::vector<Trial>> Finals::take(std::span<const int> lanes) {
  if (finalists_.empty()) return std::nullopt;
  const bool all_failed = std::ranges::all_of(finalists_, [](const Finalist& one) { return one.failed.has_value(); });
  if ((lanes.empty() && !all_failed) || !std::ranges::all_of(lanes, [this](int lane) { return complete(lane); }))
    return std::nullopt;
  const auto worked_on = [this](int lane) {
    return std::ranges::count_if(finalists_, [lane](const Finalist& one) {
      return !one.failed && one.trials.at(lane).measurement() != nullptr;
    });
  };
  int decider = lanes.empty() ? 0 : lanes.front();
  for (const int lane : lanes)
    if (worked_on(lane) > worked_on(decider)) decider = lane;
  std::vector<Trial> trials;
  for (const Finalist& one : finalists_) {
    const Trial& told = trials.emplace_back(trial(one, decider, lanes));
    if (told.measurement() != nullptr && !told.crashed) known_.insert(one.configuration);
  }
  for (const int lane : lanes) compare(lane, decider);
  finalists_.clear();
  return trials;
}

void Finals::compare(int lane, int decider) {
  if (lane == decider) return;
  for (const Finalist& one : finalists_) {
    const auto here = one.trials.find(lane), there = one.trials.find(decider);
    if (here == one.trials.end() || there == one.trials.end()) continue;
    const Measurement* const a = here->second.measurement();
    const Measurement* const b = there->second.measurement();
    if (a != nullptr && b != nullptr && a->median_ns > 0 && b->median_ns > 0)
      ratios_[lane].push_back(a->median_ns / b->median_ns);
  }
}

void Finals::describe(int lane, LaneReport& report) const {
  const auto at = ratios_.find(lane);
  if (at == ratios_.end()) return;
  std::vector<double> sorted = at->second;
  std::ranges::sort(sorted);
  report.offset = quantile(sorted, 0.5);
  report.offset_low = quantile(sorted, 0.25);
  report.offset_high = quantile(sorted, 0.75);
}

}  // namespace tuner::worker
