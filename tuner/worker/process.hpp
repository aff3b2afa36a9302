#pragma once
/// A worker process and its pipes, seen from the session. Not thread-safe; owned by the thread that started it, which
/// must live as long as it: PR_SET_PDEATHSIG follows the thread.

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

class WorkerProcess {
 public:
  /// Starts \p program. Throws WorkerError when that cannot be done.
  explicit WorkerProcess(const std::filesystem::path& program);
  /// Kills it when it still runs, and waits for its end.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  int read_fd() const { return from_; }
  int write_fd() const { return to_; }
  int error_fd() const { return errors_; }
  bool wants_write() const { return !outgoing_.empty(); }

  /// Queues \p message and sends as much as the pipe takes at once.
  void send(const Message& message);
  /// Sends more; false when the worker has closed its end.
  bool flush();
  /// Reads what is there; false at the pipe's end.
  bool receive();
  /// The next message. Throws ProtocolError.
  std::optional<Message> next() { return decoder_.next(); }
  /// Reads what it said on standard output and error; keeps the end of it.
  void receive_errors();
  /// What it has said since this was last called.
  std::string take_said() { return std::exchange(said_, {}); }

  /// It and all that it started.
  void kill();
  /// Whether it was stopped, or went on, since this was last asked: then it was not its own fault that it was late.
  bool was_stopped();
  /// How it ended.
  struct End {
    std::string text;  ///< "killed by signal 11 (Segmentation fault)", "ended with status 1", with its last lines
    bool from_outside = false;  ///< by a signal that nothing it ran would raise: killed by a person, or short of memory
  };
  /// Waits for its end. Nothing that it started lives on.
  End wait();

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::deque<std::vector<std::byte>> outgoing_;
  std::size_t sent_ = 0;  // of the first
  Decoder decoder_;
  std::string said_;
  std::optional<End> end_;
};

}  // namespace tuner::worker
