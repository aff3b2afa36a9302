#pragma once
/// One T for each device context, found without a lock. Creating one for a new context destroys those of contexts that
/// have died, so at most kCapacity of them exist.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <tuner/backend/gpu.hpp>
#include <tuner/error.hpp>

namespace tuner::runtime {

template <typename T>
class ByContext {
 public:
  static constexpr std::size_t kCapacity = 256;  ///< contexts that are alive at once

  /// Null if there is none yet. As in CUDA, the caller must not destroy a context while calls use it: the result is
  /// valid as long as the context lives.
  T* find(std::uint64_t context) const {
    for (const Slot& slot : slots_) {
      const std::uint64_t id = slot.id.load(std::memory_order_acquire);
      if (id == context) return slot.value.get();
      if (id == 0) return nullptr;
    }
    return nullptr;
  }

  /// Returns the T of \p context; makes it with make(), which returns std::unique_ptr<T>, if there is none. Only one
  /// thread at a time makes one. Throws Error for too many contexts.
  template <typename Make>
  T& get(const ContextName& context, const Make& make) {
    const std::lock_guard lock(making_);
    if (T* known = find(context.id)) return *known;
    Slot* free = nullptr;
    for (Slot& slot : slots_) {
      if (slot.id == 0 && free != nullptr) break;
      if (slot.id != 0 && slot.id != kEmptied && is_alive({slot.id, slot.handle})) continue;
      if (slot.id != 0) slot.id = kEmptied;  // set before the value goes, so that other lookups pass by
      slot.value.reset();
      if (free == nullptr) free = &slot;
      if (slot.id == 0) break;
    }
    if (free == nullptr) throw Error("more than " + std::to_string(kCapacity) + " device contexts in one process");
    free->value = make();
    free->handle = context.handle;
    free->id.store(context.id, std::memory_order_release);
    return *free->value;
  }

  template <typename Do>
  void for_each(const Do& act) {
    const std::lock_guard lock(making_);
    for (Slot& slot : slots_) {
      if (slot.value) act(*slot.value);
    }
  }

 private:
  static constexpr std::uint64_t kEmptied = ~std::uint64_t{1};  // not the id of a context; 0 ends the slots in use
  struct Slot {
    std::atomic<std::uint64_t> id{0};
    std::uintptr_t handle = 0;
    std::unique_ptr<T> value;
  };
  std::mutex making_;
  Slot slots_[kCapacity];
};

}  // namespace tuner::runtime
