#pragma once
/// The worker's end of its pipes. Blocks; for one thread.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>

#include <tuner/worker/protocol.hpp>

namespace tuner::worker {

/// The session is gone or has closed the pipe.
struct PipeClosed {};

class Connection {
 public:
  Connection(int in, int out) : in_(in), out_(out) {}

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
    return std::any_of(inbox_.begin(), inbox_.end(),
                       [](const Message& message) { return std::holds_alternative<Recall>(message); });
  }

  /// Throws PipeClosed.
  void send(const Message& message) {
    std::fflush(stdout);  // what a kernel printed comes before the answer
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
  Decoder decoder_;
  std::deque<Message> inbox_;
};

}  // namespace tuner::worker
