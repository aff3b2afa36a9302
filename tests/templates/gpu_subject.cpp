#include <cstdlib>

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
  // Under compute-sanitizer every launch takes many times longer: TUNER_TEST_SHARE=2 runs every second configuration.
  if (const char* share = std::getenv("TUNER_TEST_SHARE")) result.share = std::strtoul(share, nullptr, 10);
  return result;
}

}  // namespace tuner::testing
