#pragma once
/// Keeps signals away from the library's threads: the program's own threads handle them.

#include <csignal>
#include <initializer_list>

namespace tuner {

/// Threads that are started in the scope of this object get no signals, except those of their own faults.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t blocked;
    ::sigfillset(&blocked);
    // If a fault's signal is blocked, the process ends without its handler.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) ::sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace tuner
