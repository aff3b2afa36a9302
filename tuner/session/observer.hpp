#pragma once
/// Receives the events of a tuning session, for progress bars, logs and reports. The session's thread calls all
/// functions except on_warning().

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>

namespace tuner {

/// The progress of a session.
struct Progress {
  std::size_t finished = 0;            ///< trials of this run, without resumed ones.
  std::size_t resumed = 0;             ///< trials of an interrupted session.
  std::optional<std::size_t> planned;  ///< trials that this run will make, if known.
  std::chrono::duration<double> elapsed{0};
  std::optional<std::chrono::duration<double>> remaining;  ///< estimate, from the budget and the rate
  const Trial* best = nullptr;                             ///< so far
};

/// The work that a session is about to begin.
struct SessionPlan {
  const KernelSpec* spec = nullptr;
  const ProblemSize* size = nullptr;
  const Device* device = nullptr;
  std::string_view strategy;
  double product = 0;     ///< configurations before constraints are applied.
  std::size_t valid = 0;  ///< configurations after that.
  std::size_t resumed = 0;
  std::size_t known_elsewhere = 0;  ///< configurations with results from another problem or device.
  std::string_view elsewhere;       ///< where those were measured, for people.
  std::size_t lanes = 0;            ///< devices that share the work; 0: one.
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const SessionPlan& plan) { (void)plan; }
  virtual void on_trial(const Trial& trial, const Progress& progress) { (void)trial, (void)progress; }
  /// Finalists are about to be measured again.
  virtual void on_finalists(std::size_t count) { (void)count; }
  /// A message for the user, such as an unwritable cache or a throttled GPU. Any thread may call this, also during a
  /// call of another function, because background threads read and write databases and images.
  virtual void on_warning(std::string_view message) { (void)message; }
};

}  // namespace tuner
