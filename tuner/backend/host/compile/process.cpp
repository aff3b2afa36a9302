#include <tuner/backend/host/compile/process.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/core/values/program_path.hpp>
#include <tuner/error.hpp>

extern char** environ;

namespace tuner::host {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr int kNiceness = 10;                                // in the background
constexpr std::chrono::milliseconds kStopCheckInterval{20};  // between two checks of ProcessOptions::stop

struct Program {
  std::string path;
  std::vector<char*> arguments, environment;  // for execve
};

/// Handles the signal that the keeper gets when its parent dies.
void end_group(int) { ::kill(0, SIGKILL); }

/// Moves \p output and \p report to new numbers and closes all other descriptors: otherwise a pipe of another thread's
/// program would stay open until this process ends. Returns false if they cannot be moved; errno says why.
bool close_others(int& output, int& report) {
  // First makes room: the process may have no free descriptors.
  for (int descriptor = 5; descriptor < 9; ++descriptor)
    if (descriptor != output && descriptor != report) ::close(descriptor);
  for (int* kept : {&output, &report}) {
    const int copy = ::fcntl(*kept, F_DUPFD_CLOEXEC, 5);
    if (copy < 0) return false;  // 3 and 4 are other files
    *kept = copy;
  }
  ::dup3(output, 3, O_CLOEXEC);
  ::dup3(report, 4, O_CLOEXEC);
  output = 3;
  report = 4;
#if defined(SYS_close_range)
  if (::syscall(SYS_close_range, 5u, ~0u, 0u) == 0) return true;
#endif
  for (int descriptor = 5; descriptor < 65536; ++descriptor) ::close(descriptor);
  return true;
}

/// How a program ended, or why it could not be started. A program that ignores SIGCHLD gets no status from the system,
/// so the keeper reports it.
struct Report {
  int error = 0;
  int exit_code = 0;
};

[[noreturn]] void report_failure(int report, int error) {
  const Report failed{error, 127};
  (void)!::write(report, &failed, sizeof failed);
  ::_exit(127);
}

[[noreturn]] void execute(const Program& program, int output, int report) {
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGURG}) ::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::execve(program.path.c_str(), program.arguments.data(), program.environment.data());
  report_failure(report, errno);
}

/// The keeper, which leads a new process group. It starts the program, waits for it, and reports how the program ended.
/// When the thread that started the keeper dies, even by kill -9, the system sends it a signal, and it kills the group.
/// This runs in the child of a process with threads, so it only calls functions that are safe in signal handlers.
[[noreturn]] void keep(const Program& program, int output, int report, pid_t parent, bool in_background) {
  ::setpgid(0, 0);
  ::signal(SIGTERM, &end_group);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGTERM);
  sigprocmask(SIG_SETMASK, &others, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (in_background) ::setpriority(PRIO_PROCESS, 0, kNiceness);
  if (::getppid() != parent) ::_exit(127);  // the parent died before prctl(): no signal will come
  if (!close_others(output, report)) report_failure(report, errno);

  const pid_t child = ::fork();
  if (child == 0) execute(program, output, report);
  Report end{child < 0 ? errno : 0, 127};
  ::close(output);  // so that it ends when the program ends
  int status = 127 << 8;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  (void)!::write(report, &end, sizeof end);
  ::_exit(0);
}

bool open_pipe(Descriptor& read, Descriptor& write) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
  return true;
}

/// Milliseconds until \p deadline for poll(), -1 for none.
int remaining(const ProcessOptions& options, Clock::time_point deadline) {
  if (options.timeout_s <= 0) return options.stop != nullptr ? static_cast<int>(kStopCheckInterval.count()) : -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const auto most = options.stop != nullptr ? kStopCheckInterval : std::chrono::milliseconds(1'000'000);
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), most).count());
}

