#pragma once
/// Measures the best rates of a device, with which the rates of kernels are compared. Callers use
/// Backend::measure_ceilings(), which keeps the results.

#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// The request that compiles the kernels of measure_ceilings() for \p architecture.
CompileRequest ceilings_request(const std::string& architecture);
/// The highest rates of plain kernels that stream buffers far larger than L2. \p compiled: the result of
/// ceilings_request(). Takes about 0.2 s and up to 2 GiB of device memory. Throws Error.
Ceilings measure_ceilings(Backend& backend, const CompileResult& compiled);

/// The request that compiles the kernels of measure_peaks() for \p architecture.
CompileRequest peaks_request(const std::string& architecture);
/// The highest arithmetic rates, the latency of memory, and the times of an empty kernel. \p compiled: the result of
/// peaks_request(). Takes about 50 ms and up to 512 MiB of device memory; without that, the latency stays 0. Throws
/// Error.
DevicePeaks measure_peaks(Backend& backend, const CompileResult& compiled);

}  // namespace tuner::cuda
