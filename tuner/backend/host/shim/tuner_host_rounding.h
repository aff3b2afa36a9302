#pragma once
/// Arithmetic and conversions with a direction of rounding, and conversions to integers, which saturate: CUDA Math API,
/// "Single Precision Intrinsics", "Double Precision Intrinsics", "Type Casting Intrinsics".
///
/// The nearest value is computed first and compared with the exact one in a wider type. The rounded result is at most
/// one step away.

namespace tuner_host {

#if defined(__SIZEOF_FLOAT128__)
using Widest = __float128;
#else
using Widest = long double;
#endif
template <typename T>
struct WiderOf {
  using Type = double;
};
template <>
struct WiderOf<double> {
  using Type = Widest;
};
template <typename T>
using Wider = typename WiderOf<T>::Type;

inline float step(float x, bool up) { return nextafterf(x, up ? INFINITY : -INFINITY); }
inline double step(double x, bool up) { return nextafter(x, up ? double(INFINITY) : -double(INFINITY)); }

template <typename T>
struct Rounded {
  T nearest;
  bool is_above, is_below;        ///< the exact value
  bool zero_is_negative = false;  ///< if it is rounded down: `x - x`
  T rn() const { return nearest; }
  T rd() const { return is_above ? step(nearest, false) : zero_is_negative ? -T(0) : nearest; }
  T ru() const { return is_below ? step(nearest, true) : nearest; }
  T rz() const { return nearest > 0 ? rd() : nearest < 0 ? ru() : nearest; }
};

/// The exact value is \p exact + \p rest, and \p rest is less than half a step of \p exact.
template <typename T, typename W>
Rounded<T> rounded(W exact, W rest = 0) {
  const T nearest = static_cast<T>(exact);
  const W wide = nearest;
  return {nearest, wide > exact || (wide == exact && rest < 0), wide < exact || (wide == exact && rest > 0)};
}
template <typename T, typename W>
Rounded<T> rounded_sum(W a, W b) {
  const W sum = a + b, of_b = sum - a, rest = (a - (sum - of_b)) + (b - of_b);
  Rounded<T> result = rounded<T, W>(sum, rest);
  result.zero_is_negative = sum == 0 && __builtin_signbit(double(a)) != __builtin_signbit(double(b));
  return result;
}
template <typename T>
Rounded<T> sum(T a, T b) {
  return rounded_sum<T, Wider<T>>(a, b);
}
template <typename T>
Rounded<T> product(T a, T b) {
  return rounded<T>(Wider<T>(a) * b);
}
template <typename T>
Rounded<T> product_and_sum(T a, T b, T c) {
  return rounded_sum<T, Wider<T>>(Wider<T>(a) * b, c);
}
template <typename T>
Rounded<T> quotient(T a, T b) {
  const T nearest = a / b;
  const Wider<T> back = Wider<T>(nearest) * b, of = a;
  const bool is_larger = back > of, is_smaller = back < of;
  return b > 0 ? Rounded<T>{nearest, is_larger, is_smaller} : Rounded<T>{nearest, is_smaller, is_larger};
}
template <typename T>
Rounded<T> root(T x) {
  const T nearest = static_cast<T>(sqrt(x));
  const Wider<T> back = Wider<T>(nearest) * nearest, of = x;
  return {nearest, back > of, back < of};
}
template <typename T, typename From>
Rounded<T> converted(From x) {
  return rounded<T>(Widest(x));
}

/// The nearest integer of \p To to an integral \p x. No number gives 0 where both types have at most 32 bits, else the
/// highest bit alone: PTX ISA, "cvt".
template <typename To, typename From>
To saturated(From x) {
  constexpr To top = static_cast<To>(1ull << (8 * sizeof(To) - 1));
  constexpr To most = static_cast<To>(To(-1) > 0 ? ~To(0) : ~top), least = To(-1) > 0 ? To(0) : top;
  if (x != x) return sizeof(From) == 8 || sizeof(To) == 8 ? top : To(0);
  // As a floating-point number, `most` may be the next power of two.
  return x >= From(most) ? most : x <= From(least) ? least : static_cast<To>(x);
}

}  // namespace tuner_host

