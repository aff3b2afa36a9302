#pragma once
/// Counts a context's launches with CUPTI's Range Profiler. Private to this folder, and compiled with cupti.hpp.

#include <memory>

#include <tuner/backend/cuda/observe/cupti.hpp>

namespace tuner::cuda {

/// open_counters() of chip_metrics.hpp for \p cupti, which must outlive the result. Throws Error if the device's chip
/// or its counters cannot be read.
std::unique_ptr<Counters> open_counters(const Cupti& cupti, CUcontext context, int ordinal);

}  // namespace tuner::cuda
