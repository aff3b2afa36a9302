#include <tuner/worker/link.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <thread>

#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::worker {

Pipe::Pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw WorkerError(std::string("no pipe to a worker can be made: ") + std::strerror(errno));
  read = fds[0];
  write = fds[1];
  // dup2 in a child must neither hit a pipe that is still needed nor find the descriptor already in place.
  for (int* fd : {&read, &write}) {
    const int high = ::fcntl(*fd, F_DUPFD_CLOEXEC, 10);
    if (high < 0) continue;
    ::close(*fd);
    *fd = high;
  }
  ::fcntl(write, F_SETPIPE_SZ, 1 << 20);  // whole images at once; a smaller pipe works too
}

Pipe::~Pipe() {
  if (read >= 0) ::close(read);
  if (write >= 0) ::close(write);
}

WorkerLink::~WorkerLink() { close_pipes(); }

void WorkerLink::take_pipes(int to, int from, int errors) {
  to_ = to;
  from_ = from;
  errors_ = errors;
  for (const int fd : {to_, from_, errors_}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void WorkerLink::close_pipes() {
  for (int* fd : {&to_, &from_, &errors_})
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
}

const std::optional<WorkerEnd>& WorkerLink::ended() {
  if (end_) return end_;
  const auto now = std::chrono::steady_clock::now();
  if (!asked_since_) asked_since_ = now;
  receive_errors();  // a worker that still prints must not wait for this process
  if (std::optional<WorkerEnd> end = ask_end())
    end_ = with_last_words(std::move(*end));
  else if (now - *asked_since_ > longest_end_)
    end_ = with_last_words({"lost", true});
  return end_;
}

WorkerEnd WorkerLink::wait() {
  for (int i = 0; !ended(); ++i) std::this_thread::sleep_for(std::chrono::microseconds(i < 100 ? 100 : 1000));
  return *end_;
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

}  // namespace tuner::worker
