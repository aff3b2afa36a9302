#include <tuner/backend/host/stack_pool.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include <tuner/core/error.hpp>

namespace tuner::host {
namespace {

// Each guard page splits a mapping, and a process may have 65530 mappings (vm.max_map_count). On a machine with many
// cores, guards for all stacks would use up all of them.
constexpr std::size_t kMostGuards = 8192;
std::atomic<std::size_t> guards_in_use{0};

}  // namespace

StackPool::StackPool(std::size_t count, std::size_t bytes)
    : count_(count), page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  slot_ = (bytes + page_ - 1) / page_ * page_ + page_;
  void* base = mmap(nullptr, slot_ * count_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) {
    throw Error(ErrorCode::out_of_memory, "host backend: cannot reserve " + std::to_string(slot_ * count_ >> 20) +
                                              " MiB for the stacks of kernel threads: " + std::strerror(errno));
  }
  base_ = static_cast<char*>(base);
  while (guards_ < count_ && guards_in_use.fetch_add(1) < kMostGuards &&
         mprotect(base_ + guards_ * slot_, page_, PROT_NONE) == 0) {
    ++guards_;
  }
  if (guards_ < count_) guards_in_use.fetch_sub(1);
}

StackPool::~StackPool() {
  munmap(base_, slot_ * count_);
  guards_in_use.fetch_sub(guards_);
}

StackPool::Stack StackPool::stack(std::size_t index) const {
  char* slot = base_ + index * slot_;
  const std::size_t stagger = (index * 448) % page_;
  return {slot + page_, slot + slot_ - stagger / 64 * 64};
}

bool StackPool::in_guard(const void* address) const {
  const char* at = static_cast<const char*>(address);
  if (at < base_ || at >= base_ + guards_ * slot_) return false;
  return static_cast<std::size_t>(at - base_) % slot_ < page_;
}

}  // namespace tuner::host
