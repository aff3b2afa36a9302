#pragma once
/// Shared by the two files of BlockRunner: block_runner.cpp runs fibers, collectives.cpp lets them wait for each other.
/// Private to them.

#include <array>
#include <string>

#include <tuner/backend/host/block_runner.hpp>
#include <tuner/backend/host/sanitizer.hpp>

namespace tuner::host {

struct BlockRunner::State : tuner_host::Block {
  BlockRunner* runner = nullptr;
};

struct BlockRunner::Fiber {
  tuner_host::Thread thread{};
  boost::context::detail::fcontext_t context = nullptr;
  Fiber* link = nullptr;  // to the next in the list of ready or of waiting fibers
  StackPool::Stack stack;
  sanitizer::FiberState sanitizer;
  int result = 0;
  bool busy = false;  // somewhere inside a kernel
  const char* waits_at = nullptr;
  const char* file = nullptr;
  int line = 0;
};

// The value of one lane for a collective, and its result. Lives on the lane's own stack while it waits.
struct BlockRunner::Request {
  unsigned long long value = 0;
  unsigned long long result = 0;
  unsigned lane = 0;
  Fiber* fiber = nullptr;
};

struct BlockRunner::Meeting {
  int operation = 0;
  unsigned mask = 0;
  unsigned arrived = 0;
  Meeting* link = nullptr;
  std::array<Request*, 32> requests{};
};

inline BlockRunner::Fiber* BlockRunner::current() const {
  return reinterpret_cast<Fiber*>(context_->thread);  // thread is Fiber's first member
}

inline std::string site_text(const char* file, int line) { return std::string(file) + ':' + std::to_string(line); }

}  // namespace tuner::host
