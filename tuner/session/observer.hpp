#pragma once
/// Who is told what a tuning session does: progress bars, logs, reports. Called on the session's thread, but for
/// warnings.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>

namespace tuner {

/// Where a session stands.
struct Progress {
  std::size_t finished = 0;            ///< trials of this run, without resumed ones
  std::size_t resumed = 0;             ///< trials taken over from an interrupted session
  std::optional<std::size_t> planned;  ///< trials this run will make, where that is known
  std::chrono::duration<double> elapsed{0};
  std::optional<std::chrono::duration<double>> remaining;  ///< estimate, from the budget and the rate
  const Trial* best = nullptr;                             ///< so far
};

/// What a session is about to do.
struct SessionPlan {
  const KernelSpec* spec = nullptr;
  const ProblemSize* size = nullptr;
  const Device* device = nullptr;
  std::string_view strategy;
  double product = 0;     ///< configurations before constraints
  std::size_t valid = 0;  ///< after them
  std::size_t resumed = 0;
  std::size_t known_elsewhere = 0;  ///< configurations with results of another problem or device to start from
  std::string_view elsewhere;       ///< where those were measured, for people
  std::size_t lanes = 0;            ///< devices that share the work; 0: one
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const SessionPlan& plan) { (void)plan; }
  virtual void on_trial(const Trial& trial, const Progress& progress) { (void)trial, (void)progress; }
  /// Finalists are about to be measured again.
  virtual void on_finalists(std::size_t count) { (void)count; }
  /// Something the user should know once: an unwritable cache, a throttled GPU. Called by any thread, also while
  /// another function is: databases and images are written and read behind the session's back.
  virtual void on_warning(std::string_view message) { (void)message; }
};

}  // namespace tuner