/// Seconds that the processes of \p group have computed, with their children that have ended: proc(5). Nothing where
/// the system does not say it.
std::optional<double> cpu_seconds(pid_t group) {
  unsigned long ticks = 0;
  bool is_known = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    std::string text;
    if (!std::getline(std::ifstream(entry->path() / "stat"), text)) continue;
    const std::size_t name_end = text.rfind(')');
    long of_group = 0;
    unsigned long times[4] = {};
    if (name_end == std::string::npos ||
        std::sscanf(text.c_str() + name_end + 1, " %*c %*d %ld %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
                    &of_group, &times[0], &times[1], &times[2], &times[3]) != 5 ||
        of_group != group)
      continue;
    is_known = true;
    ticks += times[0] + times[1] + times[2] + times[3];
  }
  return is_known ? std::optional(double(ticks) / double(::sysconf(_SC_CLK_TCK))) : std::nullopt;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  ProcessResult result;
  const auto could_not_begin = [](const std::string& what, int error) {
    ProcessResult failed;
    failed.error = what + ": " + system_text(error);
    failed.passing = is_passing(error);
    return failed;
  };
  Program program;
  program.path = find_program(arguments.at(0)).string();
  if (program.path.empty()) return could_not_begin(arguments[0], ENOENT);
  for (const std::string& argument : arguments) program.arguments.push_back(const_cast<char*>(argument.c_str()));
  program.arguments.push_back(nullptr);
  std::string temporary = "TMPDIR=" + options.temporary_directory.string(), locale = "LC_ALL=C";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool is_temporary = std::strncmp(*variable, "TMPDIR=", 7) == 0;
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0 && (options.temporary_directory.empty() || !is_temporary))
      program.environment.push_back(*variable);
  }
  program.environment.push_back(locale.data());
  if (!options.temporary_directory.empty()) program.environment.push_back(temporary.data());
  program.environment.push_back(nullptr);

  Descriptor output, output_write, report, report_write;
  if (!open_pipe(output, output_write) || !open_pipe(report, report_write)) {
    return could_not_begin("cannot make a pipe to " + arguments[0], errno);
  }

  const pid_t self = ::getpid();
  const pid_t keeper = ::fork();
  if (keeper == 0) keep(program, output_write.get(), report_write.get(), self, options.in_background);
  const int why = errno;
  output_write.reset();
  report_write.reset();
  if (keeper < 0) return could_not_begin(arguments[0], why);
  ::setpgid(keeper, keeper);  // here and in the keeper, because either may run first
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s));
  const auto must_end = [&] {
    result.timed_out = options.timeout_s > 0 && Clock::now() >= deadline;
    result.stopped = options.stop != nullptr && options.stop->load();
    return result.timed_out || result.stopped;
  };
  char buffer[8192];
  while (!must_end()) {
    pollfd descriptor{output.get(), POLLIN, 0};
    const int events = ::poll(&descriptor, 1, remaining(options, deadline));
    if (events <= 0) continue;
    const ssize_t count = ::read(output.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (result.output.size() < kMostOutput) result.output.append(buffer, static_cast<std::size_t>(count));
  }
  // The output has ended, and with it the program, unless it closed its output and continues.
  const auto has_ended = [keeper] {
    siginfo_t ended{};
    return ::waitid(P_PID, static_cast<id_t>(keeper), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0;
  };
  while (!has_ended() && !must_end()) ::poll(nullptr, 0, 1);
  if (result.timed_out) result.cpu_s = cpu_seconds(keeper);
  ::kill(-keeper, SIGKILL);  // all that the program left running; until waitpid the number is not given again
  while (::waitpid(keeper, nullptr, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = 128 + SIGKILL;            // unless the keeper has told another
  ::fcntl(report.get(), F_SETFL, O_NONBLOCK);  // a child of another thread may keep the other end open
  for (Report one; ::read(report.get(), &one, sizeof one) == static_cast<ssize_t>(sizeof one);) {
    if (one.error != 0) result = could_not_begin(arguments[0], one.error);
    result.exit_code = one.exit_code;
  }
  return result;
}

// ---------------------------------------------------------------- private directories

namespace {

constexpr std::string_view kPrefix = "tuner-host-";
constexpr const char* kLock = "tuner.lock";
constexpr std::string_view kMark = "tuner: a folder of one process; it may be removed while nobody locks this file\n";

std::filesystem::path temporary_directory() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : path;
}

bool is_of_this_user(int descriptor, mode_t type) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == type && status.st_uid == geteuid();
}

/// The lock file, now locked, if the directory \p path is abandoned; nothing if that is not certain.
Descriptor lock_if_abandoned(const std::filesystem::path& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory || !is_of_this_user(directory.get(), S_IFDIR)) return Descriptor();
  Descriptor lock(openat(directory.get(), kLock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!lock || !is_of_this_user(lock.get(), S_IFREG)) return Descriptor();
  char text[kMark.size() + 1];
  if (read(lock.get(), text, sizeof text) != static_cast<ssize_t>(kMark.size())) return Descriptor();
  if (std::string_view(text, kMark.size()) != kMark || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return lock;
}

constexpr std::chrono::milliseconds kLongestAtExit{5};

/// Calls \p act with the name of each entry of \p folder until it returns false. Returns whether it never did. Not with
/// std::filesystem, whose iterator ends the process without memory: parts of it are noexcept.
template <class Act>
bool for_each_entry(Descriptor folder, const Act& act) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(fdopendir(folder.get()), &closedir);
  if (!open) return false;
  const int descriptor = folder.release();  // closedir() closes it
  while (const dirent* const entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !act(descriptor, entry->d_name)) return false;
  }
  return true;
}

Descriptor open_folder(int parent, const char* name) {
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Removes all in \p folder except its lock. Returns false if \p until came before the end.
bool remove_contents(Descriptor folder, Clock::time_point until) {
  return for_each_entry(std::move(folder), [until](int parent, const char* name) {
    if (std::string_view(name) == kLock) return true;
    if (Clock::now() >= until) return false;
    if (unlinkat(parent, name, 0) == 0) return true;
    Descriptor inner = open_folder(parent, name);
    if (inner && !remove_contents(std::move(inner), until)) return false;
    unlinkat(parent, name, AT_REMOVEDIR);
    return true;
  });
}

/// Removes \p path, and its lock last: if this process ends before that, others can still see that it is abandoned.
/// A later process removes what is left.
void remove_folder(const std::filesystem::path& path, Clock::time_point until = Clock::time_point::max()) {
  Descriptor folder = open_folder(AT_FDCWD, path.c_str());
  const Descriptor same(folder ? fcntl(folder.get(), F_DUPFD_CLOEXEC, 0) : -1);
  if (!same || !remove_contents(std::move(folder), until)) return;
  unlinkat(same.get(), kLock, 0);
  rmdir(path.c_str());
}

/// Removes \p path if it is empty and an hour old: then its process ended before it made the lock, or after it removed
/// it.
void remove_if_stale(const std::filesystem::path& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (!error && std::filesystem::file_time_type::clock::now() - written > std::chrono::hours(1)) rmdir(path.c_str());
}

/// \p advice: for errors that the place causes.
Error failure(const std::string& what, int error, const char* advice) {
  const bool of_place = error != EMFILE && error != ENFILE && error != ENOMEM;
  return Error(error == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::other,
               what + ": " + system_text(error) + (of_place ? advice : ""));
}

/// The directories that are removed when the process exits, because some compilers are never destroyed.
struct Registry {
  std::mutex mutex;
  std::map<std::filesystem::path, pid_t> owners;

  static Registry& process() {
    static Registry& registry = *new Registry;  // never destroyed, because it is used while the process exits
    return registry;
  }
  void add(const std::filesystem::path& path) {
    static const int at_exit = std::atexit([] { process().remove_all(); });
    (void)at_exit;
    const std::lock_guard lock(mutex);
    owners.emplace(path, getpid());
  }
  void take(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex);
    owners.erase(path);
  }
  void remove_all() {
    // If a child was forked while another thread held the lock, it stays locked: the child must end nevertheless.
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;
    const auto until = Clock::now() + kLongestAtExit;
    for (const auto& [path, owner] : owners)
      if (owner == getpid()) remove_folder(path, until);
  }
};

}  // namespace

