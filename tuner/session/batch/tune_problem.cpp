#include <tuner/session/batch/tune_problem.hpp>

#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/numbers/throughput.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/stored_results.hpp>

namespace tuner {
namespace {

/// A failure is only a warning: rates are then shown without their fraction of the ceiling.
void measure_ceilings_once(Seat& seat, Observer& listener) {
  if (std::exchange(seat.has_ceilings, true)) return;
  try {
    measure_ceilings(seat.device);
  } catch (const Error& error) {
    listener.on_warning("how fast this device streams could not be measured: " + std::string(error.what()));
  }
}

void require_compiler(const Device& device) {
  if (device.environment.compiler == "none")
    throw Error("the host backend needs a C++ compiler and found none: install g++ or clang++, or set CXX to one");
}

}  // namespace

ProblemResult tune_problem(const TuneJob& job, Seat& seat, ProblemListener& listener, const std::atomic<bool>& stop) {
  TuningOptions options = job.tuning;
  options.session.stop = &stop;
  options.session.started = Clock::now();
  ProblemResult result;
  const auto before = [&](const StoredAnswer& known) {
    require_compiler(seat.device);  // one clear message instead of as many failed trials
    listener.on_tuning(known.why_tune,
                       options.effort ? std::optional(limits_of(options, job.size, seat.device)) : std::nullopt);
    measure_ceilings_once(seat, listener);
    if (options.isolation == Isolation::none && !seat.backend) seat.backend = open_backend(seat.device);
    return seat.backend.get();
  };
  result.answer = answer_or_tune(*seat.wisdom, *job.spec, job.size, seat.device, options, listener, before);
  result.is_interrupted = stop;
  if (const std::optional<SessionResult>& found = result.answer.found) {
    if (seat.may_be_lost && found->stop_reason == StopReason::device_lost)
      throw DeviceLostError("the device cannot be used any more: a kernel left it in an unknown state");
    result.is_stored = found->best && !seat.wisdom->user().is_in_memory();
    return result;
  }
  if (!result.answer.known.is_measured()) return result;
  const cache::BestRecord& best = *result.answer.known.match.best;
  take_ceilings(seat.device, best.device);
  const Throughput rate = throughput(*job.spec, job.size, seat.device, best.median_ns);
  if (rate.bytes_per_second && !rate.ceiling_rate) measure_ceilings_once(seat, listener);
  if (!result.answer.known.match.shipped) result.reference = reference_of(seat.wisdom->user(), best);
  result.is_stored = true;
  return result;
}

}  // namespace tuner
