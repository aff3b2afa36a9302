#include <tuner/backend/host/run/grid_barrier.hpp>

#include <chrono>

namespace tuner::host {

void GridBarrier::begin(std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  blocks_ = blocks;
  waiting_ = returned_ = 0;
}

GridBarrier::Meeting GridBarrier::meet(const int* stop) {
  std::unique_lock lock(mutex_);
  const std::uint64_t before = meetings_;
  if (++waiting_ == blocks_) {
    waiting_ = 0;
    ++meetings_;
    changed_.notify_all();
    return Meeting::met;
  }
  while (meetings_ == before) {
    if (__atomic_load_n(stop, __ATOMIC_RELAXED) != 0) return Meeting::stopped;
    if (returned_ != 0) return Meeting::left_alone;
    changed_.wait_for(lock, std::chrono::milliseconds(5));  // a stop sends no notification
  }
  return Meeting::met;
}

void GridBarrier::leave() {
  const std::lock_guard lock(mutex_);
  ++returned_;
  changed_.notify_all();
}

}  // namespace tuner::host
