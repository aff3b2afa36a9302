#pragma once
/// The dynamic shared memory of the blocks that one operating-system thread runs: as long as the launch says, and what
/// a kernel does beyond that shows.

#include <cstddef>

namespace tuner::host {

class SharedArena {
 public:
  /// Up to \p most bytes. Throws Error when the address space is full.
  explicit SharedArena(std::size_t most);
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// The same for its life; aligned to a page.
  void* begin() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  /// From now on there are so many bytes: behind them up to the end of their page canaries, then nothing.
  void resize(std::size_t bytes);
  /// Whether nobody wrote behind them since this was last asked.
  bool is_intact();
  /// Whether \p address lies where there is nothing.
  bool is_beyond(const void* address) const;

 private:
  std::size_t up_to_page(std::size_t bytes) const { return (bytes + page_ - 1) / page_ * page_; }

  char* base_ = nullptr;
  const std::size_t page_, most_;
  std::size_t bytes_ = 0;
  std::size_t open_ = 0;  // bytes of pages that are there
};

}  // namespace tuner::host
