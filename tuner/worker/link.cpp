#include <tuner/worker/link.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <tuner/core/values/threads.hpp>
#include <tuner/worker/serve.hpp>

extern char** environ;

namespace tuner::worker {
namespace {

constexpr std::chrono::seconds kLongestEnd{10};
constexpr std::chrono::milliseconds kLookAgain{5};      // whether a worker has ended
constexpr std::chrono::milliseconds kLookAtPulse{250};  // less than Pulse::kLongestStep
constexpr int kWorkerIn = 3, kWorkerOut = 4;            // the worker's own numbers of its pipes

constexpr std::string_view kLost = "lost";

std::string killed_by(int signal) {
  return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

/// Waits for the end of \p pid on a thread that does nothing else, so that it does not stay a zombie.
void reap_some_time(pid_t pid) {
  const WithoutSignals calm;
  try {
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();
  } catch (const std::system_error&) {  // too many threads: it stays a zombie until this process ends
  }
}

}  // namespace

Pipe::Pipe(Kind kind) {
  constexpr int room = 1 << 20;  // whole images at once; less works too
  int fds[2];
  const int failed =
      kind == Kind::pipe ? ::pipe2(fds, O_CLOEXEC) : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
  if (failed != 0) throw WorkerError(std::string("no pipe to a worker can be made: ") + std::strerror(errno));
  read = fds[0];
  write = fds[1];
  // dup2 in a child must neither hit a pipe that is still needed nor find the descriptor already in place.
  for (int* fd : {&read, &write}) {
    const int high = ::fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    if (high < 0) continue;
    ::close(*fd);
    *fd = high;
  }
  if (kind == Kind::pipe) {
    ::fcntl(write, F_SETPIPE_SZ, room);
    return;
  }
  for (const int fd : {read, write}) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

Pipe::~Pipe() {
  if (read >= 0) ::close(read);
  if (write >= 0) ::close(write);
}

std::vector<std::byte> bytes_of(const WorkerEnd& end) {
  std::vector<std::byte> bytes;
  for (const bool flag : {end.from_outside, end.hung, end.exited, end.unknown}) bytes.push_back(std::byte{flag});
  for (const char letter : end.text) bytes.push_back(static_cast<std::byte>(letter));
  return bytes;
}

WorkerEnd worker_end(std::span<const std::byte> bytes) {
  WorkerEnd end;
  for (bool* const flag : {&end.from_outside, &end.hung, &end.exited, &end.unknown}) {
    if (bytes.empty()) return end;
    *flag = bytes.front() != std::byte{0};
    bytes = bytes.subspan(1);
  }
  end.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return end;
}

WorkerLink::~WorkerLink() { close_pipes(); }

void WorkerLink::take_pipes(int to, int from, int errors) {
  to_ = to;
  from_ = from;
  errors_ = errors;
  for (const int fd : {to_, from_, errors_}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void WorkerLink::close_pipes() {
  if (from_ == to_) from_ = -1;  // a socket
  for (int* fd : {&to_, &from_, &errors_})
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
}

const std::optional<WorkerEnd>& WorkerLink::ended() {
  if (end_) return end_;
  const auto now = Clock::now();
  if (!asked_since_) asked_since_ = now;
  receive_errors();  // a worker that still prints must not wait for this process
  if (std::optional<WorkerEnd> end = ask_end())
    end_ = with_last_words(std::move(*end));
  else if (now - *asked_since_ > longest_end_)
    end_ = with_last_words({"lost", true});
  return end_;
}

void WorkerLink::wait() {
  for (int i = 0; !ended(); ++i) std::this_thread::sleep_for(std::chrono::microseconds(i < 100 ? 100 : 1000));
}

WorkerEnd WorkerLink::with_last_words(WorkerEnd end) {
  receive_errors();
  while (!said_.empty() && said_.back() == '\n') said_.pop_back();
  if (!said_.empty()) end.text += ", saying: " + said_.substr(said_.size() > 1000 ? said_.size() - 1000 : 0);
  return end;
}

void WorkerLink::send(const Message& message) {
  outgoing_.push_back(encode(message));
  flush();  // a closed pipe is noticed again when answers are read
}

bool WorkerLink::flush() {
  while (!outgoing_.empty()) {
    const std::vector<std::byte>& front = outgoing_.front();
    const ssize_t count = ::write(to_, front.data() + sent_, front.size() - sent_);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return true;
      outgoing_.clear();
      sent_ = 0;
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

bool WorkerLink::receive() {
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

void WorkerLink::receive_errors() {
  constexpr std::size_t kept = 4096;
  char bytes[4096];
  for (int i = 0; i < 64; ++i) {  // a kernel that prints for ever must not keep the session here
    const ssize_t count = ::read(errors_, bytes, sizeof bytes);
    if (count == 0) ::close(std::exchange(errors_, -1));  // otherwise poll() would report its end again and again
    if (count <= 0) return;
    said_.append(bytes, static_cast<std::size_t>(count));
    if (said_.size() > 2 * kept) said_.erase(0, said_.size() - kept);
  }
}

WorkerProcess::WorkerProcess(const std::filesystem::path& program, bool waits, std::span<const std::string> watcher)
    : WorkerLink(kLongestEnd), waits_(waits) {
  const bool is_watched = !watcher.empty();
  Pipe requests(is_watched ? Pipe::Kind::sockets : Pipe::Kind::pipe), answers, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // A watcher passes on its standard input, and perhaps nothing else. So a socket there is for both directions.
  if (is_watched)
    posix_spawn_file_actions_adddup2(&actions, requests.write, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO);
  if (!is_watched) {
    posix_spawn_file_actions_adddup2(&actions, requests.read, kWorkerIn);
    posix_spawn_file_actions_adddup2(&actions, answers.write, kWorkerOut);
  }

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

  std::vector<std::string> words(watcher.begin(), watcher.end());
  words.push_back(program.string());
  // The watcher is the parent of a watched worker.
  for (const int number :
       {is_watched ? STDIN_FILENO : kWorkerIn, is_watched ? STDIN_FILENO : kWorkerOut, is_watched ? 0 : ::getpid()})
    words.push_back(std::to_string(number));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    throw WorkerError((is_watched ? "the program " : "the worker program ") + words.front() +
                      " cannot be started: " + std::strerror(error));
  }
  if (is_watched) {
    const int socket = std::exchange(requests.read, -1);
    take_pipes(socket, socket, std::exchange(errors.read, -1));
  } else {
    take_pipes(std::exchange(requests.write, -1), std::exchange(answers.read, -1), std::exchange(errors.read, -1));
  }
}

WorkerProcess::~WorkerProcess() {
  kill();
  if (waits_)
    wait();
  else
    (void)ask_end();
  if (pid_ > 0 && !reaped_) reap_some_time(pid_);
}

void WorkerProcess::kill() {
  if (pid_ > 0 && !reaped_) ::kill(-pid_, SIGKILL);
}

bool WorkerProcess::take_stop() {
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
    return WorkerEnd{.text = std::string(kLost), .from_outside = true, .unknown = true};
  }
  if (ended.si_pid == 0) return std::nullopt;
  ::kill(-pid_, SIGKILL);  // all that it started; no other process can have its number before it is reaped
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  WorkerEnd end;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    end.text = killed_by(signal);
    end.from_outside = signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT ||
                       signal == SIGQUIT || signal == SIGXFSZ || signal == SIGXCPU;
  } else {
    end.text = "ended with status " + std::to_string(WEXITSTATUS(status));
    end.exited = true;
  }
  return end;
}

WorkerThread::WorkerThread(const KernelSpec& spec, Backend& backend) : WorkerLink(std::chrono::hours(24)) {
  Pipe sockets(Pipe::Kind::sockets);
  Workplace place;
  place.compiler = [&backend](const Open&, const Warn&) -> Compiler& { return backend.compiler(); };
  place.device = [&backend](const Open&, const Warn&) { return backend.device(); };
  place.backend = [&backend](const Device&, const Warn&) -> Backend& { return backend; };
  place.spec = &spec;
  place.stop = &stop_;
  place.is_process = false;
  const WithoutSignals calm;
  try {
    thread_ = std::thread([this, place, &backend, socket = sockets.write] {
      {
        const std::shared_ptr<void> allowed = backend.beside_captures();
        serve(socket, socket, place);
      }
      has_ended_ = true;
      ::shutdown(socket, SHUT_RDWR);
      ::close(socket);
    });
  } catch (const std::system_error& error) {
    throw WorkerError(std::string("no thread for a worker can be started: ") + error.what());
  }
  sockets.write = -1;
  const int socket = std::exchange(sockets.read, -1);
  take_pipes(socket, socket, -1);
}

WorkerThread::~WorkerThread() {
  kill();
  thread_.join();
}

void WorkerThread::kill() {
  stop_ = true;
  // To close it is not enough: a child that the program has forked may hold a copy.
  if (read_fd() >= 0) ::shutdown(read_fd(), SHUT_RDWR);
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

// ---------------------------------------------------------------- a worker in the event loop

void WorkerSlot::end(WorkerEnd how) {
  if (!running()) return;
  end_ = std::move(how);
  by_itself_ = false;
  left_s_.reset();
  worker_->kill();
}

void WorkerSlot::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  first_fd_.reset();
  if (!worker_) return;
  if (end_ || left_s_) {
    const auto wake_at = Clock::now() + (end_ ? kLookAgain : kLookAtPulse);
    if (!wake_up || wake_at < *wake_up) wake_up = wake_at;
  }
  if (end_) return;
  first_fd_ = fds.size();
  fds.push_back({worker_->read_fd(), POLLIN, 0});
  fds.push_back({worker_->error_fd(), POLLIN, 0});
  if (worker_->wants_write()) fds.push_back({worker_->write_fd(), POLLOUT, 0});
}

std::optional<WorkerEnd> WorkerSlot::react(const std::vector<pollfd>& fds, const std::function<void(Message)>& handle) {
  if (end_) return take_end();
  if (!worker_ || !first_fd_) return std::nullopt;
  const std::size_t first = *first_fd_;
  const std::uint64_t generation = generation_;
  const auto is_the_same = [&] { return running() && generation_ == generation; };
  if (fds[first + 1].revents != 0) worker_->receive_errors();
  if (worker_->wants_write()) worker_->flush();
  if (left_s_) silent_s_ += pulse_.beat(now_());
  if (fds[first].revents != 0) {
    const bool open = worker_->receive();
    try {
      while (is_the_same()) {
        auto message = worker_->next();
        if (!message) break;
        silent_s_ = 0;
        if (!take_own(*message)) handle(std::move(*message));
      }
    } catch (const ProtocolError& error) {
      end({error.what()});
    }
    if (is_the_same() && !open) {
      end_.emplace();
      by_itself_ = true;
      left_s_.reset();
    }
  }
  if (is_the_same()) end_if_late();
  return end_ && generation_ == generation ? take_end() : std::nullopt;
}

/// Takes \p message if it is about the worker itself. Returns whether it is.
bool WorkerSlot::take_own(const Message& message) {
  if (const auto* beat = std::get_if<Beat>(&message)) {
    if (left_s_) *left_s_ -= beat->seconds;
    return true;
  }
  const auto* words = std::get_if<LastWords>(&message);
  if (words != nullptr) last_words_ = *words;
  return words != nullptr;
}

/// All messages that have arrived were read: if this process was stopped, the answer may have come in time.
void WorkerSlot::end_if_late() {
  if (!left_s_) return;
  look_for_stop();
  if (*left_s_ <= 0) return end({fmt::format("did not answer for {:.1f} s", limit_s_), take_stop(), true});
  const double most_silent_s = was_stopped_ ? std::min(limit_s_, kMostSilentSeconds) : kMostSilentSeconds;
  if (silent_s_ > most_silent_s) end({fmt::format("did not run for {:.1f} s", silent_s_), true, true});
}

/// How the worker was lost; nothing while it has not ended.
std::optional<WorkerEnd> WorkerSlot::take_end() {
  const std::optional<WorkerEnd>& end = worker_->ended();
  if (!end) return std::nullopt;
  WorkerEnd how = by_itself_ ? *end : *end_;
  if (by_itself_ && how.unknown && last_words_) {
    how.from_outside = false;
    how.exited = last_words_->signal == 0;
    how.text.replace(0, kLost.size(), how.exited ? "ended by exit()" : killed_by(last_words_->signal));
  }
  stop();
  return how;
}

}  // namespace tuner::worker
