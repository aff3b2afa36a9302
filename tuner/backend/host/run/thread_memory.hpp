#pragma once
/// The memory that an operating-system thread gives the kernel threads of its blocks: stacks and shared memory.

#include <cstddef>

namespace tuner::host {

/// Address space from the system; a page takes memory when it is first touched.
class Mapping {
 public:
  /// Throws Error if the address space is full. \p purpose: for the message.
  Mapping(std::size_t bytes, int protection, const char* purpose);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  char* begin_;
  std::size_t bytes_;
};

/// Stacks for fibers: one mapping, divided into equal slots. Slots are used again.
class StackPool {
 public:
  /// Room for \p count stacks of \p bytes each (rounded up to pages). Throws Error when the address space is full.
  StackPool(std::size_t count, std::size_t bytes);
  ~StackPool();

  struct Stack {
    char* bottom = nullptr;  ///< lowest usable address, above a guard page if the system has room for one
    char* top = nullptr;     ///< highest; differs between stacks, so that equal frames use different cache sets
    std::size_t bytes() const { return static_cast<std::size_t>(top - bottom); }
  };
  Stack stack(std::size_t index) const;
  /// The memory of all stacks.
  const char* begin() const { return memory_.begin(); }
  std::size_t bytes() const { return memory_.bytes(); }
  /// Whether \p address lies in a guard page: a stack overflow.
  bool in_guard(const void* address) const;

 private:
  std::size_t slot_;
  Mapping memory_;
  std::size_t guards_ = 0;  // number of slots with a guard page; these are the first
};

/// The dynamic shared memory of the running block. It has the size of the launch, and accesses beyond it are found.
class SharedArena {
 public:
  /// \p most: the largest size. Throws Error when the address space is full.
  explicit SharedArena(std::size_t most);
  ~SharedArena();

  /// Never changes; aligned to a page.
  void* begin() const { return memory_.begin(); }
  std::size_t bytes() const { return bytes_; }
  /// Sets the size. Canaries follow up to the end of the last page; memory beyond it cannot be accessed.
  void resize(std::size_t bytes);
  /// Writes overwritten canaries again. Returns whether there were none.
  bool restore_canaries();
  /// Whether \p address is in the reserved memory that cannot be accessed.
  bool is_beyond(const void* address) const;

 private:
  const std::size_t most_;
  Mapping memory_;
  std::size_t bytes_ = 0;
  std::size_t open_ = 0;  // bytes that can be accessed: whole pages
};

}  // namespace tuner::host
