#pragma once
/// For tests with several processes.

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <tests/support/wait_until.hpp>

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

/// The fields of /proc/PID/stat after the name; empty when there is no such process.
inline std::string process_status(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos ? std::string() : line.substr(name_end + 2);
}

/// False for a process that has ended, waited for or not.
inline bool is_alive(pid_t pid) {
  const std::string status = process_status(pid);
  return !status.empty() && status[0] != 'Z' && status[0] != 'X';
}

/// Starts \p count children that run \p work, one after the other. Returns how many ended by themselves. The first that
/// does not is killed, and no other is started.
int children_that_end(int count, const auto& work) {
  for (int ended = 0; ended < count; ++ended) {
    const pid_t child = start_child(work);
    if (wait_until([&] { return ::waitpid(child, nullptr, WNOHANG) == child; })) continue;
    ::kill(child, SIGKILL);
    wait_for(child);
    return ended;
  }
  return count;
}

}  // namespace tuner::testing
