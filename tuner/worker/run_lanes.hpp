#pragma once
/// The lanes of a session, a run worker for each device, and the one queue that they take their work from. A lane whose
/// device cannot be used any more is given up while others go on. Lives in the session's event loop. Internal to the
/// worker room.

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
  /// It is not used any more, and what was for it alone will not finish.
  /// \p unusable: it is its device that cannot be used, whatever the kernel.
  std::function<void(int lane, const std::string& reason, bool unusable)> given_up;
};

class RunLanes {
 public:
  /// A lane for each of the options' devices, and for those of its hosts. \p open: the first message to each worker,
  /// but for the device. \p carried: MeasureOptions::carried of other hosts. \p options and \p times must outlive it.
  RunLanes(const IsolatedOptions& options, const Open& open, const std::map<std::string, std::string>& carried,
           RunLanesEvents events, SessionTimes& times);
  RunLanes(const RunLanes&) = delete;
  RunLanes& operator=(const RunLanes&) = delete;

  /// Like react(), throws WorkerError when no lane can be kept alive, and PrepareError when the kernel is at fault.
  void start();
  /// RunQueue::reference.
  void set_reference(std::shared_ptr<const Image> image) { queue_.reference = std::move(image); }
  void set_best(double best_ns) { queue_.set_best(best_ns); }
  void push(RunJob job) { queue_.ready.push_back(std::move(job)); }
  /// To every lane that is prepared, or that is used where none is. Which these are.
  std::vector<int> push_to_all(const RunJob& job);
  /// Evaluator::prefer(), of what was not sent to a worker yet.
  void prefer(std::span<const Configuration> order);
  /// Evaluator::withdraw(): the configurations that were taken out. What waits in a worker's pipe is recalled.
  std::vector<Configuration> withdraw(std::span<const Configuration> configurations);
  /// Evenly: no worker gets a second job while another has none, or is on its way.
  void schedule();
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  void react(const std::vector<pollfd>& fds);
  /// Tells of all that devices were lost with, which waits for another try: there will be none.
  void tell_suspects();
  /// Kills the workers.
  void stop();

  std::size_t size() const { return lanes_.size(); }
  bool in_use(std::size_t lane) const { return lanes_.at(lane).in_use; }

 private:
  struct Entry {
    RunLane lane;
    bool in_use = true;
  };
  template <typename Work>
  void for_each(Work work);
  bool some_are_prepared() const;
  void give_up(std::size_t number);
  void tell_lost(RunJob job);
  void tell_who_was_given_up();

  RunLanesEvents events_;
  RunQueue queue_;
  std::deque<Entry> lanes_;
  // By reason: told once another lane is prepared. Until then the kernel may be at fault, which is told once.
  std::vector<std::pair<int, std::string>> at_fault_;
};

}  // namespace tuner::worker
