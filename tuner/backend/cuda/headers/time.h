#pragma once
// NVRTC itself knows clock and clock_t. The others are for declarations in the code around kernels.
typedef long long time_t;  // as <cuda/std/ctime> has it
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
