#include <tuner/worker/process.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include <tuner/core/without_signals.hpp>
#include <tuner/worker/serve.hpp>

extern char** environ;

namespace tuner::worker {
namespace {

constexpr std::chrono::seconds kLongestEnd{10};
constexpr int kWorkerIn = 3, kWorkerOut = 4;  // the worker's own numbers of its pipes

/// Waits for the end of \p pid on a thread that does nothing else, so that it does not stay a zombie.
void reap_some_time(pid_t pid) {
  const WithoutSignals calm;
  try {
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
  } catch (const std::system_error&) {  // too many threads: it stays a zombie until this process ends
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program, bool waits)
    : WorkerLink(kLongestEnd), waits_(waits) {
  Pipe requests, answers, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, requests.read, kWorkerIn);
  posix_spawn_file_actions_adddup2(&actions, answers.write, kWorkerOut);

  // The worker leads a new process group, so that Ctrl-C at the terminal reaches the session only.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGCHLD})
    sigaddset(&defaults, signal);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::string path = program.string(), in = std::to_string(kWorkerIn), out = std::to_string(kWorkerOut),
              parent = std::to_string(::getpid());
  char* arguments[] = {path.data(), in.data(), out.data(), parent.data(), nullptr};
  const int error = ::posix_spawn(&pid_, path.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    throw WorkerError("the worker program " + path + " cannot be started: " + std::strerror(error));
  }
  take_pipes(std::exchange(requests.write, -1), std::exchange(answers.read, -1), std::exchange(errors.read, -1));
}

WorkerProcess::~WorkerProcess() {
  kill();
  if (waits_)
    (void)wait();
  else
    (void)ask_end();
  if (pid_ > 0 && !reaped_) reap_some_time(pid_);
}

void WorkerProcess::kill() {
  if (pid_ > 0 && !reaped_) ::kill(-pid_, SIGKILL);
}

bool WorkerProcess::was_stopped() {
  siginfo_t change{};
  return !reaped_ && ::waitid(P_PID, static_cast<id_t>(pid_), &change, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         change.si_pid == pid_;
}

std::optional<WorkerEnd> WorkerProcess::ask_end() {
  if (pid_ <= 0) return WorkerEnd{"never started", false};
  siginfo_t ended{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno == EINTR) return std::nullopt;
    reaped_ = true;
    return WorkerEnd{"lost", false};  // somebody else has reaped it
  }
  if (ended.si_pid == 0) return std::nullopt;
  ::kill(-pid_, SIGKILL);  // all that it started; no other process can have its number before it is reaped
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  WorkerEnd end;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    end.text = "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
    end.from_outside = signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT ||
                       signal == SIGQUIT || signal == SIGXFSZ || signal == SIGXCPU;
  } else {
    end.text = "ended with status " + std::to_string(WEXITSTATUS(status));
  }
  return end;
}

WorkerThread::WorkerThread(const KernelSpec& spec, Backend& backend) : WorkerLink(std::chrono::hours(24)) {
  Pipe requests, answers;
  Workplace place;
  place.compiler = [&backend](const Open&) -> Compiler& { return backend.compiler(); };
  place.device = [&backend](const Open&) { return backend.device(); };
  place.backend = [&backend](const Device&) -> Backend& { return backend; };
  place.spec = &spec;
  place.stop = &stop_;
  place.is_process = false;
  const WithoutSignals calm;
  thread_ = std::thread([this, place, in = requests.read, out = answers.write] {
    serve(in, out, place);
    has_ended_ = true;
    ::close(in);
    ::close(out);
  });
  requests.read = answers.write = -1;
  take_pipes(std::exchange(requests.write, -1), std::exchange(answers.read, -1), -1);
}

WorkerThread::~WorkerThread() {
  kill();
  thread_.join();
}

void WorkerThread::kill() {
  stop_ = true;
  close_pipes();
}

std::optional<WorkerEnd> WorkerThread::ask_end() {
  return has_ended_ ? std::optional<WorkerEnd>({"ended", false}) : std::nullopt;
}

StartWorker start_here(const IsolatedOptions& options, const KernelSpec& spec) {
  return [&]() -> std::unique_ptr<WorkerLink> {
    if (options.here != nullptr) return std::make_unique<WorkerThread>(spec, *options.here);
    return std::make_unique<WorkerProcess>(options.program, !options.grace);
  };
}

}  // namespace tuner::worker
