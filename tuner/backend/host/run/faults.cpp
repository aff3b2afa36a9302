#include <tuner/backend/host/run/faults.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>

#include <tuner/backend/host/run/block_runner.hpp>
#include <tuner/backend/host/run/sanitizer.hpp>

namespace tuner::host {
namespace {

// Ignored by default. Go's runtime uses it for the same purpose, because a signal without a cause does no harm.
constexpr int kStopSignal = SIGURG;
constexpr std::array kAllSignals{kStopSignal, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr auto kSignals = std::span(kAllSignals).first(sanitizer::kActive ? 1 : kAllSignals.size());
constexpr std::size_t kSignalStackBytes = 65536;

std::mutex mutex;
int users = 0;
std::array<struct sigaction, 65> previous;

// The place in the code where a context is, and whether it can continue at another with its own stack.
#if defined(__x86_64__)
std::uintptr_t pc_of(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
bool redirect(ucontext_t& context, void (*to)(), char* stack) {
  // As if `to` had just been called: the stack is 8 bytes off a multiple of 16 (System V ABI, 3.2.2).
  const auto top = (reinterpret_cast<std::uintptr_t>(stack) & ~std::uintptr_t{15}) - 8;
  *reinterpret_cast<std::uintptr_t*>(top) = 0;
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(to));
  context.uc_mcontext.gregs[REG_EFL] &= ~greg_t{0x400};  // direction flag
  return true;
}
#elif defined(__aarch64__)
std::uintptr_t pc_of(const ucontext_t& context) { return context.uc_mcontext.pc; }
bool redirect(ucontext_t& context, void (*to)(), char* stack) {
  context.uc_mcontext.sp = reinterpret_cast<std::uintptr_t>(stack) & ~std::uintptr_t{15};
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(to);
  context.uc_mcontext.regs[30] = 0;
  return true;
}
#else
std::uintptr_t pc_of(const ucontext_t&) { return 0; }
bool redirect(ucontext_t&, void (*)(), char*) { return false; }
#endif

const char* name(int signal, int code) {
  switch (signal) {
    case SIGSEGV:
      return "illegal memory access";
    case SIGBUS:
      return "bus error (misaligned or unmapped memory)";
    case SIGFPE:
      return code == FPE_INTDIV ? "integer division by zero" : "arithmetic fault";
    case SIGTRAP:
      return "trap";
    default:
      return "illegal instruction (a trap or code that cannot be reached)";
  }
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& earlier = previous[static_cast<std::size_t>(signal)];
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    earlier.sa_sigaction(signal, info, context);
  } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
    earlier.sa_handler(signal);
  } else if (signal != kStopSignal) {
    sigaction(signal, &earlier, nullptr);  // the instruction faults again, now with the default action
  }
}

void on_signal(int signal, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  BlockRunner* runner = BlockRunner::of_this_thread();
  if (runner != nullptr && runner->in_kernel(pc_of(context))) {
    const bool stop = signal == kStopSignal;
    const bool has_address = signal == SIGSEGV || signal == SIGBUS;
    if (stop && !runner->must_stop()) return;
    char* stack = nullptr;
    void (*leave)() =
        runner->leave(stop ? nullptr : name(signal, info->si_code), has_address ? info->si_addr : nullptr, &stack);
    if (redirect(context, leave, stack)) return;
  }
  pass_on(signal, info, raw);
}

void install(int signal) {
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, &previous[static_cast<std::size_t>(signal)]);
}

void uninstall(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  // A handler that was installed after ours keeps the signal, and may still call ours.
  if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != &on_signal) return;
  sigaction(signal, &previous[static_cast<std::size_t>(signal)], nullptr);
}

}  // namespace

FaultHandlers::FaultHandlers() {
  const std::lock_guard lock(mutex);
  if (users++ == 0) std::ranges::for_each(kSignals, install);
}

FaultHandlers::~FaultHandlers() {
  const std::lock_guard lock(mutex);
  if (--users == 0) std::ranges::for_each(kSignals, uninstall);
}

void block_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGURG, SIGPROF}) sigdelset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

SignalStack::SignalStack() {
  memory_ = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    return;
  }
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kSignalStackBytes;
  stack_t earlier{};
  sigaltstack(&stack, &earlier);
  if ((earlier.ss_flags & SS_DISABLE) == 0) {  // a sanitizer's stack, which it frees itself when the thread ends
    sigaltstack(&earlier, nullptr);
    munmap(memory_, kSignalStackBytes);
    memory_ = nullptr;
  }
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(memory_, kSignalStackBytes);
}

void request_stop(pthread_t thread) { pthread_kill(thread, kStopSignal); }

}  // namespace tuner::host
