#pragma once
/// What a device computes at best, and how long a load and an empty launch take: yardsticks for verdicts.

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// What compiles the kernels of measure_peaks() for \p architecture.
CompileRequest peaks_request(const std::string& architecture);

/// By these kernels, \p compiled. Takes about 50 ms, and up to 512 MiB of device memory. What cannot be measured for
/// want of memory stays 0. Throws Error when the kernels fail. Most callers want Backend::measure_ceilings, which
/// remembers the answer.
DevicePeaks measure_peaks(Backend& backend, const CompileResult& compiled);

}  // namespace tuner::cuda
