#pragma once
/// The plans of one kernel, found without a lock: readers probe an array of atomic pointers, writers fill
/// its empty slots and publish a larger one when it is half full. Plans and outgrown arrays are kept until the table
/// dies, so that a reader never sees one disappear; the number of plans is therefore bounded (see full()).

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tuner/runtime/plan.hpp>

namespace tuner::runtime {

class PlanTable {
 public:
  static constexpr std::size_t kMaxPlans = 4096;

  /// Nothing when there is no plan for \p key yet.
  const Plan* find(const PlanKey& key) const noexcept {
    const Slots* slots = current_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    for (std::size_t i = key.hash();; ++i) {
      const Plan* plan = slots->plans[i & slots->mask].load(std::memory_order_acquire);
      if (plan == nullptr || plan->key() == key) return plan;
    }
  }

  /// Adds \p plan, or returns the one that another thread added first. The table must not be full().
  const Plan& insert(std::unique_ptr<Plan> plan);
  /// True once kMaxPlans are kept; a caller with ever new sizes then launches plans of its own.
  bool full() const;
  /// Forgets nothing, but makes find() miss every plan so far: new wisdom has arrived.
  void renew();

 private:
  struct Slots {
    explicit Slots(std::size_t capacity) : mask(capacity - 1), plans(capacity) {}
    void add(const Plan* plan);
    std::size_t mask;
    std::vector<std::atomic<const Plan*>> plans;  // at most half full; probing ends at a null
  };

  std::atomic<Slots*> current_{nullptr};
  mutable std::mutex writing_;
  std::vector<std::unique_ptr<Slots>> arrays_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::size_t first_current_ = 0;  // plans before this one were renewed
};

}  // namespace tuner::runtime
