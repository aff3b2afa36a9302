#pragma once
/// A worker as a session sees it: pipes or a socket for messages, a pipe for its printed text, and how it ended. It is
/// a process or a thread here, or a process of another host, whose bytes are carried here. Not thread-safe.

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/pulse.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// How a worker ended.
struct WorkerEnd {
  /// "killed by signal 11 (Segmentation fault)" or "ended with status 1", and its last lines; "did not answer for 3.0
  /// s"
  std::string text;
  /// A person or the system stopped or killed it: no kernel raises such a signal.
  bool from_outside = false;
  bool hung = false;     ///< killed at its deadline
  bool exited = false;   ///< by itself, without a signal
  bool unknown = false;  ///< somebody else took the end of the process; then it counts as from outside
};
/// For carriers of messages between hosts.
std::vector<std::byte> bytes_of(const WorkerEnd& end);
WorkerEnd worker_end(std::span<const std::byte> bytes);

class WorkerLink {
 public:
  virtual ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  int read_fd() const { return from_; }
  int write_fd() const { return to_; }
  int error_fd() const { return errors_; }
  bool wants_write() const { return !outgoing_.empty(); }

  /// Queues \p message and sends as much as fits into the pipe now.
  void send(const Message& message);
  /// Sends more; false when the worker has closed its end.
  bool flush();
  /// Reads all bytes that have arrived; false at the pipe's end.
  bool receive();
  /// The next message. Throws ProtocolError.
  std::optional<Message> next() { return decoder_.next(); }
  /// Reads the text that it printed on standard output and error; keeps the last lines.
  void receive_errors();
  /// The text that it printed since the last call.
  std::string take_said() { return std::exchange(said_, {}); }

  /// Kills the worker and all processes that it started.
  virtual void kill() = 0;
  /// If not, the worker may take any time for an answer.
  virtual bool can_be_killed() const { return true; }
  /// Returns whether somebody stopped or continued the process since the last call. Then a late answer is not its own
  /// fault.
  virtual bool take_stop() = 0;
  /// How it ended, once it has ended and no process that it started is left. A driver can hold a process for ever.
  /// Such a worker counts as lost when `longest_end` has passed since the first call.
  const std::optional<WorkerEnd>& ended();
  /// Waits until it has ended.
  void wait();

 protected:
  explicit WorkerLink(std::chrono::seconds longest_end) : longest_end_(longest_end) {}
  /// How it ended, without the text that it printed; nothing while it has not ended.
  virtual std::optional<WorkerEnd> ask_end() = 0;
  /// Takes the session's ends of the three pipes. \p to and \p from may be one socket; \p errors may be -1.
  void take_pipes(int to, int from, int errors);
  /// Closes the pipes. Anything that the worker still writes is lost.
  void close_pipes();

 private:
  WorkerEnd with_last_words(WorkerEnd end);

  const std::chrono::seconds longest_end_;
  std::optional<Clock::time_point> asked_since_;
  std::optional<WorkerEnd> end_;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::deque<std::vector<std::byte>> outgoing_;
  std::size_t sent_ = 0;  // of the first
  Decoder decoder_;
  std::string said_;
};

/// Starts a worker. Throws WorkerError when it cannot be started.
using StartWorker = std::function<std::unique_ptr<WorkerLink>()>;

/// Two descriptors, of a pipe or of connected sockets, closed with it unless they are taken.
struct Pipe {
  int read = -1, write = -1;  ///< both can be read and written if they are sockets
  enum class Kind { pipe, sockets };
  /// Throws WorkerError.
  explicit Pipe(Kind kind = Kind::pipe);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

/// The thread that started it must live as long as the process, because PR_SET_PDEATHSIG follows the thread.
class WorkerProcess final : public WorkerLink {
 public:
  /// Starts \p program; throws WorkerError if that fails. If \p waits, the destructor waits for the program's end. If
  /// \p watcher has words, it is a command that starts the program: its arguments follow those words.
  explicit WorkerProcess(const std::filesystem::path& program, bool waits = true,
                         std::span<const std::string> watcher = {});
  /// Kills the program if it still runs. Without `waits`, another thread reaps it.
  ~WorkerProcess() override;

  pid_t pid() const { return pid_; }
  void kill() override;
  bool take_stop() override;

