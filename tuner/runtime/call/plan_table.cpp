#include <tuner/runtime/call/plan_table.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace tuner::runtime {
namespace {

/// Whether \p old, which admits the sizes of \p made, launches the same for all sizes.
bool is_same(const Plan& old, const Plan& made) {
  const bool same_apart =
      old.apart && made.apart ? *old.apart == *made.apart : old.apart == nullptr && made.apart == nullptr;
  const bool same_in_graphs = (old.in_graphs == nullptr) == (made.in_graphs == nullptr) &&
                              (old.in_graphs == nullptr || is_same(*old.in_graphs, *made.in_graphs));
  return same_in_graphs && old.key == made.key && old.only == made.only && same_apart && old.module == made.module &&
         old.configuration == made.configuration && (old.missed == nullptr) == (made.missed == nullptr);
}

}  // namespace

const Plan* PlanTable::find_single(const Slots& slots, const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) {
  return probe(slots, key.hash_of(sizes), key, sizes, shapes);
}

void PlanTable::add(Slots& slots, const Plan& plan) {
  std::size_t i = place_of(plan);
  while (slots[i & (slots.size() - 1)].load(std::memory_order_relaxed) != nullptr) ++i;
  slots[i & (slots.size() - 1)].store(&plan, std::memory_order_release);
}

std::size_t PlanTable::of_class(const PlanKey& key) const {
  const Slots* slots = current_.load(std::memory_order_relaxed);
  std::size_t count = 0;
  if (slots == nullptr) return count;
  for (std::size_t i = key.hash();; ++i) {
    const Plan* plan = (*slots)[i & (slots->size() - 1)].load(std::memory_order_relaxed);
    if (plan == nullptr) return count;
    count += plan->key == key && !plan->only;
  }
}

void PlanTable::publish(const Plan& plan) {
  in_current_.push_back(&plan);
  const std::size_t kept = in_current_.size();
  Slots* slots = current_.load(std::memory_order_relaxed);
  if (slots != nullptr && 2 * kept <= slots->size()) return add(*slots, plan);
  slots = arrays_.emplace_back(std::make_unique<Slots>(std::bit_ceil(std::max<std::size_t>(16, 4 * kept)))).get();
  for (const Plan* current : in_current_) add(*slots, *current);
  current_.store(slots, std::memory_order_release);
}

std::shared_ptr<const Plan> PlanTable::insert(std::shared_ptr<Plan> plan, const Sizes& sizes, std::uint64_t generation,
                                              bool for_now, bool from_user) {
  const std::lock_guard lock(writing_);
  const std::uint64_t now = generation_.load(std::memory_order_relaxed);
  if (generation < discarded_before_ || (from_user && generation != now)) return plan;
  some_wait_ = some_wait_ || for_now;
  from_user_since_look_ = from_user_since_look_ || from_user;
  if (!plan->only && of_class(plan->key) >= kMaxOfClass) plan->only = sizes;
  const std::uint64_t place = place_of(*plan);
  // New results seldom concern all classes of a kernel: an equal plan from before is used again.
  const auto [first, last] = plans_.equal_range(place);
  for (auto at = first; at != last; ++at) {
    Plan::Shapes shapes;
    Kept& old = at->second;
    if (!is_same(*old.plan, *plan) || !old.plan->admits(sizes, shapes)) continue;
    const bool is_current = std::find(in_current_.begin(), in_current_.end(), old.plan.get()) != in_current_.end();
    if (!is_current) publish(*old.plan);
    old.generation = now;
    return old.plan;
  }
  if (plans_.size() < kMaxPlans) {
    plans_.emplace(place, Kept{plan, now});
    publish(*plan);
    return plan;
  }
  if (recent_.size() == kMaxRecent) recent_.erase(recent_.begin());
  recent_.emplace(place, plan);
  has_recent_.store(true, std::memory_order_release);
  return plan;
}

std::shared_ptr<const Plan> PlanTable::find_recent(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) {
  if (!has_recent_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(writing_);
  for (const std::uint64_t place : {key.hash(), key.hash_of(sizes)}) {
    const auto [first, last] = recent_.equal_range(place);
    for (auto at = first; at != last; ++at)
      if (at->second->key == key && at->second->admits(sizes, shapes)) return at->second;
  }
  return nullptr;
}

std::shared_ptr<const Plan> PlanTable::find_last(const PlanKey& key, const Sizes& sizes, Plan::Shapes& shapes) {
  const std::lock_guard lock(writing_);
  const Kept* found = nullptr;
  for (const std::uint64_t place : {key.hash(), key.hash_of(sizes)}) {
    const auto [first, last] = plans_.equal_range(place);
    for (auto at = first; at != last; ++at) {
      const Kept& kept = at->second;
      const bool is_later = found == nullptr || kept.generation > found->generation;
      if (is_later && kept.plan->key == key && kept.plan->admits(sizes, shapes)) found = &kept;
    }
  }
  if (found == nullptr) return nullptr;
  found->plan->admits(sizes, shapes);  // sets the shapes of this one
  return found->plan;
}

void PlanTable::renew(RenewedPlans which) {
  const std::lock_guard lock(writing_);
  if (which == RenewedPlans::none) from_user_before_look_ = std::exchange(from_user_since_look_, false);
  const bool must = which == RenewedPlans::all || (which == RenewedPlans::waiting && some_wait_) ||
                    (which == RenewedPlans::recent && (from_user_before_look_ || from_user_since_look_));
  if (must || which == RenewedPlans::recent) generation_.fetch_add(1, std::memory_order_release);
  if (!must) return;
  discarded_before_ = generation_.load(std::memory_order_relaxed);
  if (Slots* const slots = current_.load(std::memory_order_relaxed))
    for (std::atomic<const Plan*>& slot : *slots) slot.store(nullptr, std::memory_order_release);
  in_current_.clear();
  recent_.clear();
  has_recent_ = false;
  some_wait_ = from_user_since_look_ = from_user_before_look_ = false;
}

}  // namespace tuner::runtime
