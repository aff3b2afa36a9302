#include <tuner/cli/interrupt.hpp>

#include <unistd.h>

#include <csignal>

namespace tuner::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

void on_signal(int) {
  if (interrupted.exchange(true)) ::_exit(kInterrupted);
  constexpr char message[] = "\nstopping after the trials that run now; once more stops at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof(message) - 1);
}

}  // namespace

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // trials in flight talk over pipes
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  return interrupted;
}

}  // namespace tuner::cli
