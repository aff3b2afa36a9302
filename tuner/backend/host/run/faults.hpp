#pragma once
/// Turns faults inside kernels into errors of their launch, and stops kernels that do not end.
///
/// A fault is handled only if the interrupted instruction is in the kernel's own code, which holds no lock. A fault
/// anywhere else ends the process; tuner/worker isolates it. Works on x86-64 and AArch64 Linux, and does nothing on
/// other systems.

#include <pthread.h>

namespace tuner::host {

/// Installs the handlers while an object of this class lives. Signals from outside of kernels go to earlier handlers.
/// A sanitizer reports faults better, so under one there is only the handler of request_stop().
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;
};

/// For a thread that runs kernels: other threads of the process handle its signals. It takes only signals that a kernel
/// itself can cause.
void block_signals();

/// A stack for signal handlers of the calling thread: a fiber that overflowed its own stack has none left.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

/// Asks a worker thread to leave its kernel. Repeat this until it has: a thread inside the C library does not react.
void request_stop(pthread_t thread);

}  // namespace tuner::host
