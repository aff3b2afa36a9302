#pragma once
/// Evaluates configurations of one kernel and problem size: by workers, or from a recording.
/// Asynchronous, so that compiling, running and searching overlap.

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/configuration.hpp>

namespace tuner {

/// A submitted configuration is compiled and waits for the device.
struct Compiled {
  Configuration configuration;
  Resources resources;  ///< all 0 if the compiler does not report them
};
/// A submitted configuration was taken back by withdraw(): it never ran.
struct Withdrawn {
  Configuration configuration;
};
/// Each submitted configuration causes at most one Compiled, then exactly one Trial or Withdrawn.
using Event = std::variant<Trial, Compiled, Withdrawn>;

/// Reports on one of the devices that run configurations for a session.
struct LaneReport {
  std::string name;        ///< "GPU 1"
  std::size_t trials = 0;  ///< number of trials that it ran

  /// Its times divided by those of the lane that decides, for configurations that both measured again: the median, and
  /// the range of the middle half. 0: no configuration was measured on both.
  double offset = 0, offset_low = 0, offset_high = 0;
  std::string lost;       ///< why it was given up; empty if it was not
  bool unusable = false;  ///< given up because its device is unusable for any kernel
};

/// Where finalists are measured again. The time of a short kernel depends on where its code and data lie in memory.
enum class Placement {
  present,      ///< where the buffers are
  new_memory,   ///< in buffers that are allocated anew, with another offset
  new_process,  ///< that too, in a new process
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many configurations it can work on at once. The session keeps this many in flight.
  virtual std::size_t capacity() const = 0;
  /// Starts evaluating \p configuration. \p best_ns: median of the best so far (0: none), so that a much slower
  /// configuration can be stopped early.
  virtual void submit(const Configuration& configuration, double best_ns) = 0;
  virtual std::size_t in_flight() const = 0;
  /// Waits for the next event of any configuration. Returns nothing if \p patience passes first. Precondition:
  /// in_flight() > 0.
  virtual std::optional<Event> next_event(std::chrono::duration<double> patience) = 0;
  /// Waits for the next finished trial and ignores other events. Precondition: in_flight() > 0, and nothing was
  /// withdrawn.
  Trial next() {
    for (;;) {
      std::optional<Event> event = next_event(std::chrono::seconds(1));
      if (!event) continue;
      if (Trial* trial = std::get_if<Trial>(&*event)) return std::move(*trial);
    }
  }
  /// Requests the order in which waiting configurations run. Configurations that \p order does not name run last.
  /// Configurations that have started already are not affected.
  virtual void prefer(std::span<const Configuration> order) { static_cast<void>(order); }
  /// Asks to take back configurations that wait for the compiler, are being compiled or wait for the device. Each one
  /// that is taken back is reported as Withdrawn.
  virtual void withdraw(std::span<const Configuration> configurations) { static_cast<void>(configurations); }
  /// Like withdraw(), and ends those that run after their present launch.
  virtual void abandon(std::span<const Configuration> configurations) { withdraw(configurations); }
  /// Asks to end soon while nothing has been measured: with fewer samples, and for the kernel's default without the
  /// checks that finalists have as well.
  virtual void hurry() {}
  /// False once nothing more can run, for example because a fault made the device unusable in this process. Trials that
  /// come back after that are not about their configurations.
  virtual bool usable() const { return true; }
  /// Measures finished configurations again, interleaved so that slow drift affects all of them alike. Returns one
  /// trial for each, in the order given. All are from one lane, except those that were wrong on another lane. Takes as
  /// many samples as fit into \p seconds. Once these have passed, or \p stop returns true, it gives up after the
  /// present launch and returns nothing. Returns nothing for a recording. Configurations that it has measured
  /// again before have no metrics. Precondition: in_flight() == 0.
  virtual std::vector<Trial> remeasure(std::span<const Configuration> finalists,
                                       double seconds = std::numeric_limits<double>::infinity(),
                                       const std::function<bool()>& stop = {},
                                       Placement placement = Placement::present) {
    (void)finalists, (void)seconds, (void)stop, (void)placement;
    return {};
  }
  /// About the time that Placement::new_process takes before it measures.
  virtual double seconds_to_start() const { return 0; }
  /// About the verification, for people: what it proves little about, and what results are not used for. They are
  /// stored with the results.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// The devices that it runs on, in the order of Trial::lane; empty if there are fewer than two.
  virtual std::vector<LaneReport> lanes() const { return {}; }
};

}  // namespace tuner
