#pragma once
/// Answers configurations of one (kernel, problem size) with trials: live on a backend, in worker processes, or
/// replayed from a recording. Asynchronous, so that compiling, running and searching overlap.

#include <cstddef>
#include <span>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many submitted configurations it can keep busy; the session keeps this many in flight.
  virtual std::size_t capacity() const = 0;
  /// Starts evaluating \p configuration. \p best_ns: median of the best so far (0: none), for early stop.
  virtual void submit(const Configuration& configuration, double best_ns) = 0;
  virtual std::size_t in_flight() const = 0;
  /// Waits for the next finished trial, in any order. Precondition: in_flight() > 0.
  virtual Trial next() = 0;
  /// False once nothing more can run (a fault poisoned the device in this process): trials that still come back say
  /// nothing about their configurations.
  virtual bool usable() const { return true; }
  /// Measures finished configurations again, interleaved so that slow drift hits all of them alike, and returns one
  /// trial each in the order given. Empty where there is nothing to measure (recordings). Precondition:
  /// in_flight() == 0.
  virtual std::vector<Trial> remeasure(std::span<const Configuration> finalists) {
    (void)finalists;
    return {};
  }
};

}  // namespace tuner
