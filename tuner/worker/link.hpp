#pragma once
/// A worker as a session sees it: a pair of pipes that messages go through, one for what it says, and its end. It is a
/// process of this machine (process.hpp), or of another, whose pipes somebody carries. Not thread-safe.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// How a worker ended.
struct WorkerEnd {
  std::string text;  ///< "killed by signal 11 (Segmentation fault)", "ended with status 1", with its last lines
  bool from_outside = false;  ///< by a signal that nothing it ran would raise: killed by a person, or short of memory
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
  virtual void kill() = 0;
  /// Whether it was stopped, or went on, since this was last asked: then it was not its own fault that it was late.
  virtual bool was_stopped() = 0;
  /// Its end, once there is one: nothing that it started lives on. Some that a driver holds never die: \p longest_end
  /// after this was first asked such a one counts as lost, and is left to the system.
  const std::optional<WorkerEnd>& ended();
  /// Waits for that.
  WorkerEnd wait();

 protected:
  explicit WorkerLink(std::chrono::seconds longest_end) : longest_end_(longest_end) {}
  /// Its end, without what was said, if it has ended by now.
  virtual std::optional<WorkerEnd> ask_end() = 0;
  /// Takes the session's ends of the three pipes.
  void take_pipes(int to, int from, int errors);
  /// Closes the ends that are read from: what the worker still writes is lost.
  void close_inputs();

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

/// Starts a worker. Throws WorkerError when that cannot be done.
using StartWorker = std::function<std::unique_ptr<WorkerLink>()>;

/// Two descriptors, closed with it unless they are taken.
struct Pipe {
  int read = -1, write = -1;
  /// Throws WorkerError.
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

}  // namespace tuner::worker
