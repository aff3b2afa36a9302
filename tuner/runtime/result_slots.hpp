#pragma once
/// Device memory for the results of calls that return a value: slots of 16 bytes, each for one call at a time.

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

class ResultSlots {
 public:
  explicit ResultSlots(Backend& backend) : memory_(backend.allocate(kBytes * 64)) {}

  class Loan {
   public:
    explicit Loan(ResultSlots& owner) : owner_(owner) {
      std::uint64_t free = owner_.free_.load(std::memory_order_relaxed);
      // If 64 threads use a slot, this one waits.
      while (free == 0 || !owner_.free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
        if (free == 0) owner_.free_.wait(0, std::memory_order_relaxed);
        free = owner_.free_.load(std::memory_order_relaxed);
      }
      index_ = std::countr_zero(free);
    }
    ~Loan() {
      if (owner_.free_.fetch_or(std::uint64_t{1} << index_, std::memory_order_release) == 0) owner_.free_.notify_all();
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    DevicePointer address() const { return owner_.memory_->address() + static_cast<std::size_t>(index_) * kBytes; }

   private:
    ResultSlots& owner_;
    int index_;
  };

 private:
  static constexpr std::size_t kBytes = 16;
  std::unique_ptr<DeviceMemory> memory_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};  // one bit for each slot
};

}  // namespace tuner::runtime
