#include <tuner/runtime/plan_table.hpp>

#include <algorithm>
#include <bit>

namespace tuner::runtime {

void PlanTable::add(Slots& slots, const Plan& plan) {
  std::size_t i = plan.key.hash();
  while (slots[i & (slots.size() - 1)].load(std::memory_order_relaxed) != nullptr) ++i;
  slots[i & (slots.size() - 1)].store(&plan, std::memory_order_release);
}

void PlanTable::insert(std::unique_ptr<Plan>& plan) {
  const std::lock_guard lock(writing_);
  if (plans_.size() == kMaxPlans) return;
  plans_.push_back(std::move(plan));
  const std::size_t kept = plans_.size() - first_current_;
  Slots* slots = current_.load(std::memory_order_relaxed);
  if (slots != nullptr && 2 * kept <= slots->size()) return add(*slots, *plans_.back());
  slots = arrays_.emplace_back(std::make_unique<Slots>(std::bit_ceil(std::max<std::size_t>(16, 4 * kept)))).get();
  for (std::size_t i = first_current_; i < plans_.size(); ++i) add(*slots, *plans_[i]);
  current_.store(slots, std::memory_order_release);
}

void PlanTable::renew() {
  const std::lock_guard lock(writing_);
  first_current_ = plans_.size();
  current_.store(nullptr, std::memory_order_release);
}

}  // namespace tuner::runtime
