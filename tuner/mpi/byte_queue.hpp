#pragma once
/// Bytes on their way into a pipe that takes as much as it has room for, and out of one.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace tuner::mpi {

class ByteQueue {
 public:
  void push(std::vector<std::byte> bytes) {
    if (bytes.empty()) return;
    bytes_ += bytes.size();
    parts_.push_back(std::move(bytes));
  }
  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const { return bytes_; }

  /// Writes what \p fd, which does not block, takes. What nobody reads any more is dropped.
  void write_to(int fd) {
    while (!parts_.empty()) {
      const std::span<const std::byte> left = std::span<const std::byte>(parts_.front()).subspan(written_);
      const ssize_t count = ::write(fd, left.data(), left.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0) {
        parts_.clear();
        written_ = bytes_ = 0;
        return;
      }
      written_ += static_cast<std::size_t>(count);
      bytes_ -= static_cast<std::size_t>(count);
      if (written_ < parts_.front().size()) continue;
      parts_.pop_front();
      written_ = 0;
    }
  }

 private:
  std::deque<std::vector<std::byte>> parts_;
  std::size_t written_ = 0;  // of the first
  std::size_t bytes_ = 0;    // not written
};

class ByteReader {
 public:
  /// What there is to read of \p fd, which does not block, up to a limit; valid until the next call. \p open: false
  /// once its end was reached.
  std::span<const std::byte> read(int fd, bool& open) {
    ssize_t count = 0;
    do count = ::read(fd, bytes_.data(), bytes_.size());
    while (count < 0 && errno == EINTR);
    if (count == 0 || (count < 0 && errno != EAGAIN)) open = false;
    return std::span<const std::byte>(bytes_).first(count > 0 ? static_cast<std::size_t>(count) : 0);
  }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(std::size_t{256} << 10);  // less than a frame takes
};

}  // namespace tuner::mpi
