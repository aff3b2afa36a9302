#pragma once
/// The dynamic shared memory of the blocks that one operating-system thread runs. It has the size of the launch, and
/// accesses beyond it are found.

#include <cstddef>

namespace tuner::host {

class SharedArena {
 public:
  /// \p most: the largest size. Throws Error when the address space is full.
  explicit SharedArena(std::size_t most);
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// Never changes; aligned to a page.
  void* begin() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  /// Sets the size. Canaries follow up to the end of the last page; memory beyond it cannot be accessed.
  void resize(std::size_t bytes);
  /// Whether no canary was overwritten since the last call.
  bool is_intact();
  /// Whether \p address is in the reserved memory that cannot be accessed.
  bool is_beyond(const void* address) const;

 private:
  std::size_t up_to_page(std::size_t bytes) const { return (bytes + page_ - 1) / page_ * page_; }

  char* base_ = nullptr;
  const std::size_t page_, most_;
  std::size_t bytes_ = 0;
  std::size_t open_ = 0;  // bytes that can be accessed: whole pages
};

}  // namespace tuner::host
