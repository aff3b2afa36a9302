#include <tuner/runtime/plan_table.hpp>

#include <algorithm>
#include <bit>

namespace tuner::runtime {

void PlanTable::Slots::add(const Plan* plan) {
  std::size_t i = plan->key().hash();
  while (plans[i & mask].load(std::memory_order_relaxed) != nullptr) ++i;
  plans[i & mask].store(plan, std::memory_order_release);
}

const Plan& PlanTable::insert(std::unique_ptr<Plan> plan) {
  const std::lock_guard lock(writing_);
  if (const Plan* known = find(plan->key())) return *known;
  plans_.push_back(std::move(plan));
  const std::size_t kept = plans_.size() - first_current_;
  Slots* slots = current_.load(std::memory_order_relaxed);
  if (slots != nullptr && 2 * kept <= slots->mask) {
    slots->add(plans_.back().get());
    return *plans_.back();
  }
  arrays_.push_back(std::make_unique<Slots>(std::bit_ceil(std::max<std::size_t>(16, 4 * kept))));
  for (std::size_t i = first_current_; i < plans_.size(); ++i) arrays_.back()->add(plans_[i].get());
  current_.store(arrays_.back().get(), std::memory_order_release);
  return *plans_.back();
}

bool PlanTable::full() const {
  const std::lock_guard lock(writing_);
  return plans_.size() >= kMaxPlans;
}

void PlanTable::renew() {
  const std::lock_guard lock(writing_);
  first_current_ = plans_.size();
  current_.store(nullptr, std::memory_order_release);
}

}  // namespace tuner::runtime
