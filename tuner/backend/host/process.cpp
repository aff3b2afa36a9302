#include <tuner/backend/host/process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>

extern char** environ;

namespace tuner::host {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr std::string_view kPrefix = "tuner-host-";

/// Milliseconds until \p deadline for poll(), -1 for none.
int remaining(bool limited, Clock::time_point deadline) {
  if (!limited) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

std::filesystem::path temporary_directory() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : path;
}

// Directories are named after their process, so that one whose owner was killed can be told and removed.
void remove_abandoned(const std::filesystem::path& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const long owner = std::strtol(name.c_str() + kPrefix.size(), nullptr, 10);
    struct stat status {};
    if (owner <= 0 || lstat(it->path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    if (kill(static_cast<pid_t>(owner), 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    std::filesystem::remove_all(it->path(), ignored);
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_s) {
  ProcessResult result;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    result.error = std::string("pipe: ") + std::strerror(errno);
    return result;
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGURG}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = 0;
  const int status_of_spawn = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pipe_ends[1]);
  if (status_of_spawn != 0) {
    close(pipe_ends[0]);
    result.error = arguments[0] + ": " + std::strerror(status_of_spawn);
    return result;
  }

  const bool limited = timeout_s > 0;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
  char buffer[8192];
  for (;;) {
    pollfd descriptor{pipe_ends[0], POLLIN, 0};
    const int events = poll(&descriptor, 1, remaining(limited, deadline));
    if (events < 0 && errno == EINTR) continue;
    if (events == 0 && limited && Clock::now() >= deadline) {
      result.timed_out = true;
      break;
    }
    if (events == 0) continue;
    const ssize_t count = read(pipe_ends[0], buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (result.output.size() < kMostOutput) result.output.append(buffer, static_cast<std::size_t>(count));
  }
  close(pipe_ends[0]);
  // The output has ended, so the program has: unless it closed its output and went on.
  int status = 0;
  while (!result.timed_out) {
    const pid_t ended = waitpid(pid, &status, limited ? WNOHANG : 0);
    if (ended == pid || (ended < 0 && errno != EINTR)) break;
    if (limited && Clock::now() >= deadline) {
      result.timed_out = true;
    } else if (ended == 0) {
      poll(nullptr, 0, 1);
    }
  }
  if (result.timed_out) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::filesystem::path find_program(const std::string& program) {
  if (program.empty()) return {};
  const auto runs = [](const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos)
    return runs(program) ? std::filesystem::path(program) : std::filesystem::path();
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string_view directory = rest.substr(0, colon);
    const std::filesystem::path candidate = std::filesystem::path(directory.empty() ? "." : directory) / program;
    if (runs(candidate)) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

PrivateDirectory::PrivateDirectory() {
  const std::filesystem::path parent = temporary_directory();
  static std::once_flag swept;
  std::call_once(swept, [&parent] { remove_abandoned(parent); });
  std::string name = (parent / (std::string(kPrefix) + std::to_string(getpid()) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error("cannot make a private directory " + name + ": " + std::strerror(errno) +
                "; set TMPDIR to a folder that can be written");
  }
  path_ = name;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tuner::host
