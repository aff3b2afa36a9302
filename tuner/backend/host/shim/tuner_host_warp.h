#pragma once
/// Warp functions: CUDA C++ Programming Guide, "Warp Vote", "Warp Match", "Warp Reduce" and "Warp Shuffle Functions".
/// Every lane of the mask that has not returned must come; reading a lane outside the mask is an error.

namespace tuner_host {

inline unsigned long long meet_warp(int operation, unsigned mask, unsigned long long value, unsigned lane,
                                    const char* file, int line) {
  return api->meet_warp(context.block, operation, mask, value, lane, file, line);
}

template <typename T>
inline T shuffle(unsigned mask, T value, unsigned source, const char* file, int line) {
  static_assert(sizeof(T) <= 8, "shuffles move values of up to 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = meet_warp(kShuffle, mask, bits, source, file, line);
  T result = value;
  __builtin_memcpy(&result, &bits, sizeof(T));
  return result;
}

}  // namespace tuner_host

inline void __syncwarp(unsigned mask = 0xffffffffu, TUNER_HOST_SITE) {
  tuner_host::meet_warp(tuner_host::kSyncWarp, mask, 0, 0, file, line);
}

/// The lanes that come here before they wait elsewhere. CUDA promises less, but kernels expect it.
inline unsigned __activemask(TUNER_HOST_SITE) {
  return static_cast<unsigned>(tuner_host::meet_warp(tuner_host::kActiveMask, ~0u, 0, 0, file, line));
}

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, TUNER_HOST_SITE) {
  const unsigned base = tuner_host::lane() & ~(static_cast<unsigned>(width) - 1u);
  return tuner_host::shuffle(mask, value, base + (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1u)),
                             file, line);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, TUNER_HOST_SITE) {
  const unsigned lane = tuner_host::lane();
  const unsigned within = lane & (static_cast<unsigned>(width) - 1u);
  return tuner_host::shuffle(mask, value, within < delta ? lane : lane - delta, file, line);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, TUNER_HOST_SITE) {
  const unsigned lane = tuner_host::lane();
  const unsigned within = lane & (static_cast<unsigned>(width) - 1u);
  const bool inside = delta < static_cast<unsigned>(width) && within + delta < static_cast<unsigned>(width);
  return tuner_host::shuffle(mask, value, inside ? lane + delta : lane, file, line);
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, TUNER_HOST_SITE) {
  // A target in a later group of `width` lanes gives the lane's own value; one in an earlier group is read.
  const unsigned lane = tuner_host::lane();
  const unsigned target = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned last = lane | (static_cast<unsigned>(width) - 1u);
  return tuner_host::shuffle(mask, value, target > last ? lane : target, file, line);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, TUNER_HOST_SITE) {
  return static_cast<unsigned>(tuner_host::meet_warp(tuner_host::kBallot, mask, predicate != 0, 0, file, line));
}
inline int __any_sync(unsigned mask, int predicate, TUNER_HOST_SITE) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, TUNER_HOST_SITE) {
  return __ballot_sync(mask, predicate == 0, file, line) == 0;
}

template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, TUNER_HOST_SITE) {
  static_assert(sizeof(T) <= 8);
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return static_cast<unsigned>(tuner_host::meet_warp(tuner_host::kMatchAny, mask, bits, 0, file, line));
}
template <typename T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all, TUNER_HOST_SITE) {
  const unsigned equal = __match_any_sync(mask, value, file, line);
  const int whole = __all_sync(mask, __builtin_popcount(equal) == __builtin_popcount(mask), file, line);
  if (all != nullptr) *all = whole;
  return whole ? equal : 0u;
}

#define TUNER_HOST_REDUCE(name, type, operation)                                                          \
  inline type __reduce_##name##_sync(unsigned mask, type value, TUNER_HOST_SITE) {                        \
    return static_cast<type>(                                                                             \
        tuner_host::meet_warp(tuner_host::operation, mask, static_cast<unsigned>(value), 0, file, line)); \
  }
TUNER_HOST_REDUCE(add, unsigned, kAdd)
TUNER_HOST_REDUCE(add, int, kAdd)
TUNER_HOST_REDUCE(min, unsigned, kMinUnsigned)
TUNER_HOST_REDUCE(min, int, kMinSigned)
TUNER_HOST_REDUCE(max, unsigned, kMaxUnsigned)
TUNER_HOST_REDUCE(max, int, kMaxSigned)
TUNER_HOST_REDUCE(and, unsigned, kAnd)
TUNER_HOST_REDUCE(or, unsigned, kOr)
TUNER_HOST_REDUCE(xor, unsigned, kXor)
#undef TUNER_HOST_REDUCE