 private:
  std::optional<WorkerEnd> ask_end() override;

  const bool waits_;
  pid_t pid_ = -1;
  bool reaped_ = false;
};

/// Ends after its current step when it is killed.
class WorkerThread final : public WorkerLink {
 public:
  /// \p spec and \p backend must outlive it.
  WorkerThread(const KernelSpec& spec, Backend& backend);
  ~WorkerThread() override;

  void kill() override;
  bool can_be_killed() const override { return false; }
  bool take_stop() override { return false; }

 private:
  std::optional<WorkerEnd> ask_end() override;

  std::atomic<bool> stop_ = false, has_ended_ = false;
  std::thread thread_;
};

/// Starts workers of this machine. \p options and \p spec must outlive it.
StartWorker start_here(const IsolatedOptions& options, const KernelSpec& spec);

constexpr double kOpenSeconds = 60;            ///< for opening the device, allocating and running the reference
constexpr std::size_t kMostStartFailures = 3;  ///< in a row; after them WorkerError

/// Whether no other worker could do what \p failed did not. Without a compiler here, no worker has one.
inline bool is_last_start(const Failed& failed) { return failed.final || failed.code == ErrorCode::compiler; }

/// A worker in the session's event loop: its descriptors in poll(), its limit, and how it was lost. Used by the
/// compile pool and the run lanes.
///
/// A worker has hung when its own beats have counted more than its limit without an answer. A paused machine, session
/// or worker thus costs nothing. A worker without beats is not the cause, but the session does not wait for it for
/// ever.
class WorkerSlot {
 public:
  static constexpr double kMostSilentSeconds = 60;

  /// \p now: a seam for tests.
  explicit WorkerSlot(Clock::time_point (*now)() = Clock::now) : now_(now), pulse_(now()) {}

  void start(const StartWorker& start) {
    stop();
    worker_ = start();
    ++generation_;
  }
  /// Whether there is a worker that takes messages.
  bool running() const { return worker_ != nullptr && !end_; }
  /// Kills the worker and waits for its end.
  void stop() {
    worker_.reset();
    left_s_.reset();
    first_fd_.reset();
    end_.reset();
    last_words_.reset();
    was_stopped_ = false;
  }
  /// Kills the worker and does not wait. react() returns \p how once it has ended.
  void end(WorkerEnd how);
  void quit() {
    if (worker_) worker_->send(Quit{});
  }
  /// WorkerLink::take_stop().
  bool take_stop() {
    look_for_stop();
    return std::exchange(was_stopped_, false);
  }

  void send(const Message& message) { worker_->send(message); }
  std::string take_said() { return worker_ ? worker_->take_said() : std::string(); }
  /// The worker must answer or report within \p seconds.
  void expect_within(double seconds) {
    if (!worker_->can_be_killed()) return;
    limit_s_ = seconds;
    left_s_ = seconds;
    silent_s_ = 0;
    pulse_ = Pulse(now_());
  }
  void expect_nothing() { left_s_.reset(); }

  /// Adds its descriptors; react() is called with the same vector after poll().
  void collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up);
  /// Reads and writes without waiting, and calls \p handle for each message. Returns how the worker was lost, once it
  /// has ended; a process whose kernel hangs may take seconds to end. \p handle may throw ProtocolError, which counts
  /// as a loss.
  std::optional<WorkerEnd> react(const std::vector<pollfd>& fds, const std::function<void(Message)>& handle);

 private:
  std::optional<WorkerEnd> take_end();
  void look_for_stop() { was_stopped_ |= worker_ && worker_->take_stop(); }
  bool take_own(const Message& message);
  void end_if_late();

  Clock::time_point (*now_)();
  std::unique_ptr<WorkerLink> worker_;
  std::optional<double> left_s_;  // of the limit, in the worker's beats
  double limit_s_ = 0;
  double silent_s_ = 0;  // of this process's pulse, without a message
  Pulse pulse_;
  bool was_stopped_ = false;
  std::optional<LastWords> last_words_;
  std::optional<std::size_t> first_fd_;
  std::optional<WorkerEnd> end_;  // while the lost worker has not ended
  bool by_itself_ = false;        // end_ is filled in from its end
  std::uint64_t generation_ = 0;  // number of the worker; changes when a message leads to its replacement
};

}  // namespace tuner::worker
