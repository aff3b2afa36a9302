#pragma once
/// The host's cost of calls: tuner's serving beside the driver's launch and CUB.

#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace bench {

struct CallCost {
  std::string call;
  std::vector<double> ns;  ///< per call, one value for each batch; entry i of all costs is from round i
};

/// Host time of calls that sum a few floats on \p stream of the current device, after warm-up. The order is:
/// cuLaunchKernel with an empty kernel, tuner::reduce_async with the same buffers, with a new size each time, with a
/// new input each time, from C, and CUB. (A new input asks the driver about the pointer.) Makes \p calls calls of each,
/// interleaved, in batches so short that the driver's queue never fills. Throws std::exception.
std::vector<CallCost> enqueue_costs(std::size_t calls, cudaStream_t stream);

/// Host time until the sum of a few floats is on the host: CUB with a copy, and tuner::reduce, which returns the value.
std::vector<CallCost> waiting_costs(std::size_t calls, cudaStream_t stream);

}  // namespace bench
