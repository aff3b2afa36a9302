#include <tuner/worker/mailbox.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace tuner::worker {

Mailbox::Mailbox() : wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_fd_ < 0) throw WorkerError(std::string("no event descriptor: ") + std::strerror(errno));
}

Mailbox::~Mailbox() { ::close(wake_fd_); }

void Mailbox::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_, &one, sizeof one);
}

void Mailbox::clear_wake() {
  std::uint64_t count = 0;
  (void)!::read(wake_fd_, &count, sizeof count);
}

void Mailbox::post(std::function<void()> command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  wake();
}

void Mailbox::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
}

Mailbox::State Mailbox::state() const {
  const std::lock_guard lock(mutex_);
  return stopping_ ? State::stopping : failure_ ? State::failed : State::running;
}

std::vector<std::function<void()>> Mailbox::take_commands() {
  const std::lock_guard lock(mutex_);
  return std::exchange(commands_, {});
}

void Mailbox::tell(Event event) {
  {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(event));
  }
  changed_.notify_all();
}

void Mailbox::tell_device(const Device& device) {
  {
    const std::lock_guard lock(mutex_);
    device_ = device;
  }
  changed_.notify_all();
}

void Mailbox::tell_finalists(std::vector<Trial> trials) {
  {
    const std::lock_guard lock(mutex_);
    finalists_ = std::move(trials);
  }
  changed_.notify_all();
}

void Mailbox::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  changed_.notify_all();
}

void Mailbox::publish(const SessionTimes& times) {
  const std::lock_guard lock(mutex_);
  times_ = times;
}

void Mailbox::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

std::optional<Event> Mailbox::next(std::chrono::duration<double> patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return !news_.empty() || failure_; });
  if (news_.empty()) {
    rethrow_failure();
    return std::nullopt;
  }
  Event event = std::move(news_.front());
  news_.pop_front();
  return event;
}

const Device& Mailbox::device() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return device_ || failure_; });
  if (!device_) rethrow_failure();
  return *device_;
}

std::vector<Trial> Mailbox::finalists(std::function<void()> start) {
  post(std::move(start));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finalists_ || failure_; });
  if (!finalists_) rethrow_failure();
  return *std::exchange(finalists_, std::nullopt);
}

SessionTimes Mailbox::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

}  // namespace tuner::worker
