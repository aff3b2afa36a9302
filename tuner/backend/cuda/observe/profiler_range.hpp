#pragma once
/// A named range in a profiler's timeline (NVTX). Does nothing when no profiler watches this process.

#include <string>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace tuner::cuda {

class ProfilerRange {
 public:
#ifdef NVTX_VERSION
  explicit ProfilerRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~ProfilerRange() { nvtxRangePop(); }
#else
  explicit ProfilerRange(const std::string& /*name*/) {}
#endif
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace tuner::cuda