#define TUNER_HOST_ROUNDED(T, name, parameters, ...)           \
  inline T name##_rd parameters { return (__VA_ARGS__).rd(); } \
  inline T name##_ru parameters { return (__VA_ARGS__).ru(); } \
  inline T name##_rz parameters { return (__VA_ARGS__).rz(); }
TUNER_HOST_ROUNDED(float, __fadd, (float a, float b), tuner_host::sum(a, b))
TUNER_HOST_ROUNDED(float, __fsub, (float a, float b), tuner_host::sum(a, -b))
TUNER_HOST_ROUNDED(float, __fmul, (float a, float b), tuner_host::product(a, b))
TUNER_HOST_ROUNDED(float, __fdiv, (float a, float b), tuner_host::quotient(a, b))
TUNER_HOST_ROUNDED(float, __frcp, (float x), tuner_host::quotient(1.0f, x))
TUNER_HOST_ROUNDED(float, __fsqrt, (float x), tuner_host::root(x))
TUNER_HOST_ROUNDED(float, __fmaf, (float a, float b, float c), tuner_host::product_and_sum(a, b, c))
TUNER_HOST_ROUNDED(double, __dadd, (double a, double b), tuner_host::sum(a, b))
TUNER_HOST_ROUNDED(double, __dsub, (double a, double b), tuner_host::sum(a, -b))
TUNER_HOST_ROUNDED(double, __dmul, (double a, double b), tuner_host::product(a, b))
TUNER_HOST_ROUNDED(double, __ddiv, (double a, double b), tuner_host::quotient(a, b))
TUNER_HOST_ROUNDED(double, __drcp, (double x), tuner_host::quotient(1.0, x))
TUNER_HOST_ROUNDED(double, __dsqrt, (double x), tuner_host::root(x))
TUNER_HOST_ROUNDED(double, __fma, (double a, double b, double c), tuner_host::product_and_sum(a, b, c))
TUNER_HOST_ROUNDED(float, __int2float, (int x), tuner_host::converted<float>(x))
TUNER_HOST_ROUNDED(float, __uint2float, (unsigned x), tuner_host::converted<float>(x))
TUNER_HOST_ROUNDED(float, __ll2float, (long long x), tuner_host::converted<float>(x))
TUNER_HOST_ROUNDED(float, __ull2float, (unsigned long long x), tuner_host::converted<float>(x))
TUNER_HOST_ROUNDED(double, __ll2double, (long long x), tuner_host::converted<double>(x))
TUNER_HOST_ROUNDED(double, __ull2double, (unsigned long long x), tuner_host::converted<double>(x))
TUNER_HOST_ROUNDED(float, __double2float, (double x), tuner_host::converted<float>(x))
#undef TUNER_HOST_ROUNDED
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

#define TUNER_HOST_TO_INTEGER(To, name, From, suffix)                                 \
  inline To name##_rn(From x) { return tuner_host::saturated<To>(rint##suffix(x)); }  \
  inline To name##_rz(From x) { return tuner_host::saturated<To>(trunc##suffix(x)); } \
  inline To name##_rd(From x) { return tuner_host::saturated<To>(floor##suffix(x)); } \
  inline To name##_ru(From x) { return tuner_host::saturated<To>(ceil##suffix(x)); }
TUNER_HOST_TO_INTEGER(int, __float2int, float, f)
TUNER_HOST_TO_INTEGER(unsigned, __float2uint, float, f)
TUNER_HOST_TO_INTEGER(long long, __float2ll, float, f)
TUNER_HOST_TO_INTEGER(unsigned long long, __float2ull, float, f)
TUNER_HOST_TO_INTEGER(int, __double2int, double, )
TUNER_HOST_TO_INTEGER(unsigned, __double2uint, double, )
TUNER_HOST_TO_INTEGER(long long, __double2ll, double, )
TUNER_HOST_TO_INTEGER(unsigned long long, __double2ull, double, )
#undef TUNER_HOST_TO_INTEGER
