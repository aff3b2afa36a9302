#pragma once
/// Instructions on the two halves or four bytes of a word: CUDA Math API, "SIMD Intrinsics".

namespace tuner_host {

/// Applies \p f to each lane of type L.
template <typename L, typename F>
unsigned by_lanes(unsigned a, unsigned b, F f) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(L)) {
    const int value = f(static_cast<int>(static_cast<L>(a >> at)), static_cast<int>(static_cast<L>(b >> at)));
    result |= (static_cast<unsigned>(value) & ((1u << 8 * sizeof(L)) - 1u)) << at;
  }
  return result;
}
template <typename L, typename F>
unsigned over_lanes(unsigned a, unsigned b, F f) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(L))
    result +=
        static_cast<unsigned>(f(static_cast<int>(static_cast<L>(a >> at)), static_cast<int>(static_cast<L>(b >> at))));
  return result;
}
template <typename L>
int within(int x) {
  constexpr int most = L(-1) > 0 ? (1 << 8 * sizeof(L)) - 1 : (1 << (8 * sizeof(L) - 1)) - 1;
  constexpr int least = L(-1) > 0 ? 0 : -most - 1;
  return x < least ? least : x > most ? most : x;
}

}  // namespace tuner_host

#define TUNER_HOST_LANES(name, over, L, ...)                                                   \
  inline unsigned name(unsigned a, unsigned b) {                                               \
    return tuner_host::over##_lanes<L>(a, b, [](int x, int y) -> int { return __VA_ARGS__; }); \
  }
#define TUNER_HOST_LANES_OF_ONE(name, L, ...)                                            \
  inline unsigned name(unsigned a) {                                                     \
    return tuner_host::by_lanes<L>(a, 0, [](int x, int) -> int { return __VA_ARGS__; }); \
  }
#define TUNER_HOST_COMPARE(count, name, L, comparison)                  \
  TUNER_HOST_LANES(__vcmp##name##count, by, L, x comparison y ? -1 : 0) \
  TUNER_HOST_LANES(__vset##name##count, by, L, x comparison y ? 1 : 0)
#define TUNER_HOST_SIMD(count, S, U)                                                 \
  TUNER_HOST_LANES_OF_ONE(__vabs##count, S, x < 0 ? -x : x)                          \
  TUNER_HOST_LANES_OF_ONE(__vabsss##count, S, tuner_host::within<S>(x < 0 ? -x : x)) \
  TUNER_HOST_LANES_OF_ONE(__vneg##count, S, -x)                                      \
  TUNER_HOST_LANES_OF_ONE(__vnegss##count, S, tuner_host::within<S>(-x))             \
  TUNER_HOST_LANES(__vadd##count, by, U, x + y)                                      \
  TUNER_HOST_LANES(__vaddss##count, by, S, tuner_host::within<S>(x + y))             \
  TUNER_HOST_LANES(__vaddus##count, by, U, tuner_host::within<U>(x + y))             \
  TUNER_HOST_LANES(__vsub##count, by, U, x - y)                                      \
  TUNER_HOST_LANES(__vsubss##count, by, S, tuner_host::within<S>(x - y))             \
  TUNER_HOST_LANES(__vsubus##count, by, U, tuner_host::within<U>(x - y))             \
  TUNER_HOST_LANES(__vavgs##count, by, S, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)       \
  TUNER_HOST_LANES(__vavgu##count, by, U, (x + y + 1) >> 1)                          \
  TUNER_HOST_LANES(__vhaddu##count, by, U, (x + y) >> 1)                             \
  TUNER_HOST_LANES(__vmaxs##count, by, S, x > y ? x : y)                             \
  TUNER_HOST_LANES(__vmaxu##count, by, U, x > y ? x : y)                             \
  TUNER_HOST_LANES(__vmins##count, by, S, x < y ? x : y)                             \
  TUNER_HOST_LANES(__vminu##count, by, U, x < y ? x : y)                             \
  TUNER_HOST_LANES(__vabsdiffs##count, by, S, x > y ? x - y : y - x)                 \
  TUNER_HOST_LANES(__vabsdiffu##count, by, U, x > y ? x - y : y - x)                 \
  TUNER_HOST_LANES(__vsads##count, over, S, x > y ? x - y : y - x)                   \
  TUNER_HOST_LANES(__vsadu##count, over, U, x > y ? x - y : y - x)                   \
  TUNER_HOST_COMPARE(count, eq, U, ==)                                               \
  TUNER_HOST_COMPARE(count, ne, U, !=)                                               \
  TUNER_HOST_COMPARE(count, ges, S, >=)                                              \
  TUNER_HOST_COMPARE(count, geu, U, >=)                                              \
  TUNER_HOST_COMPARE(count, gts, S, >)                                               \
  TUNER_HOST_COMPARE(count, gtu, U, >)                                               \
  TUNER_HOST_COMPARE(count, les, S, <=)                                              \
  TUNER_HOST_COMPARE(count, leu, U, <=)                                              \
  TUNER_HOST_COMPARE(count, lts, S, <)                                               \
  TUNER_HOST_COMPARE(count, ltu, U, <)
TUNER_HOST_SIMD(2, short, unsigned short)
TUNER_HOST_SIMD(4, signed char, unsigned char)
#undef TUNER_HOST_SIMD
#undef TUNER_HOST_COMPARE
#undef TUNER_HOST_LANES_OF_ONE
#undef TUNER_HOST_LANES
