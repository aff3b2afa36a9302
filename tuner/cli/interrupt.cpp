#include <tuner/cli/interrupt.hpp>

#include <csignal>
#include <unistd.h>

namespace tuner::cli {
namespace {

std::atomic<bool> interrupted{false};
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void on_signal(int) {
  if (interrupted.exchange(true)) ::_exit(kInterrupted);
  constexpr char message[] = "\nstopping after what the device runs; once more ends at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof(message) - 1);
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // trials in flight talk over pipes
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");
  interrupted = false;
  install(on_signal);
}

InterruptGuard::~InterruptGuard() { install(SIG_DFL); }

const std::atomic<bool>& InterruptGuard::flag() const { return interrupted; }

}  // namespace tuner::cli
