#pragma once
/// CUDA's vector types: same members, sizes and alignments as the toolkit's vector_types.h (CUDA C++ Programming
/// Guide, "Built-in Vector Types").

// \p name##3 must exist.
#define TUNER_HOST_OTHER_VECTORS(T, name, align2, align4)                      \
  struct name##1 {                                                             \
    T x;                                                                       \
  };                                                                           \
  struct __attribute__((aligned(align2))) name##2 {                            \
    T x, y;                                                                    \
  };                                                                           \
  struct __attribute__((aligned(align4))) name##4 {                            \
    T x, y, z, w;                                                              \
  };                                                                           \
  inline constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define TUNER_HOST_VECTOR(T, name, align2, align4) \
  struct name##3 {                                 \
    T x, y, z;                                     \
  };                                               \
  TUNER_HOST_OTHER_VECTORS(T, name, align2, align4)

TUNER_HOST_VECTOR(signed char, char, 2, 4)
TUNER_HOST_VECTOR(unsigned char, uchar, 2, 4)
TUNER_HOST_VECTOR(short, short, 4, 8)
TUNER_HOST_VECTOR(unsigned short, ushort, 4, 8)
TUNER_HOST_VECTOR(int, int, 8, 16)
TUNER_HOST_VECTOR(long, long, 16, 16)
TUNER_HOST_VECTOR(unsigned long, ulong, 16, 16)
TUNER_HOST_VECTOR(long long, longlong, 16, 16)
TUNER_HOST_VECTOR(unsigned long long, ulonglong, 16, 16)
TUNER_HOST_VECTOR(float, float, 8, 16)
TUNER_HOST_VECTOR(double, double, 16, 16)

// CUDA 13 has two alignments of the types with 32 bytes.
#define TUNER_HOST_ALIGNED_VECTOR(T, name, align)            \
  struct __attribute__((aligned(align))) name##_##align##a { \
    T x, y, z, w;                                            \
  };                                                         \
  inline constexpr name##_##align##a make_##name##_##align##a(T x, T y, T z, T w) { return {x, y, z, w}; }
#define TUNER_HOST_ALIGNED_VECTORS(T, name) \
  TUNER_HOST_ALIGNED_VECTOR(T, name, 16)    \
  TUNER_HOST_ALIGNED_VECTOR(T, name, 32)
TUNER_HOST_ALIGNED_VECTORS(long, long4)
TUNER_HOST_ALIGNED_VECTORS(unsigned long, ulong4)
TUNER_HOST_ALIGNED_VECTORS(long long, longlong4)
TUNER_HOST_ALIGNED_VECTORS(unsigned long long, ulonglong4)
TUNER_HOST_ALIGNED_VECTORS(double, double4)
#undef TUNER_HOST_ALIGNED_VECTORS
#undef TUNER_HOST_ALIGNED_VECTOR

using uint3 = tuner_host::Index;
TUNER_HOST_OTHER_VECTORS(unsigned, uint, 8, 16)
#undef TUNER_HOST_OTHER_VECTORS
#undef TUNER_HOST_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
