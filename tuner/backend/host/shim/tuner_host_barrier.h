#pragma once
/// Barriers in memory (PTX ISA, "mbarrier"), for all headers that have them. Copies end before they return, so a
/// barrier never waits for one.
#include "tuner_host.h"

namespace tuner_host {

/// An mbarrier. A token is the state before an arrival.
struct BarrierState {
  unsigned long long pending : 20, expected : 20;
  long long bytes : 21;  // that are expected, less those that have come
  unsigned long long phase : 3;
};
static_assert(sizeof(BarrierState) == 8);

inline BarrierState barrier_state(unsigned long long bits) { return __builtin_bit_cast(BarrierState, bits); }
inline unsigned long long load_barrier(const void* at) {
  return __atomic_load_n(static_cast<const unsigned long long*>(at), __ATOMIC_ACQUIRE);
}
constexpr unsigned kMostArrivals = (1u << 20) - 1;

inline void init_barrier(void* at, unsigned count) {
  const BarrierState state{count, count, 0, 0};
  __atomic_store_n(static_cast<unsigned long long*>(at), __builtin_bit_cast(unsigned long long, state),
                   __ATOMIC_RELEASE);
}

struct NoCompletion {
  void operator()() const {}
};

/// \p arrivals at the barrier \p at, of which \p dropped do not come again. \p bytes more are expected, or fewer.
/// Before the phase ends, the last calls \p completion. Returns the token.
template <typename Completion = NoCompletion>
inline unsigned long long arrive_at(void* at, unsigned arrivals, unsigned dropped, long long bytes, const char* file,
                                    int line, Completion completion = {}) {
  unsigned long long* const bits = static_cast<unsigned long long*>(at);
  bool ends = false;
  const unsigned long long before = atomic_update(bits, [&](unsigned long long old) {
    BarrierState state = barrier_state(old);
    if (state.pending < arrivals)
      api->fail(context.block, "more threads arrive at a barrier than its init() said, or it has none", file, line);
    state.pending -= arrivals;
    state.expected -= dropped;
    state.bytes += bytes;
    ends = state.pending == 0 && state.bytes == 0;
    return __builtin_bit_cast(unsigned long long, state);
  });
  if (!ends) return before;
  completion();
  BarrierState state = barrier_state(load_barrier(at));
  state.pending = state.expected;
  ++state.phase;
  __atomic_store_n(bits, __builtin_bit_cast(unsigned long long, state), __ATOMIC_RELEASE);
  api->change(context.block);
  return before;
}

/// Whether the phase has ended to which \p token belongs, or which has this \p parity.
inline bool has_ended(const void* at, unsigned long long token) {
  return barrier_state(load_barrier(at)).phase != barrier_state(token).phase;
}
inline bool has_parity_ended(const void* at, bool parity) {
  return (barrier_state(load_barrier(at)).phase & 1u) != parity;
}

/// Waits until \p ended() is true.
template <typename Ended>
inline void await_barrier(const void* at, const char* name, const char* file, int line, Ended ended) {
  while (!ended()) api->await(context.block, at, false, name, file, line);
}
/// Waits for some time, as `try_wait` in PTX: while other threads can run.
template <typename Ended>
inline bool try_barrier(const void* at, const char* name, const char* file, int line, Ended ended) {
  if (ended()) return true;
  api->await(context.block, at, true, name, file, line);
  return ended();
}
/// Does not wait. Kernels call this in loops, in which other threads must run.
template <typename Ended>
inline bool test_barrier(Ended ended) {
  if (ended()) return true;
  api->yield(context.block);
  return ended();
}

}  // namespace tuner_host
