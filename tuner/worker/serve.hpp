#pragma once
/// A worker: compiles or runs configurations for the session at the other end of its pipes.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <tuner/backend/backend.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// The session is gone or has closed the pipe.
struct PipeClosed {};

/// The worker's end of its pipes. Blocks; for one thread. If it owns its process, another thread sends beats while the
/// worker works, so that the session learns for how long the machine let it.
class Connection {
 public:
  /// \p owns_process: what this process prints belongs to the worker, so it is flushed before each answer.
  Connection(int in, int out, bool owns_process = true);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The work is computing: beats count the part of the time for which this process gets a processor.
  void work_computes() { computes_ = true; }

  /// Waits for the next message. Throws PipeClosed, ProtocolError.
  Message receive() {
    set_working(false);
    while (inbox_.empty()) read_some();
    set_working(true);
    Message message = std::move(inbox_.front());
    inbox_.pop_front();
    return message;
  }

  // These read the messages that have arrived, and do not wait.

  /// Returns whether the session recalls its last request.
  bool look_for_recall() {
    return look_for_recall([](const Recall&) { return true; });
  }
  /// Returns whether it recalls the request that runs.
  bool look_for_recall_of_running() { return look_for_recall(&Recall::running); }
  /// Returns whether a Hurry has come, which receive() does not return.
  bool look_for_hurry() {
    read_all();
    return hurry_came_;
  }

  /// Throws PipeClosed.
  void send(const Message& message) {
    if (owns_process_) std::fflush(stdout);  // what a kernel printed comes before the answer
    write(encode(message));
  }

 private:
  void write(const std::vector<std::byte>& bytes) {
    const std::lock_guard lock(writing_);
    for (std::span<const std::byte> left = bytes; !left.empty();) {
      const ssize_t count = ::write(out_, left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw PipeClosed{};
      left = left.subspan(static_cast<std::size_t>(count));
    }
  }

  void set_working(bool working);
  void beat(const std::stop_token& stop);

  void read_some() {
    std::byte bytes[65536];
    const ssize_t count = ::read(in_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) throw PipeClosed{};
    decoder_.feed(std::span(bytes, static_cast<std::size_t>(count)));
    while (auto message = decoder_.next()) {
      if (std::holds_alternative<Hurry>(*message))
        hurry_came_ = true;
      else
        inbox_.push_back(std::move(*message));
    }
  }
  void read_all() {
    for (pollfd in{in_, POLLIN, 0}; ::poll(&in, 1, 0) > 0;) read_some();
  }
  bool look_for_recall(const auto& is_meant) {
    read_all();
    return std::ranges::any_of(inbox_, [&](const Message& message) {
      const auto* const recall = std::get_if<Recall>(&message);
      return recall != nullptr && std::invoke(is_meant, *recall);
    });
  }

  int in_, out_;
  bool owns_process_;
  Decoder decoder_;
  std::deque<Message> inbox_;
  bool hurry_came_ = false;
  std::mutex writing_;  // messages are written whole
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool works_ = false;
  std::atomic<bool> computes_ = false;
  std::jthread heart_;
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
