#pragma once
/// CUDA C++ Programming Guide, "Memory Barrier Primitives Interface".
#include "tuner_host_barrier.h"

using __mbarrier_t = unsigned long long;
using __mbarrier_token_t = unsigned long long;

inline constexpr unsigned __mbarrier_maximum_count() { return tuner_host::kMostArrivals; }
inline void __mbarrier_init(__mbarrier_t* barrier, unsigned count) { tuner_host::init_barrier(barrier, count); }
inline void __mbarrier_inval(__mbarrier_t* barrier) { tuner_host::init_barrier(barrier, 0); }
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier, TUNER_HOST_SITE) {
  return tuner_host::arrive_at(barrier, 1, 0, 0, file, line);
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier, TUNER_HOST_SITE) {
  return tuner_host::arrive_at(barrier, 1, 1, 0, file, line);
}
inline unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return tuner_host::barrier_state(token).pending;
}
inline bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return tuner_host::test_barrier([=] { return tuner_host::has_ended(barrier, token); });
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  return tuner_host::test_barrier([=] { return tuner_host::has_parity_ended(barrier, parity); });
}
inline bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned = 0, TUNER_HOST_SITE) {
  return tuner_host::try_barrier(barrier, "__mbarrier_try_wait", file, line,
                                 [=] { return tuner_host::has_ended(barrier, token); });
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned = 0, TUNER_HOST_SITE) {
  return tuner_host::try_barrier(barrier, "__mbarrier_try_wait_parity", file, line,
                                 [=] { return tuner_host::has_parity_ended(barrier, parity); });
}
