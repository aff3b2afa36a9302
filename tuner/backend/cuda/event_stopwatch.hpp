#pragma once
/// A stopwatch of two events.

#include <tuner/backend/cuda/backend_state.hpp>
#include <tuner/backend/stopwatch.hpp>

namespace tuner::cuda {

class EventStopwatch final : public Stopwatch {
 public:
  /// In the state's context, which must be current. Throws CudaError.
  explicit EventStopwatch(SharedState state) : state_(std::move(state)), first_(make_event()), last_(make_event()) {}
  ~EventStopwatch() override {
    if (!state_->gone()) return;
    (void)first_.release();
    (void)last_.release();
  }

  void start(void* stream) noexcept override { runs_ = record(first_, stream); }
  void stop(void* stream) noexcept override { runs_ = runs_ && record(last_, stream); }
  std::optional<double> elapsed_ns() noexcept override {
    float milliseconds = 0;
    if (!runs_ || driver().cuEventQuery(last_.get()) != CUDA_SUCCESS ||
        driver().cuEventElapsedTime(&milliseconds, first_.get(), last_.get()) != CUDA_SUCCESS)
      return std::nullopt;
    return 1e6 * static_cast<double>(milliseconds);
  }

 private:
  static bool record(const UniqueEvent& event, void* stream) noexcept {
    return driver().cuEventRecord(event.get(), static_cast<CUstream>(stream)) == CUDA_SUCCESS;
  }

  const SharedState state_;
  UniqueEvent first_, last_;
  bool runs_ = false;  // all events up to now were recorded
};

}  // namespace tuner::cuda
