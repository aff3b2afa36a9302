#include <tuner/cli/output_capture.hpp>

#include <algorithm>
#include <cstdio>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tuner::cli {

OutputCapture::OutputCapture(Keep keep) : keep_(keep) {
  std::fflush(stdout);
  before_ = ::dup(STDOUT_FILENO);
  target_ = keep == Keep::text ? ::memfd_create("printed by kernels", MFD_CLOEXEC)
                               : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (before_ >= 0 && target_ >= 0) ::dup2(target_, STDOUT_FILENO);
}

OutputCapture::~OutputCapture() {
  std::fflush(stdout);
  if (before_ >= 0) {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  if (target_ >= 0) ::close(target_);
}

std::string OutputCapture::text() const {
  std::fflush(stdout);
  if (keep_ == Keep::nothing || target_ < 0) return {};
  std::string all(1 << 20, '\0');
  const ssize_t bytes = ::pread(target_, all.data(), all.size(), 0);
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return all;
}

}  // namespace tuner::cli
