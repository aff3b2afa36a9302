#pragma once
/// A worker as a session sees it: pipes or a socket for messages, a pipe for its printed text, and how it ended. It is
/// a process or a thread here, or a process of another host, whose bytes are carried here. Not thread-safe.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// How a worker ended.
struct WorkerEnd {
  std::string text;  ///< "killed by signal 11 (Segmentation fault)" or "ended with status 1", and its last lines
  bool from_outside = false;  ///< a person or the system killed it: no kernel raises such a signal
};

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
  /// Whether somebody stopped or continued the process since the last call. Then a late answer is not its own fault.
  virtual bool was_stopped() = 0;
  /// How it ended, once it has ended and no process that it started is left. A driver can hold a process for ever.
  /// Such a worker counts as lost when `longest_end` has passed since the first call.
  const std::optional<WorkerEnd>& ended();
  /// Waits until it has ended.
  WorkerEnd wait();

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
  std::optional<std::chrono::steady_clock::time_point> asked_since_;
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
  /// Starts \p program; throws WorkerError if that fails. If \p waits, the destructor waits for the program's end.
  explicit WorkerProcess(const std::filesystem::path& program, bool waits = true);
  /// Kills the program if it still runs. Without `waits`, another thread reaps it.
  ~WorkerProcess() override;

  pid_t pid() const { return pid_; }
  void kill() override;
  bool was_stopped() override;

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
  bool was_stopped() override { return false; }

 private:
  std::optional<WorkerEnd> ask_end() override;

  std::atomic<bool> stop_ = false, has_ended_ = false;
  std::thread thread_;
};

/// Starts workers of this machine. \p options and \p spec must outlive it.
StartWorker start_here(const IsolatedOptions& options, const KernelSpec& spec);

}  // namespace tuner::worker
