#pragma once
/// A named range in the timeline of whatever profiler watches this process (NVTX); nothing where none does.

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
