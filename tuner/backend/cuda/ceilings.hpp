#pragma once
/// What a device streams at best, measured with plain kernels: the yardstick for "fraction of the ceiling".

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// Bytes per second of the fastest of several runs, over buffers far larger than L2.
struct Ceilings {
  double read = 0;  ///< reads only
  double copy = 0;  ///< reads plus writes
};

/// Takes about 0.2 s and up to 2 GiB of device memory. Throws Error. Most callers want
/// Backend::measure_ceilings, which remembers the answer.
Ceilings measure_ceilings(Backend& backend);

}  // namespace tuner::cuda
