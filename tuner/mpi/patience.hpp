#pragma once
/// How long to wait for pipes before asking MPI again, which has no descriptor to wait for.

#include <poll.h>
#include <time.h>

#include <chrono>
#include <vector>

namespace tuner::mpi {

class Patience {
 public:
  /// Calls ppoll(): without waiting if something came lately, else for at most half a millisecond. Returns whether
  /// something came.
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
  /// An answer often follows within microseconds. A measurement takes longer, and must not share the processor.
  bool eager() const { return Clock::now() - last_ < std::chrono::microseconds(100); }
  Clock::time_point last_;
};

}  // namespace tuner::mpi
