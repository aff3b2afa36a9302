#pragma once
/// What calls cost the host: tuner's serving beside the driver's own launch and CUB.

#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace bench {

struct CallCost {
  std::string call;
  std::vector<double> ns;  ///< a call, one value for each batch; entry i of all costs was taken in round i
};

/// Host time of calls that sum a few floats on \p stream of the current device, once everything is planned; in this
/// order: cuLaunchKernel alone with a kernel that does nothing, tuner::reduce_async of the same buffers again, of
/// another number of elements each time, of another input each time (which asks the driver about the pointers), CUB. \p
/// calls of each, in batches so short that the driver's queue never fills, interleaved. Throws std::exception.
std::vector<CallCost> enqueue_costs(std::size_t calls, cudaStream_t stream);

/// Host time until a sum of a few floats is on the host: CUB with a copy, and tuner::reduce that returns its value.
std::vector<CallCost> waiting_costs(std::size_t calls, cudaStream_t stream);

}  // namespace bench
