// Used in builds without CUPTI's headers.
#include <tuner/backend/cuda/chip_metrics.hpp>

namespace tuner::cuda {
namespace {

const Unavailable kNoHeaders{
    "this tuner was built without CUPTI: build it with the headers of CUDA 12.6 or newer (cupti_range_profiler.h) "
    "beside cuda.h"};

}  // namespace

std::variant<std::vector<std::string>, Unavailable> known_chips() { return kNoHeaders; }
std::variant<std::unique_ptr<ChipMetrics>, Unavailable> chip_metrics(std::string_view) { return kNoHeaders; }
std::variant<std::string, Unavailable> chip_of_device(int) { return kNoHeaders; }
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext, int) { return kNoHeaders; }

}  // namespace tuner::cuda
