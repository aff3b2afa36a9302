#pragma once
/// Turns faults inside kernels into failures of their launch, and stops kernels that do not end. Only where it is
/// safe: when the interrupted instruction lies in the kernel's own code, which holds no lock. A fault anywhere else
/// stays what it was (the process dies; tuner/worker isolates it). x86-64 and AArch64 Linux; elsewhere it does nothing.

#include <pthread.h>

namespace tuner::host {

/// Installs the handlers for as long as one of these lives; earlier handlers are called for what is not ours.
class FaultHandlers {
 public:
  /// \p faults: also SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGTRAP; otherwise only the request to stop.
  explicit FaultHandlers(bool faults);
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;

 private:
  bool faults_;
};

/// A stack for signal handlers, for the calling thread: a fiber that overflowed its own has none left.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

/// Asks a worker thread to leave its kernel. Repeat until it has: a thread inside the C library is left alone.
void request_stop(pthread_t thread);

}  // namespace tuner::host
