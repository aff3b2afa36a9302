#pragma once
/// Stacks for fibers: one mapping for each operating-system thread, cut into equal slots that are used again and
/// again. Pages are taken from the system when they are first touched.

#include <cstddef>

namespace tuner::host {

class StackPool {
 public:
  /// Room for \p count stacks of \p bytes each (rounded up to pages). Throws Error when the address space is full.
  StackPool(std::size_t count, std::size_t bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  struct Stack {
    char* bottom = nullptr;  ///< lowest usable address; a guard page lies below where the system has room for it
    char* top =
        nullptr;  ///< highest; staggered from stack to stack, so that equal frames fall into different cache sets
    std::size_t bytes() const { return static_cast<std::size_t>(top - bottom); }
  };
  Stack stack(std::size_t index) const;
  /// Where all of them lie.
  const char* begin() const { return base_; }
  std::size_t bytes() const { return slot_ * count_; }
  /// Whether \p address lies in a guard page: a stack overflow.
  bool in_guard(const void* address) const;

 private:
  char* base_ = nullptr;
  std::size_t count_, slot_, page_;
  std::size_t guards_ = 0;  // the first so many slots have a guard page
};

}  // namespace tuner::host
