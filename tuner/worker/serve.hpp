#pragma once
/// A worker: compiles or runs configurations for the session at the other end of its pipes.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>

#include <tuner/backend/backend.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// The session is gone or has closed the pipe.
struct PipeClosed {};

/// The worker's end of its pipes. Blocks; for one thread.
class Connection {
 public:
  /// \p owns_stdout: what this process prints belongs to the worker, so it is flushed before each answer.
  Connection(int in, int out, bool owns_stdout = true) : in_(in), out_(out), owns_stdout_(owns_stdout) {}

  /// Waits for the next message. Throws PipeClosed, ProtocolError.
  Message receive() {
    while (inbox_.empty()) read_some();
    Message message = std::move(inbox_.front());
    inbox_.pop_front();
    return message;
  }

  /// Whether the session has recalled its last request. Does not wait.
  bool recalled() {
    for (pollfd in{in_, POLLIN, 0}; ::poll(&in, 1, 0) > 0;) read_some();
    return std::ranges::any_of(inbox_, [](const Message& message) { return std::holds_alternative<Recall>(message); });
  }

  /// Throws PipeClosed.
  void send(const Message& message) {
    if (owns_stdout_) std::fflush(stdout);  // what a kernel printed comes before the answer
    const std::vector<std::byte> bytes = encode(message);
    for (std::span<const std::byte> left = bytes; !left.empty();) {
      const ssize_t count = ::write(out_, left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw PipeClosed{};
      left = left.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  void read_some() {
    std::byte bytes[65536];
    const ssize_t count = ::read(in_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) throw PipeClosed{};
    decoder_.feed(std::span(bytes, static_cast<std::size_t>(count)));
    while (auto message = decoder_.next()) inbox_.push_back(std::move(*message));
  }

  int in_, out_;
  bool owns_stdout_;
  Decoder decoder_;
  std::deque<Message> inbox_;
};

/// Gives a worker its compiler or its device. The returned objects must outlive serve(). Until it returns, they may
/// call \p warn, in the worker's thread.
struct Workplace {
  std::function<Compiler&(const Open& open, const Warn& warn)> compiler;
  std::function<Device(const Open& open, const Warn& warn)> device;  ///< returns soon
  std::function<Backend&(const Device& device, const Warn& warn)> backend;
  const KernelSpec* spec = nullptr;         ///< null: that of Open::source
  const std::atomic<bool>* stop = nullptr;  ///< CompileRequest::stop
  /// The worker owns its process: flushes its standard output, and ends it, without destructors, when a fault has made
  /// the device unusable.
  bool is_process = true;
};

/// Answers the messages from \p in until one says quit or the pipe ends. Returns false if it ended with an error, which
/// the session then knows.
bool serve(int in, int out, const Workplace& place);

}  // namespace tuner::worker
