#pragma once
/// Stacks for fibers: one mapping for each operating-system thread, divided into equal slots. Slots are used again. The
/// system gives a page when it is first touched.

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
    char* bottom = nullptr;  ///< lowest usable address, above a guard page if the system has room for one
    char* top = nullptr;     ///< highest; differs between stacks, so that equal frames use different cache sets
    std::size_t bytes() const { return static_cast<std::size_t>(top - bottom); }
  };
  Stack stack(std::size_t index) const;
  /// The memory of all stacks.
  const char* begin() const { return base_; }
  std::size_t bytes() const { return slot_ * count_; }
  /// Whether \p address lies in a guard page: a stack overflow.
  bool in_guard(const void* address) const;

 private:
  char* base_ = nullptr;
  std::size_t count_, slot_, page_;
  std::size_t guards_ = 0;  // number of slots with a guard page; these are the first
};

}  // namespace tuner::host
