#include <tuner/cli/interrupt.hpp>

#include <unistd.h>

namespace tuner::cli {
namespace {

std::atomic<bool> interrupted{false};

void on_signal(int) {
  if (interrupted.exchange(true)) ::_exit(kInterrupted);
  constexpr char message[] = "\nstopping after the trials that run now; once more stops at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof(message) - 1);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // trials in flight talk over pipes
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupted; }

}  // namespace tuner::cli
