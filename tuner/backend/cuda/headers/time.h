#pragma once
// NVRTC itself knows clock and clock_t. The others are for declarations in the code around kernels.
typedef long time_t;
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
