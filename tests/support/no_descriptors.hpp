#pragma once
/// For tests of a process that has no free file descriptors.

#include <cstddef>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tuner::testing {

/// While it lives, this process has \p left free file descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t left = 0) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);  // few numbers are in use, so few have to be taken
    ::close(next);
    const rlimit few{static_cast<rlim_t>(next) + 64, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int one; (one = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(one);
    for (; left > 0 && !taken_.empty(); --left, taken_.pop_back()) ::close(taken_.back());
  }
  ~FewDescriptors() {
    for (const int one : taken_) ::close(one);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace tuner::testing
