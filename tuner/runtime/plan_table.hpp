#pragma once
/// The plans of one kernel in one context, found without a lock: readers probe an array of atomic pointers, writers
/// fill its empty slots and publish a larger one when it is half full. A plan for certain sizes alone stands where
/// these sizes lead, every other where its class does: the time of a lookup does not depend on how many there are.
///
/// Plans and outgrown arrays are kept until the table dies, so that a reader never sees one disappear. Past kMaxPlans,
/// plans go to a table of kMaxRecent, in which a new one takes the place of an old one. That has a lock.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tuner/runtime/plan.hpp>

namespace tuner::runtime {

class PlanTable {
 public:
  static constexpr std::size_t kMaxPlans = 16384, kMaxRecent = 4096;
  /// Plans of one class that a lookup may have to try. Further ones are for the sizes that they were made for.
  static constexpr std::size_t kMaxOfClass = 8;

  /// The plan of \p key that admits \p sizes, and their shapes; null when there is none yet.
  const Plan* find(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) const {
    const Slots* slots = current_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    if (const Plan* plan = probe(*slots, key.hash(), key, sizes, shapes)) [[likely]]
      return plan;
    return find_single(*slots, key, sizes, shapes);
  }
  /// The same among those past kMaxPlans.
  std::shared_ptr<const Plan> find_recent(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes);

  /// The plan that served \p sizes last, also one from before renew(); null when there was none. A capture goes on with
  /// it.
  std::shared_ptr<const Plan> find_last(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes);
  /// Remembers that there is room for \p captures of \p plan.
  void set_captures(const Plan& plan, std::size_t captures);
  /// Of the plan that find_last() finds. One that takes its place needs room for as many.
  std::size_t last_captures(const PlanKey& key, const Sizes& sizes);

  /// How often renew() was called.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// Keeps \p plan, made for \p sizes of results that were looked up in \p generation, unless new ones have arrived
  /// since. Answers with the plan to use: an equal one that was there already, perhaps. \p for_now: renew_what_waits()
  /// concerns it.
  std::shared_ptr<const Plan> insert(std::shared_ptr<Plan> plan, const Sizes& sizes, std::uint64_t generation,
                                     bool for_now = false);
  /// Makes find() miss every plan so far: new wisdom has arrived.
  void renew();
  /// renew() where a plan was made for now.
  void renew_what_waits();

 private:
  struct Kept {
    std::shared_ptr<const Plan> plan;
    std::uint64_t generation = 0;  ///< the last in which it was good
    std::size_t captures = 0;
  };
  using Slots = std::vector<std::atomic<const Plan*>>;  // a power of two, at most half full: probing ends at a null

  static const Plan* probe(const Slots& slots, std::uint64_t place, const PlanKey& key, const Sizes& sizes,
                           Plan::Shapes& shapes) {
    for (std::size_t i = place;; ++i) {
      const Plan* plan = slots[i & (slots.size() - 1)].load(std::memory_order_acquire);
      if (plan == nullptr || (plan->key == key && plan->admits(sizes, shapes))) return plan;
    }
  }
  /// Among the plans for certain sizes alone. Apart, so that find() stays small.
  [[gnu::noinline]] static const Plan* find_single(const Slots& slots, const PlanKey& key, const Sizes& sizes,
                                                   Plan::Shapes& shapes);
  static std::uint64_t place_of(const Plan& plan) { return plan.only ? plan.key.hash_of(*plan.only) : plan.key.hash(); }
  static void add(Slots& slots, const Plan& plan);
  std::size_t of_class(const PlanKey& key) const;
  void publish(const Plan& plan);
  void renew_locked();
  const Kept* last(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) const;

  std::atomic<Slots*> current_{nullptr};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<bool> has_recent_{false};
  std::mutex writing_;  // of all below
  std::vector<std::unique_ptr<Slots>> arrays_;
  std::unordered_multimap<std::uint64_t, Kept> plans_;  // by place_of(), of all generations
  std::vector<const Plan*> in_current_;
  std::vector<std::shared_ptr<const Plan>> recent_;  // four for each place
  std::size_t next_recent_ = 0;
  bool some_wait_ = false;
};

}  // namespace tuner::runtime
