#include <tuner/backend/cuda/profiler_range.hpp>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define TUNER_HAS_NVTX 1
#endif

namespace tuner::cuda {

#ifdef TUNER_HAS_NVTX
ProfilerRange::ProfilerRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
ProfilerRange::~ProfilerRange() { nvtxRangePop(); }
#else
ProfilerRange::ProfilerRange(const std::string&) {}
ProfilerRange::~ProfilerRange() = default;
#endif

}  // namespace tuner::cuda
