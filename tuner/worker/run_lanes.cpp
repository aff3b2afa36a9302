#include <tuner/worker/run_lanes.hpp>

#include <algorithm>
#include <utility>

#include <tuner/measure/run_order.hpp>
#include <tuner/worker/process.hpp>

namespace tuner::worker {

RunLanes::RunLanes(const IsolatedOptions& options, const Open& open, const std::map<std::string, std::string>& carried,
                   RunLanesEvents events, SessionTimes& times)
    : events_(std::move(events)) {
  const auto add = [&](int device, const StartWorker& start, bool here) {
    Open one = open;
    one.device = device;
    if (!here) one.measure.carried = carried;
    lanes_.push_back(
        {RunLane(static_cast<int>(lanes_.size()), options, start, std::move(one), events_, queue_, times)});
  };
  for (const int device : options.devices) add(device, start_here(options), true);
  for (const RemoteHost& host : options.hosts)
    for (const int device : host.devices) add(device, host.start, false);
}

/// Calls \p work for each lane in use, and gives lanes up that throw. Rethrows when it is the last one.
template <typename Work>
void RunLanes::for_each(Work work) {
  const auto is_last = [this] {
    return std::count_if(lanes_.begin(), lanes_.end(), [](const Entry& one) { return one.in_use; }) == 1;
  };
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].in_use) continue;
    try {
      work(lanes_[i].lane);
    } catch (const PrepareError& error) {
      if (is_last()) throw;
      at_fault_.emplace_back(static_cast<int>(i), error.what());
      give_up(i);
    } catch (const WorkerError& error) {
      if (is_last()) {
        tell_who_was_given_up();
        throw;
      }
      give_up(i);
      events_.given_up(static_cast<int>(i), error.what(), dynamic_cast<const DeviceLostError*>(&error) != nullptr);
    }
  }
}

bool RunLanes::some_are_prepared() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Entry& one) { return one.in_use && one.lane.prepared(); });
}

void RunLanes::give_up(std::size_t number) {
  lanes_[number].in_use = false;
  lanes_[number].lane.retire();
}

void RunLanes::tell_who_was_given_up() {
  for (const auto& [lane, reason] : std::exchange(at_fault_, {})) events_.given_up(lane, reason, false);
}

void RunLanes::tell_lost(RunJob job) {
  auto [lane, trial] = std::move(*job.lost_with);
  events_.finished(lane, std::move(job), {std::move(trial)});
}

void RunLanes::tell_suspects() {
  for (Entry& entry : lanes_) entry.lane.tell_suspect();
  for (RunJob& job : std::exchange(queue_.ready, {}))
    if (job.lost_with) tell_lost(std::move(job));
}

void RunLanes::start() {
  for_each([](RunLane& lane) { lane.start(); });
}

std::vector<int> RunLanes::push_to_all(const RunJob& job) {
  const bool some = some_are_prepared();
  std::vector<int> lanes;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].in_use || (some && !lanes_[i].lane.prepared())) continue;
    lanes_[i].lane.push_own(job);
    lanes.push_back(static_cast<int>(i));
  }
  return lanes;
}

void RunLanes::prefer(std::span<const Configuration> order) { put_in_order(queue_.ready, order, &RunJob::first); }

std::vector<Configuration> RunLanes::withdraw(std::span<const Configuration> configurations) {
  std::vector<Configuration> out;
  for (RunJob& job : take_out(queue_.ready, configurations, &RunJob::first)) {
    if (job.lost_with)
      tell_lost(std::move(job));
    else
      out.push_back(job.first());
  }
  for_each([&](RunLane& lane) { lane.recall(configurations); });
  return out;
}

void RunLanes::schedule() {
  const bool all_are_prepared =
      std::all_of(lanes_.begin(), lanes_.end(), [](const Entry& one) { return !one.in_use || one.lane.prepared(); });
  const std::size_t depth = all_are_prepared ? RunLane::kDepth : 1;
  for (std::size_t jobs = 1; jobs <= depth; ++jobs) for_each([&](RunLane& lane) { lane.schedule(jobs); });
}

void RunLanes::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  for_each([&](RunLane& lane) { lane.collect(fds, wake_up); });
}

void RunLanes::react(const std::vector<pollfd>& fds) {
  for_each([&](RunLane& lane) { lane.react(fds); });
  if (!at_fault_.empty() && some_are_prepared()) tell_who_was_given_up();
}

void RunLanes::stop() {
  for (Entry& entry : lanes_) entry.lane.kill();  // all at once: a process that uses a GPU ends slowly
  for (Entry& entry : lanes_) entry.lane.stop();
}

}  // namespace tuner::worker
