#pragma once
/// For tests with several processes.

#include <cerrno>

#include <sys/wait.h>
#include <unistd.h>

namespace tuner::testing {

/// Starts a child process that runs \p work; its exit status is 0 if \p work returns true.
pid_t start_child(const auto& work) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  bool good = false;
  try {
    good = work();
  } catch (...) {
  }
  ::_exit(good ? 0 : 1);
}

/// Waits for the end of \p pid; the status as of waitpid(), which is 0 if its work returned true.
inline int wait_for(pid_t pid) {
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace tuner::testing
