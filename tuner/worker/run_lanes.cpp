#include <tuner/worker/run_lanes.hpp>

#include <algorithm>
#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/measure/run_order.hpp>

namespace tuner::worker {

RunLanes::RunLanes(const IsolatedOptions& options, const StartWorker& start_here, const Open& open,
                   const std::map<std::string, std::string>& carried, RunLanesEvents events, SessionTimes& times)
    : events_(std::move(events)), queue_{options, times} {
  DeviceKey key;
  key.backend = options.backend;
  const std::string kind = traits(key).is_gpu ? "GPU" : "host";
  const auto add = [&](int device, const StartWorker& start, const std::string& host) {
    Open one = open;
    one.device = device;
    if (!host.empty()) one.measure.carried = carried;
    lanes_.push_back({RunLane(size(), start, std::move(one), events_, queue_)});
    lanes_.back().report.name = (host.empty() ? "" : host + ' ') + kind + ' ' + std::to_string(device);
  };
  for (const int device : options.devices) add(device, start_here, {});
  for (const RemoteHost& host : options.hosts)
    for (const int device : host.devices) add(device, host.start, host.name);
}

/// Calls \p work for each lane in use, and gives lanes up that throw. Rethrows when it is the last one.
template <typename Work>
void RunLanes::for_each(Work work) {
  const auto is_last = [this] {
    return std::count_if(lanes_.begin(), lanes_.end(), [](const Entry& one) { return one.in_use; }) == 1;
  };
  for (int i = 0; i < size(); ++i) {
    Entry& entry = lanes_[static_cast<std::size_t>(i)];
    if (!entry.in_use) continue;
    try {
      work(entry.lane);
    } catch (const PrepareError& error) {
      if (is_last()) throw;
      at_fault_.push_back(i);
      give_up(entry, error.what());
    } catch (const WorkerError& error) {
      if (is_last()) {
        tell_who_was_given_up();
        throw;
      }
      give_up(entry, error.what());
      entry.report.unusable = dynamic_cast<const DeviceLostError*>(&error) != nullptr;
      events_.given_up(i);
    }
  }
}

bool RunLanes::some_are_prepared() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Entry& one) { return one.in_use && one.lane.prepared(); });
}

void RunLanes::give_up(Entry& entry, const std::string& reason) {
  entry.in_use = false;
  entry.report.lost = reason;
  entry.lane.retire();
}

void RunLanes::tell_who_was_given_up() {
  for (const int lane : std::exchange(at_fault_, {})) events_.given_up(lane);
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
  queue_.started = Clock::now();
  for_each([](RunLane& lane) { lane.start(); });
}

void RunLanes::ask_all(const RunJob& job) {
  const bool some = some_are_prepared();
  for (Entry& entry : lanes_) {
    if (!entry.in_use || (some && !entry.lane.prepared())) continue;
    entry.lane.push_own(job);
    entry.asked = true;
  }
}

std::vector<int> RunLanes::asked() const {
  std::vector<int> lanes;
  for (int i = 0; i < size(); ++i)
    if (const Entry& entry = lanes_[static_cast<std::size_t>(i)]; entry.in_use && entry.asked) lanes.push_back(i);
  return lanes;
}

void RunLanes::ask_none() {
  for (Entry& entry : lanes_) entry.asked = false;
}

std::vector<LaneReport> RunLanes::reports() const {
  std::vector<LaneReport> all;
  for (const Entry& entry : lanes_) all.push_back(entry.report);
  return all;
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
