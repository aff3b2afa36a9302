#include <tuner/session/tuning/unmeasured.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/no_result.hpp>

namespace tuner {

Configuration unmeasured_configuration(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       std::chrono::duration<double> patience) {
  if (spec.default_configuration && !why_invalid(spec, size, limits, *spec.default_configuration))
    return *spec.default_configuration;
  const auto start = Clock::now();
  try {
    if (const auto first = first_valid(spec, size, limits, [&] { return seconds_since(start) >= patience.count(); }))
      return *first;
    throw Error(ErrorCode::invalid_argument, explain_empty_space(spec, size, limits));
  } catch (const EnumerationStopped& stopped) {
    throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "' names no default that is valid for " +
                                                 size.text() +
                                                 ", and looking for another configuration takes too long (" +
                                                 stopped.what() + "): name one, #pragma tuner default");
  }
}

}  // namespace tuner
