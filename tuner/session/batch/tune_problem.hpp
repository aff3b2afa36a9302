#pragma once
/// Tunes one problem of a batch, or finds its stored answer.

#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/session/batch/batch_events.hpp>

namespace tuner {

/// A device, with what is opened once for all problems that are tuned on it. In use by one problem at a time.
struct Seat {
  Device device;
  /// A problem that loses the device ends with a DeviceLostError, because it is tuned again on another device.
  bool may_be_lost = false;
  bool has_ceilings = false;                   ///< they are measured, or not wanted
  std::unique_ptr<Wisdom> wisdom = nullptr;    ///< null: not open yet
  std::unique_ptr<Backend> backend = nullptr;  ///< for work in this process; null: not open yet
};

/// Answers \p job, or tunes it on the device of \p seat and those in its TuningOptions::more_devices. The databases of
/// \p seat are open. Throws Error.
ProblemResult tune_problem(const TuneJob& job, Seat& seat, ProblemListener& listener, const std::atomic<bool>& stop);

}  // namespace tuner
