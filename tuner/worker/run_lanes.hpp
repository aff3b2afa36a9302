#pragma once
/// The lanes of a session, a run worker for each device, and the queue from which they take their work. A lane whose
/// device can no longer be used is given up, and the others continue. Lives in the session's event loop. Internal to
/// the worker room.

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tuner/worker/run_lane.hpp>

namespace tuner::worker {

struct RunLanesEvents : RunLaneEvents {
  /// The lane is no longer used. Its report gives the reason. Jobs for it alone will not finish.
  std::function<void(int lane)> given_up;
};

class RunLanes {
 public:
  /// Makes a lane for each device of \p options and of its hosts. \p start_here: for workers of this host. \p open: the
  /// first message to each worker, without the device. \p carried: MeasureOptions::carried of other hosts. \p options
  /// and \p times must outlive the lanes.
  RunLanes(const IsolatedOptions& options, const StartWorker& start_here, const Open& open,
           const std::map<std::string, std::string>& carried, RunLanesEvents events, SessionTimes& times);
  RunLanes(const RunLanes&) = delete;
  RunLanes& operator=(const RunLanes&) = delete;

  /// Like react(), throws WorkerError when no lane can be kept alive, and PrepareError when the kernel is the cause.
  void start();
  /// Sets RunQueue::reference.
  void set_reference(std::shared_ptr<const Image> image) { queue_.reference = std::move(image); }
  void set_best(double best_ns) { queue_.set_best(best_ns); }
  void push(RunJob job) { queue_.ready.push_back(std::move(job)); }
  /// Asks every prepared lane to run \p job, the finalists; if no lane is prepared, every lane in use.
  void ask_all(const RunJob& job);
  /// The lanes in use that run the finalists.
  std::vector<int> asked() const;
  void ask_none();
  /// Evaluator::prefer(), for jobs that were not sent to a worker yet.
  void prefer(std::span<const Configuration> order);
  /// Evaluator::withdraw(). Returns the configurations that were taken out. Jobs in a worker's pipe are recalled.
  std::vector<Configuration> withdraw(std::span<const Configuration> configurations);
  /// Sends jobs evenly: no worker gets a second job while another has none or is still starting.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Tells the trials of all jobs that devices were lost with. No lane will try them again.
  void tell_suspects();
  /// Kills the workers.
  void stop();

  int size() const { return static_cast<int>(lanes_.size()); }
  LaneReport& report(int lane) { return lanes_.at(static_cast<std::size_t>(lane)).report; }
  std::vector<LaneReport> reports() const;

 private:
  struct Entry {
    RunLane lane;
    LaneReport report = {};
    bool in_use = true;
    bool asked = false;
  };
  template <typename Work>
  void for_each(Work work);
  bool some_are_prepared() const;
  void give_up(Entry& entry, const std::string& reason);
  void tell_lost(RunJob job);
  void tell_who_was_given_up();

  RunLanesEvents events_;
  RunQueue queue_;
  std::deque<Entry> lanes_;
  // Lanes with a PrepareError. It is reported as theirs once another lane is prepared; until then the kernel may be the
  // cause.
  std::vector<int> at_fault_;
};

}  // namespace tuner::worker
