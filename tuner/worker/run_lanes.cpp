#include <tuner/worker/run_lanes.hpp>

#include <algorithm>
#include <utility>

#include <tuner/measure/run_order.hpp>
#include <tuner/worker/process.hpp>

namespace tuner::worker {

RunLanes::RunLanes(const IsolatedOptions& options, const Open& open, RunLanesEvents events, SessionTimes& times)
    : events_(std::move(events)) {
  const auto add = [&](int device, const StartWorker& start) {
    Open one = open;
    one.device = device;
    lanes_.push_back(
        {RunLane(static_cast<int>(lanes_.size()), options, start, std::move(one), events_, queue_, times)});
  };
  for (const int device : options.devices) add(device, start_here(options));
  for (const RemoteHost& host : options.hosts)
    for (const int device : host.devices) add(device, host.start);
}

/// Calls \p work for each lane in use. The last one's end is the end of all.
template <typename Work>
void RunLanes::for_each(Work work) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].in_use) continue;
    try {
      work(lanes_[i].lane);
    } catch (const WorkerError& error) {
      const auto in_use = std::count_if(lanes_.begin(), lanes_.end(), [](const Entry& one) { return one.in_use; });
      if (in_use == 1) throw;
      give_up(static_cast<int>(i), error.what());
    }
  }
}

void RunLanes::give_up(int number, const std::string& reason) {
  Entry& entry = lanes_.at(static_cast<std::size_t>(number));
  entry.in_use = false;
  entry.lane.retire();
  events_.given_up(number, reason);
}

void RunLanes::start() {
  for_each([](RunLane& lane) { lane.start(); });
}

void RunLanes::push_to_all(const RunJob& job) {
  for_each([&](RunLane& lane) { lane.push_own(job); });
}

void RunLanes::prefer(std::span<const Configuration> order) { put_in_order(queue_.ready, order, &RunJob::first); }

std::vector<Configuration> RunLanes::withdraw(std::span<const Configuration> configurations) {
  std::vector<Configuration> out;
  for (const RunJob& job : take_out(queue_.ready, configurations, &RunJob::first)) out.push_back(job.first());
  for_each([&](RunLane& lane) { lane.recall(configurations); });
  return out;
}

void RunLanes::schedule() {
  for (std::size_t depth = 1; depth <= RunLane::kDepth; ++depth) for_each([&](RunLane& lane) { lane.schedule(depth); });
}

void RunLanes::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  for_each([&](RunLane& lane) { lane.collect(fds, wake_up); });
}

void RunLanes::react(const std::vector<pollfd>& fds) {
  for_each([&](RunLane& lane) { lane.react(fds); });
}

void RunLanes::stop() {
  for (Entry& entry : lanes_) entry.lane.stop();
}

}  // namespace tuner::worker
