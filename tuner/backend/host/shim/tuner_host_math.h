#pragma once
/// Integer, conversion and mathematical device functions that have no standard C++ name: CUDA Math API, "Integer
/// Intrinsics", "Type Casting Intrinsics", "Single Precision Intrinsics". <math.h> gives the rest.
#include "tuner_host_rounding.h"

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32) |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31u)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31u));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = (selector >> (4 * i)) & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7u))) & 0xffu;
    if ((nibble & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>((a << 8) >> 8) * static_cast<unsigned>((b << 8) >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline unsigned __sad(int a, int b, unsigned sum) {
  return sum + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                      : static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 4; ++i) sum += ((a >> (8 * i)) & 0xffu) * ((b >> (8 * i)) & 0xffu);
  return sum;
}
inline int __dp4a(int a, int b, int sum) {
  auto wrapped = static_cast<unsigned>(sum);
  for (int i = 0; i < 4; ++i)
    wrapped += static_cast<unsigned>(static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i)));
  return static_cast<int>(wrapped);
}

namespace tuner_host {
template <typename To, typename From>
inline To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}
}  // namespace tuner_host

namespace tuner_host {
/// \p half: of b.
inline unsigned dp2a(unsigned a, unsigned b, unsigned sum, int half) {
  for (int i = 0; i < 2; ++i) sum += ((a >> (16 * i)) & 0xffffu) * ((b >> (16 * half + 8 * i)) & 0xffu);
  return sum;
}
inline int dp2a(int a, int b, int sum, int half) {
  auto wrapped = static_cast<unsigned>(sum);
  for (int i = 0; i < 2; ++i)
    wrapped +=
        static_cast<unsigned>(static_cast<short>(a >> (16 * i)) * static_cast<signed char>(b >> (16 * half + 8 * i)));
  return static_cast<int>(wrapped);
}
}  // namespace tuner_host
inline int __dp4a(char4 a, char4 b, int sum) {
  return __dp4a(tuner_host::bits_as<int>(a), tuner_host::bits_as<int>(b), sum);
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
  return __dp4a(tuner_host::bits_as<unsigned>(a), tuner_host::bits_as<unsigned>(b), sum);
}
#define TUNER_HOST_DP2A(name, half)                                                                        \
  inline int name(int a, int b, int sum) { return tuner_host::dp2a(a, b, sum, half); }                     \
  inline unsigned name(unsigned a, unsigned b, unsigned sum) { return tuner_host::dp2a(a, b, sum, half); } \
  inline int name(short2 a, char4 b, int sum) {                                                            \
    return name(tuner_host::bits_as<int>(a), tuner_host::bits_as<int>(b), sum);                            \
  }                                                                                                        \
  inline unsigned name(ushort2 a, uchar4 b, unsigned sum) {                                                \
    return name(tuner_host::bits_as<unsigned>(a), tuner_host::bits_as<unsigned>(b), sum);                  \
  }
TUNER_HOST_DP2A(__dp2a_lo, 0)
TUNER_HOST_DP2A(__dp2a_hi, 1)
#undef TUNER_HOST_DP2A

inline float __int_as_float(int x) { return tuner_host::bits_as<float>(x); }
inline int __float_as_int(float x) { return tuner_host::bits_as<int>(x); }
inline float __uint_as_float(unsigned x) { return tuner_host::bits_as<float>(x); }
inline unsigned __float_as_uint(float x) { return tuner_host::bits_as<unsigned>(x); }
inline double __longlong_as_double(long long x) { return tuner_host::bits_as<double>(x); }
inline long long __double_as_longlong(double x) { return tuner_host::bits_as<long long>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return static_cast<double>(x); }
inline double __uint2double_rn(unsigned x) { return static_cast<double>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline int __double2hiint(double x) { return static_cast<int>(tuner_host::bits_as<long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(tuner_host::bits_as<long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return tuner_host::bits_as<double>((static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) |
                                     static_cast<unsigned>(low));
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __log10f(float x) { return log10f(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
#if !defined(_GNU_SOURCE)
inline void sincosf(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
inline void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
#endif
inline void sincos(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
inline double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float normcdff(float x) { return 0.5f * erfcf(-0.70710678f * x); }
inline double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752 * x); }
inline double erfcx(double x) {
  if (x < 10) {
    const double square = x * x, rest = fma(x, x, -square);
    return exp(square) * erfc(x) * (rest == rest ? 1 + rest : 1);
  }
  double sum = 1, term = 1;  // the series for large x: Abramowitz and Stegun, 7.1.23
  for (int k = 1; k <= 15; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum / (1.77245385090551603 * x);
}
inline double erfinv(double y);
/// Newton's method for log(erfc(x)) = log(y). The first guess is Winitzki's.
inline double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? double(INFINITY) : y == 2 ? -double(INFINITY) : double(NAN);
  if (y > 0.5 && y < 1.5) return erfinv(1 - y);
  if (y > 1) return -erfcinv(2 - y);
  const double logarithm = log(y), of_both = logarithm + log(2 - y), part = 4.3307467508 + of_both / 2;
  double x = sqrt(sqrt(part * part - of_both / 0.147) - part);
  for (int i = 0; i < 4; ++i) x += (log(erfcx(x)) - logarithm - x * x) * erfcx(x) * 0.88622692545275801;
  return x;
}
inline double erfinv(double y) {
  if (fabs(y) > 0.5) return copysign(erfcinv(1 - fabs(y)), y);
  double x = y * 0.88622692545275801;
  for (int i = 0; i < 5; ++i) x -= (erf(x) - y) * exp(x * x) * 0.88622692545275801;
  return x;
}
inline double normcdfinv(double y) { return -1.41421356237309505 * erfcinv(2 * y); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
inline float normcdfinvf(float y) { return static_cast<float>(normcdfinv(y)); }
inline float erfcx(float x) { return erfcxf(x); }
inline float erfcinv(float y) { return erfcinvf(y); }
inline float erfinv(float y) { return erfinvf(y); }
inline float normcdfinv(float y) { return normcdfinvf(y); }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline float fdividef(float a, float b) { return a / b; }

// min and max have the toolkit's overloads, so that mixed arguments convert in the same way.
#define TUNER_HOST_MIN_MAX(R, A, B)                                                       \
  inline constexpr R min(A a, B b) {                                                      \
    return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b) : static_cast<R>(a); \
  }                                                                                       \
  inline constexpr R max(A a, B b) {                                                      \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
  }
TUNER_HOST_MIN_MAX(int, int, int)
TUNER_HOST_MIN_MAX(unsigned, unsigned, unsigned)
TUNER_HOST_MIN_MAX(unsigned, int, unsigned)
TUNER_HOST_MIN_MAX(unsigned, unsigned, int)
TUNER_HOST_MIN_MAX(long, long, long)
TUNER_HOST_MIN_MAX(unsigned long, unsigned long, unsigned long)
TUNER_HOST_MIN_MAX(unsigned long, long, unsigned long)
TUNER_HOST_MIN_MAX(unsigned long, unsigned long, long)
TUNER_HOST_MIN_MAX(long long, long long, long long)
TUNER_HOST_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
TUNER_HOST_MIN_MAX(unsigned long long, long long, unsigned long long)
TUNER_HOST_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef TUNER_HOST_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }

namespace tuner_host {
inline long long ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  long long value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}
}  // namespace tuner_host
inline long long clock64() { return tuner_host::ticks(); }
inline clock_t __tuner_clock() { return static_cast<clock_t>(tuner_host::ticks()); }
namespace std {
using ::__tuner_clock;
}
// The C library has a function of this name and type that counts other ticks.
#define clock() __tuner_clock()
