#pragma once
/// The plans of one kernel in one context, found without a lock. Readers probe an array of atomic pointers. Writers
/// fill empty slots and publish a larger array when half are full. Plans for certain sizes are hashed by these sizes,
/// all others by their class, so the time of a lookup does not depend on how many there are.
///
/// Plans and old arrays live as long as the table, so a reader never loses one. After kMaxPlans, plans go to a table of
/// kMaxRecent with a lock, which is emptied when it is full.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/call/plan.hpp>

namespace tuner::runtime {

class PlanTable {
 public:
  static constexpr std::size_t kMaxPlans = 16384, kMaxRecent = 4096;
  /// A lookup may try this many plans of one class. Further plans are only for the sizes that they were made for.
  static constexpr std::size_t kMaxOfClass = 8;

  /// The plan of \p key that admits \p sizes, and its shapes; null if there is none.
  const Plan* find(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) const {
    const Slots* slots = current_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    if (const Plan* plan = probe(*slots, key.hash(), key, sizes, shapes)) [[likely]]
      return plan;
    return find_single(*slots, key, sizes, shapes);
  }
  /// The same for plans after the first kMaxPlans.
  std::shared_ptr<const Plan> find_recent(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes);

  /// The plan that served \p sizes last, even before renew(); null if there is none. For captures.
  std::shared_ptr<const Plan> find_last(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes);
  /// Grows whenever a plan that is being made now may have to be decided again.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// Adds \p plan, made for \p sizes from results of \p generation, unless renew() has discarded such plans since.
  /// Returns the plan to use, which may be an equal one from before. \p for_now: the plan waits for something that will
  /// end. \p from_user: it comes from the user's database.
  std::shared_ptr<const Plan> insert(std::shared_ptr<Plan> plan, const Sizes& sizes, std::uint64_t generation,
                                     bool for_now = false, bool from_user = false);
  /// Discards plans for find().
  void renew(RenewedPlans which);

 private:
  struct Kept {
    std::shared_ptr<const Plan> plan;
    std::uint64_t generation = 0;  ///< the last one in which it was valid
  };
  using Slots = std::vector<std::atomic<const Plan*>>;  // a power of two; half full at most, so probing ends

  static const Plan* probe(const Slots& slots, std::uint64_t place, const PlanKey& key, const Sizes& sizes,
                           Plan::Shapes& shapes) {
    for (std::size_t i = place;; ++i) {
      const Plan* plan = slots[i & (slots.size() - 1)].load(std::memory_order_acquire);
      if (plan == nullptr || (plan->key == key && plan->admits(sizes, shapes))) return plan;
    }
  }
  /// Searches the plans for certain sizes. Not inlined, so that find() stays small.
  [[gnu::noinline]] static const Plan* find_single(const Slots& slots, const PlanKey& key, const Sizes& sizes,
                                                   Plan::Shapes& shapes);
  static std::uint64_t place_of(const Plan& plan) { return plan.only ? plan.key.hash_of(*plan.only) : plan.key.hash(); }
  static void add(Slots& slots, const Plan& plan);
  std::size_t of_class(const PlanKey& key) const;
  void publish(const Plan& plan);

  std::atomic<Slots*> current_{nullptr};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<bool> has_recent_{false};
  std::mutex writing_;                  // guards all below
  std::uint64_t discarded_before_ = 0;  // plans of earlier generations are not valid
  std::vector<std::unique_ptr<Slots>> arrays_;
  std::unordered_multimap<std::uint64_t, Kept> plans_;  // by place_of(), from all generations
  std::vector<const Plan*> in_current_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Plan>> recent_;
  bool some_wait_ = false, from_user_since_look_ = false, from_user_before_look_ = false;
};

}  // namespace tuner::runtime
