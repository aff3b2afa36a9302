#include <tuner/runtime/miss_counter.hpp>

#include <tuner/core/error.hpp>

namespace tuner::runtime {

MissCounter::MissCounter(Miss& miss, Backend& backend) : miss_(miss) {
  try {
    watch_ = backend.stopwatch();
  } catch (const Error&) {  // without a stopwatch nothing is timed, but launches work
  }
}

bool MissCounter::begin(void* stream) {
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  if (watch_ && unread_) read();
  if (timings_ == kTimings) watch_.reset();
  if (watch_ && !unread_) {
    watch_->start(stream);
    return true;
  }
  busy_.store(false, std::memory_order_release);
  return false;
}

void MissCounter::end(void* stream) {
  watch_->stop(stream);
  unread_ = true;
  read();
  busy_.store(false, std::memory_order_release);
}

/// Reads the last time if the device has finished.
void MissCounter::read() {
  const std::optional<double> ns = watch_->elapsed_ns();
  if (!ns) return;
  unread_ = false;
  ++timings_;
  const double known = miss_.each_ns.load(std::memory_order_relaxed);
  if (*ns > 0 && (known == 0 || *ns < known)) miss_.each_ns.store(*ns, std::memory_order_relaxed);
}

}  // namespace tuner::runtime
