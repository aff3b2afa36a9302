#include <cache/claim.hpp>

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <cache/sha256.hpp>

namespace tuner::cache {
namespace {

/// The byte to lock; it may lie far beyond the end of the file.
std::int64_t byte_of(std::string_view what) {
  const auto hash = std::stoull(sha256_hex(what).substr(0, 16), nullptr, 16);
  return static_cast<std::int64_t>(hash >> 2);
}

}  // namespace

Claim::Claim(const std::filesystem::path& database, std::string_view what)
    : descriptor_(::open((database.string() + ".claims").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)),
      byte_(byte_of(what)) {}

Claim::~Claim() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Claim::take() {
  const auto now = std::chrono::steady_clock::now();
  if (refused_ && now - *refused_ < std::chrono::seconds(1)) return false;
  const bool taken = ask();
  refused_ = taken ? std::nullopt : std::optional(now);
  return taken;
}

bool Claim::ask() const {
  if (descriptor_ < 0) return true;
  // A lock of the open file description. A lock of the process would be lost when any descriptor of the file is closed,
  // and threads would share it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte_;
  lock.l_len = 1;
  int result = 0;
  do result = ::fcntl(descriptor_, F_OFD_SETLK, &lock);
  while (result != 0 && errno == EINTR);
  return result == 0 || (errno != EAGAIN && errno != EACCES);
}

}  // namespace tuner::cache