void PrivateDirectory::remove_abandoned(const std::filesystem::path& parent) try {
  for_each_entry(open_folder(AT_FDCWD, parent.c_str()), [&parent](int, const char* name) {
    if (!std::string_view(name).starts_with(kPrefix)) return true;
    const std::filesystem::path path = parent / name;
    if (const Descriptor lock = lock_if_abandoned(path))
      remove_folder(path);
    else
      remove_if_stale(path);
    return true;
  });
} catch (const std::exception&) {  // a later process removes them
}

PrivateDirectory::PrivateDirectory() : owner_(getpid()) {
  const std::filesystem::path parent = temporary_directory();
  static std::once_flag swept;
  std::call_once(swept, [&parent] { remove_abandoned(parent); });
  std::string name = (parent / (std::string(kPrefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    const int why = errno;
    throw failure("cannot make a private directory " + name, why, "; set TMPDIR to a folder that can be written");
  }
  path_ = name;
  // The mark is written under the lock: a process that reads the mark finds the lock taken.
  lock_ = Descriptor(open((path_ / kLock).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      !write_all(lock_.get(), std::as_bytes(std::span(kMark)))) {
    const int why = errno;
    remove_folder(path_);
    throw failure("cannot write to " + name, why, "; set TMPDIR to a folder with room");
  }
  Registry::process().add(path_);
}

PrivateDirectory::~PrivateDirectory() {
  if (getpid() != owner_) return;
  remove_folder(path_);
  Registry::process().take(path_);
}

}  // namespace tuner::host
