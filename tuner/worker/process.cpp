#include <tuner/worker/process.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <chrono>
#include <cstring>
#include <thread>

#include <tuner/worker/isolated_evaluator.hpp>

extern char** environ;

namespace tuner::worker {
namespace {

constexpr int kWorkerIn = 3, kWorkerOut = 4;  // the worker's own numbers of its pipes

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      throw WorkerError(std::string("no pipe to a worker can be made: ") + std::strerror(errno));
    read = fds[0];
    write = fds[1];
    // dup2 in the child must neither hit a pipe that is still needed nor find the descriptor already in place.
    for (int* fd : {&read, &write}) {
      const int high = ::fcntl(*fd, F_DUPFD_CLOEXEC, 10);
      if (high < 0) continue;
      ::close(*fd);
      *fd = high;
    }
    ::fcntl(write, F_SETPIPE_SZ, 1 << 20);  // whole images at once; a smaller pipe works too
  }
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

WorkerProcess::WorkerProcess(const std::filesystem::path& program) {
  Pipe requests, answers, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, requests.read, kWorkerIn);
  posix_spawn_file_actions_adddup2(&actions, answers.write, kWorkerOut);

  // A group of its own: Ctrl-C at the terminal reaches the session only.
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
  to_ = std::exchange(requests.write, -1);
  from_ = std::exchange(answers.read, -1);
  errors_ = std::exchange(errors.read, -1);
  for (const int fd : {to_, from_, errors_}) set_nonblocking(fd);
}

WorkerProcess::~WorkerProcess() {
  if (!end_) {
    kill();
    wait();
  }
  for (const int fd : {to_, from_, errors_}) ::close(fd);
}

void WorkerProcess::send(const Message& message) {
  outgoing_.push_back(encode(message));
  flush();  // a closed pipe shows again when answers are read
}

bool WorkerProcess::flush() {
  while (!outgoing_.empty()) {
    const std::vector<std::byte>& front = outgoing_.front();
    const ssize_t count = ::write(to_, front.data() + sent_, front.size() - sent_);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return true;
      outgoing_.clear();
      return false;
    }
    sent_ += static_cast<std::size_t>(count);
    if (sent_ == front.size()) {
      outgoing_.pop_front();
      sent_ = 0;
    }
  }
  return true;
}

bool WorkerProcess::receive() {
  std::byte bytes[65536];
  while (true) {
    const ssize_t count = ::read(from_, bytes, sizeof bytes);
    if (count > 0) {
      decoder_.feed(std::span(bytes, static_cast<std::size_t>(count)));
      if (count < static_cast<ssize_t>(sizeof bytes)) return true;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

void WorkerProcess::receive_errors() {
  constexpr std::size_t kept = 4096;
  char bytes[4096];
  for (int i = 0; i < 64; ++i) {  // a kernel that prints for ever must not keep the session here
    const ssize_t count = ::read(errors_, bytes, sizeof bytes);
    if (count <= 0) return;
    said_.append(bytes, static_cast<std::size_t>(count));
    if (said_.size() > 2 * kept) said_.erase(0, said_.size() - kept);
  }
}

void WorkerProcess::kill() {
  if (pid_ > 0 && !end_) ::kill(-pid_, SIGKILL);
}

bool WorkerProcess::was_stopped() {
  siginfo_t change{};
  return !end_ && ::waitid(P_PID, static_cast<id_t>(pid_), &change, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         change.si_pid == pid_;
}

WorkerProcess::End WorkerProcess::wait() {
  if (end_) return *end_;
  siginfo_t ended{};
  // A process that a driver holds may take long to die, and some never do: then it is left to the system.
  for (int i = 0; i < 10000 && ended.si_pid == 0; ++i) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR) break;
    if (ended.si_pid == 0) std::this_thread::sleep_for(std::chrono::microseconds(i < 100 ? 100 : 1000));
  }
  ::kill(-pid_, SIGKILL);  // what it started; until it is reaped, nobody else can have its number
  int status = 0;
  if (ended.si_pid != 0) ::waitpid(pid_, &status, 0);
  receive_errors();
  End end;
  if (ended.si_pid == 0) {
    end.text = "lost";
  } else if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    end.text = "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
    end.from_outside = signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT ||
                       signal == SIGQUIT || signal == SIGXFSZ || signal == SIGXCPU;
  } else {
    end.text = "ended with status " + std::to_string(WEXITSTATUS(status));
  }
  while (!said_.empty() && said_.back() == '\n') said_.pop_back();
  if (!said_.empty()) end.text += ", saying: " + said_.substr(said_.size() > 1000 ? said_.size() - 1000 : 0);
  end_ = end;
  return end;
}

}  // namespace tuner::worker
