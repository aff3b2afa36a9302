#pragma once
/// Times the work that is enqueued on one stream between two calls, without waiting for it.

#include <chrono>
#include <optional>

#include <tuner/core/elapsed.hpp>

namespace tuner {

/// For one thread at a time, with the backend's context current and the stream not captured. Does not throw: if a time
/// cannot be measured, there is none.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual void start(void* stream) noexcept = 0;
  virtual void stop(void* stream) noexcept = 0;
  /// The time between the last start() and stop(); nothing while that work still runs.
  virtual std::optional<double> elapsed_ns() noexcept = 0;
};

/// Uses the host's clock. For backends whose launches end before they return.
class HostStopwatch final : public Stopwatch {
 public:
  void start(void*) noexcept override { start_ = Clock::now(); }
  void stop(void*) noexcept override { stop_ = Clock::now(); }
  std::optional<double> elapsed_ns() noexcept override {
    return std::chrono::duration<double, std::nano>(stop_ - start_).count();
  }

 private:
  Clock::time_point start_, stop_;
};

}  // namespace tuner
