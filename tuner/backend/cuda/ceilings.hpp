#pragma once
/// What a device streams at best: the yardstick for "fraction of the ceiling".

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// What compiles the kernels of measure_ceilings() for \p architecture.
CompileRequest ceilings_request(const std::string& architecture);

/// The fastest of several runs of plain kernels, \p compiled, over buffers far larger than L2. Takes about 0.2 s and up
/// to 2 GiB of device memory. Throws Error. Most callers want Backend::measure_ceilings, which remembers the answer.
Ceilings measure_ceilings(Backend& backend, const CompileResult& compiled);

}  // namespace tuner::cuda
