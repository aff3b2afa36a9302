#pragma once
#pragma nv_diag_suppress 47  // the toolkit defines the same macros with other texts
// 64 bits are `long long`, as in the toolkit's <cuda/std/cstdint>: a file may include both.
#define TUNER_INTEGERS(bits, T, U)             \
  typedef T int##bits##_t;                     \
  typedef U uint##bits##_t;                    \
  typedef int##bits##_t int_least##bits##_t;   \
  typedef uint##bits##_t uint_least##bits##_t; \
  typedef int##bits##_t int_fast##bits##_t;    \
  typedef uint##bits##_t uint_fast##bits##_t;
TUNER_INTEGERS(8, signed char, unsigned char)
TUNER_INTEGERS(16, short, unsigned short)
TUNER_INTEGERS(32, int, unsigned int)
TUNER_INTEGERS(64, long long, unsigned long long)
#undef TUNER_INTEGERS
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32767 - 1)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(x) x
#define INT16_C(x) x
#define INT32_C(x) x
#define INT64_C(x) x##LL
#define UINT8_C(x) x
#define UINT16_C(x) x
#define UINT32_C(x) x##U
#define UINT64_C(x) x##ULL
