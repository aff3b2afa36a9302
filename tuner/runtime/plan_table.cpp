#include <tuner/runtime/plan_table.hpp>

#include <algorithm>
#include <bit>

namespace tuner::runtime {

void PlanTable::Slots::add(const Plan* plan) {
  if (const Plan* of_key = find(plan->key())) {
    while (const Plan* next = of_key->next.load(std::memory_order_relaxed)) of_key = next;
    if (of_key != plan) of_key->next.store(plan, std::memory_order_release);
    return;
  }
  std::size_t i = plan->key().hash();
  while (plans[i & mask].load(std::memory_order_relaxed) != nullptr) ++i;
  plans[i & mask].store(plan, std::memory_order_release);
}

const Plan* PlanTable::insert(std::unique_ptr<Plan>& plan) {
  const std::lock_guard lock(writing_);
  if (plans_.size() == kMaxPlans) return nullptr;
  plans_.push_back(std::move(plan));
  const std::size_t kept = plans_.size() - first_current_;
  Slots* slots = current_.load(std::memory_order_relaxed);
  if (slots != nullptr && 2 * kept <= slots->mask) {
    slots->add(plans_.back().get());
    return plans_.back().get();
  }
  arrays_.push_back(std::make_unique<Slots>(std::bit_ceil(std::max<std::size_t>(16, 4 * kept))));
  for (std::size_t i = first_current_; i < plans_.size(); ++i) {
    // Those that follow the first of their key hang on it already.
    if (arrays_.back()->find(plans_[i]->key()) == nullptr || i + 1 == plans_.size()) {
      arrays_.back()->add(plans_[i].get());
    }
  }
  current_.store(arrays_.back().get(), std::memory_order_release);
  return plans_.back().get();
}

void PlanTable::renew() {
  const std::lock_guard lock(writing_);
  first_current_ = plans_.size();
  current_.store(nullptr, std::memory_order_release);
}

}  // namespace tuner::runtime
