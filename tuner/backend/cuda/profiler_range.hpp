#pragma once
/// A named range in a profiler's timeline (NVTX). Does nothing when no profiler watches this process.

#include <string>

namespace tuner::cuda {

class ProfilerRange {
 public:
  explicit ProfilerRange(const std::string& name);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace tuner::cuda
