#pragma once
// For declarations in the code around kernels.
#include <time.h>
struct timeval {
  time_t tv_sec;
  long tv_usec;
};
struct timezone {
  int tz_minuteswest, tz_dsttime;
};
int gettimeofday(timeval*, void*);
