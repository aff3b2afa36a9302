#pragma once
/// The plans of one kernel in one context, found without a lock: readers probe an array of atomic pointers, writers
/// fill its empty slots and publish a larger one when it is half full. Plans and outgrown arrays are kept until the
/// table dies, so that a reader never sees one disappear; the number of plans is therefore bounded.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tuner/runtime/plan.hpp>

namespace tuner::runtime {

class PlanTable {
 public:
  static constexpr std::size_t kMaxPlans = 16384;

  /// The plan of \p key that admits \p sizes, and their shapes; null when there is none yet.
  const Plan* find(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) const {
    const Slots* slots = current_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    for (std::size_t i = key.hash();; ++i) {
      const Plan* plan = (*slots)[i & (slots->size() - 1)].load(std::memory_order_acquire);
      if (plan == nullptr || (plan->key == key && plan->admits(sizes, shapes))) return plan;
    }
  }

  /// Keeps \p plan, where it is; a full table leaves it to the caller. Two plans for the same sizes may be added by two
  /// threads at once: the first is found.
  void insert(std::unique_ptr<Plan>& plan);
  /// Makes find() miss every plan so far: new wisdom has arrived.
  void renew();

 private:
  using Slots = std::vector<std::atomic<const Plan*>>;  // a power of two, at most half full: probing ends at a null
  static void add(Slots& slots, const Plan& plan);

  std::atomic<Slots*> current_{nullptr};
  std::mutex writing_;
  std::vector<std::unique_ptr<Slots>> arrays_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::size_t first_current_ = 0;  // plans before this one were renewed
};

}  // namespace tuner::runtime
