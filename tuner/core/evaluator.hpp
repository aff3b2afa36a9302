#pragma once
/// Answers configurations of one (kernel, problem size) with trials: live on a backend, in worker processes, or
/// replayed from a recording. Asynchronous, so that compiling, running and searching overlap.

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner {

/// A submitted configuration is compiled and waits for the device.
struct Compiled {
  Configuration configuration;
  Resources resources;  ///< all 0 where the compiler does not tell
};
/// A submitted configuration was taken back by withdraw(): it never ran.
struct Withdrawn {
  Configuration configuration;
};
/// What happens to a submitted configuration: perhaps Compiled, then exactly one Trial or Withdrawn.
using Event = std::variant<Trial, Compiled, Withdrawn>;

/// What was seen of one of the devices that run configurations for a session.
struct LaneReport {
  std::string name;        ///< "GPU 1"
  std::size_t trials = 0;  ///< that it ran
  /// Its times over those of the lane that decides, of what both measured again: the middle, and the range of the
  /// middle half. 0: nothing was measured on both.
  double offset = 0, offset_low = 0, offset_high = 0;
  std::string lost;       ///< why it was given up; empty: it was not
  bool unusable = false;  ///< given up because its device is, whatever the kernel
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many submitted configurations it can keep busy; the session keeps this many in flight.
  virtual std::size_t capacity() const = 0;
  /// Starts evaluating \p configuration. \p best_ns: median of the best so far (0: none), for early stop.
  virtual void submit(const Configuration& configuration, double best_ns) = 0;
  virtual std::size_t in_flight() const = 0;
  /// Waits for the next event, of any configuration; nothing when \p patience passed before there was one. A
  /// configuration that runs in this thread is not interrupted. Precondition: in_flight() > 0.
  virtual std::optional<Event> next_event(std::chrono::duration<double> patience) = 0;
  /// Waits for the next finished trial: for those who do not follow what happens before. Precondition: in_flight() > 0,
  /// and nothing was withdrawn.
  Trial next() {
    for (;;) {
      std::optional<Event> event = next_event(std::chrono::seconds(1));
      if (!event) continue;
      if (Trial* trial = std::get_if<Trial>(&*event)) return std::move(*trial);
    }
  }
  /// What waits for the device shall run in this order, what is not named after all that is. A wish: what has started
  /// meanwhile is passed over.
  virtual void prefer(std::span<const Configuration> order) { static_cast<void>(order); }
  /// Takes back what waits for the compiler, is being compiled or waits for the device. A wish like prefer(): what was
  /// taken back comes as Withdrawn.
  virtual void withdraw(std::span<const Configuration> configurations) { static_cast<void>(configurations); }
  /// False once nothing more can run (a fault poisoned the device in this process): trials that still come back say
  /// nothing about their configurations.
  virtual bool usable() const { return true; }
  /// Measures finished configurations again, interleaved so that slow drift hits all of them alike, and returns one
  /// trial each in the order given, all of one lane but for what is wrong on another. Measures less when \p seconds
  /// pass, but never nothing. Empty where there is nothing to measure (recordings). Precondition: in_flight() == 0.
  virtual std::vector<Trial> remeasure(std::span<const Configuration> finalists,
                                       double seconds = std::numeric_limits<double>::infinity()) {
    (void)finalists, (void)seconds;
    return {};
  }
  /// The devices it runs on, in the order of Trial::lane; empty where it is one, or none.
  virtual std::vector<LaneReport> lanes() const { return {}; }
};

}  // namespace tuner
