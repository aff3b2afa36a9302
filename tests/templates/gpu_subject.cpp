#include <tuner/backend/cuda/cuda_backend.hpp>

#include "sample.hpp"

namespace tuner::testing {

Subject subject() {
  Subject result;
  if (!cuda::driver_status().available) {
    result.why_not = "needs a GPU: " + cuda::driver_status().reason;
    return result;
  }
  result.backend = make_cuda_backend();
  return result;
}

}  // namespace tuner::testing
