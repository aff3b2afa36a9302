#pragma once
/// A queue of bytes for a pipe that takes only as much as it has room for, and a reader of such a pipe.

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

  /// Writes as much as \p fd, which must not block, takes. Drops the bytes if nobody reads any more.
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
  std::size_t written_ = 0;  // of the first part
  std::size_t bytes_ = 0;    // not written
};

class ByteReader {
 public:
  /// Returns what can be read from \p fd, which must not block, up to a limit. Valid until the next call. Sets \p open
  /// to false at the end of the file.
  std::span<const std::byte> read(int fd, bool& open) {
    ssize_t count = 0;
    do count = ::read(fd, bytes_.data(), bytes_.size());
    while (count < 0 && errno == EINTR);
    if (count == 0 || (count < 0 && errno != EAGAIN)) open = false;
    return std::span<const std::byte>(bytes_).first(count > 0 ? static_cast<std::size_t>(count) : 0);
  }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(std::size_t{256} << 10);  // fits into one frame
};

}  // namespace tuner::mpi
