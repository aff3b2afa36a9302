#pragma once
/// Writing to a file descriptor until all of it is written.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace tuner::host {

/// False when the descriptor takes no more; errno says why.
inline bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace tuner::host
