#pragma once
/// For tests of how much work something is. The clock would also count the time that other processes take.

#include <ctime>

namespace tuner::testing {

/// The seconds for which the calling thread has computed so far.
inline double processor_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace tuner::testing
