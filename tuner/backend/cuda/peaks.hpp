#pragma once
/// What a device computes at best, and how long a load and an empty launch take: yardsticks for verdicts.

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// Takes about 50 ms beside compiling, and up to 512 MiB of device memory. What cannot be measured for want of memory
/// stays 0. Throws Error when the kernels fail. Most callers want Backend::measure_ceilings, which remembers the
/// answer.
DevicePeaks measure_peaks(Backend& backend);

}  // namespace tuner::cuda
