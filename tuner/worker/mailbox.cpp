#include <tuner/worker/mailbox.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace tuner::worker {

Mailbox::Mailbox() : wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw WorkerError(std::string("no event descriptor: ") + std::strerror(errno));
}

Mailbox::~Mailbox() { ::close(wake_fd_); }

void Mailbox::post(Command command) {
  const std::lock_guard lock(mutex_);
  commands_.push_back(std::move(command));
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_, &one, sizeof one);
}

std::vector<Mailbox::Command> Mailbox::take_commands() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!::read(wake_fd_, &count, sizeof count);
  return std::exchange(commands_, {});
}

}  // namespace tuner::worker
