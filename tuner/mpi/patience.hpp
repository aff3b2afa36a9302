#pragma once
/// How long to wait for pipes before MPI, which no descriptor stands for, is asked again.

#include <poll.h>
#include <time.h>

#include <chrono>
#include <vector>

namespace tuner::mpi {

class Patience {
 public:
  /// poll(): at once where there was something lately, else after up to half a millisecond. Whether there is something.
  bool poll(std::vector<pollfd>& fds) {
    timespec wait{0, 0};
    if (!eager()) wait.tv_nsec = 500'000;
    return ::ppoll(fds.data(), fds.size(), &wait, nullptr) > 0;
  }
  void saw(bool something) {
    if (something) last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// An answer often follows within microseconds; a measurement does not, and shares the processor with nobody.
  bool eager() const { return Clock::now() - last_ < std::chrono::microseconds(100); }
  Clock::time_point last_;
};

}  // namespace tuner::mpi
