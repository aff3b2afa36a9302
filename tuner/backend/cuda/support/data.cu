// Fills, compares and fingerprints device memory. The text of tuner/backend/fill_value.hpp comes before this one, so
// that a GPU and a CPU compute the same numbers. The element type is an argument: one kernel serves all of them.

namespace tuner_support {

using tuner::fill_value::Bits;

// In the order of tuner::ElementType.
enum Type {
  int8, uint8, int16, uint16, int32, uint32, int64, uint64, half, bfloat16, float32, float64, e4m3, e5m2, e3m2,
  e2m3, e2m1, e2m1x2, e8m0, tf32
};
// In the order of tuner::Fill::Kind.
enum Kind { uniform, constant, iota };

__device__ int width(int type) {
  switch (type) {
    case int8: case uint8: case e4m3: case e5m2: case e3m2: case e2m3: case e2m1: case e2m1x2: case e8m0: return 1;
    case int16: case uint16: case half: case bfloat16: return 2;
    case int32: case uint32: case float32: case tf32: return 4;
    default: return 8;
  }
}

__device__ bool is_floating(int type) { return type >= half; }
// Numbers in one element.
__device__ int parts_of(int type) { return type == e2m1x2 ? 2 : 1; }

__device__ Bits load(const void* from, int type, Bits i) {
  switch (width(type)) {
    case 1: return static_cast<const unsigned char*>(from)[i];
    case 2: return static_cast<const unsigned short*>(from)[i];
    case 4: return static_cast<const unsigned*>(from)[i];
    default: return static_cast<const Bits*>(from)[i];
  }
}

__device__ void store(void* to, int type, Bits i, Bits bits) {
  switch (width(type)) {
    case 1: static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(bits); break;
    case 2: static_cast<unsigned short*>(to)[i] = static_cast<unsigned short>(bits); break;
    case 4: static_cast<unsigned*>(to)[i] = static_cast<unsigned>(bits); break;
    default: static_cast<Bits*>(to)[i] = bits; break;
  }
}

__device__ double value_of(int type, Bits bits) {
  namespace f = tuner::fill_value;
  switch (type) {
    case int8: return static_cast<signed char>(bits);
    case int16: return static_cast<short>(bits);
    case int32: return static_cast<int>(bits);
    case int64: return static_cast<double>(static_cast<long long>(bits));
    case half: return f::half_value(static_cast<unsigned short>(bits));
    case bfloat16: return f::bfloat16_value(static_cast<unsigned short>(bits));
    case e4m3: return f::e4m3_value(static_cast<unsigned char>(bits));
    case e5m2: return f::e5m2_value(static_cast<unsigned char>(bits));
    case e3m2: return f::e3m2_value(static_cast<unsigned char>(bits));
    case e2m3: return f::e2m3_value(static_cast<unsigned char>(bits));
    case e2m1: case e2m1x2: return f::e2m1_value(static_cast<unsigned char>(bits));
    case e8m0: return f::e8m0_value(static_cast<unsigned char>(bits));
    case float32: case tf32: return f::float_of(static_cast<unsigned>(bits));
    case float64: return __longlong_as_double(static_cast<long long>(bits));
    default: return static_cast<double>(bits);
  }
}

// The bits of the number that \p value becomes in \p type.
__device__ Bits bits_of(int type, double value) {
  namespace f = tuner::fill_value;
  switch (type) {
    case int8: case int16: case int32: case int64: return static_cast<Bits>(f::floor_signed(value));
    case half: return f::half_bits(static_cast<float>(value));
    case bfloat16: return f::bfloat16_bits(static_cast<float>(value));
    case e4m3: return f::e4m3_bits(static_cast<float>(value));
    case e5m2: return f::e5m2_bits(static_cast<float>(value));
    case e3m2: return f::e3m2_bits(static_cast<float>(value));
    case e2m3: return f::e2m3_bits(static_cast<float>(value));
    case e2m1: case e2m1x2: return f::e2m1_bits(static_cast<float>(value));
    case e8m0: return f::e8m0_bits(static_cast<float>(value));
    case tf32: return f::tf32_bits(static_cast<float>(value));
    case float32: return f::float_bits(static_cast<float>(value));
    case float64: return static_cast<Bits>(__double_as_longlong(value));
    default: return f::floor_unsigned(value);
  }
}

__device__ Bits first_index() { return blockIdx.x * static_cast<Bits>(blockDim.x) + threadIdx.x; }
__device__ Bits stride() { return gridDim.x * static_cast<Bits>(blockDim.x); }

__device__ Bits filled(int type, Bits i, int kind, double low, double high, Bits seed) {
  if (kind == iota) return is_floating(type) ? bits_of(type, static_cast<double>(i)) : i;
  return bits_of(type, kind == uniform ? tuner::fill_value::uniform(seed, i, low, high) : low);
}

__global__ void fill(void* to, int type, Bits count, int kind, double low, double high, Bits seed) {
  const int parts = parts_of(type);
#pragma unroll 1
  for (Bits i = first_index(); i < count; i += stride()) {
    Bits bits = 0;
#pragma unroll 1
    for (int part = 0; part < parts; ++part)
      bits |= filled(type, i * parts + part, kind, low, high, seed) << (4 * part);
    store(to, type, i, bits);
  }
}

// All zero before the launch.
struct Comparison {
  Bits mismatches;
  Bits inverted_first;      // ~index of the first wrong number, so that zero means none; an element has parts_of(type)
  Bits largest_error_bits;  // doubles that are not negative order as their bits do
  Bits off, less, nearer;   // as in tuner::Comparison
};

__global__ void compare(const void* actual, const void* expected, int type, Bits count, double relative, double absolute,
                        int is_place, Comparison* result) {
  const int parts = parts_of(type);
  Bits mismatches = 0, inverted_first = 0, off = 0, less = 0, nearer = 0;
  double largest = 0;
#pragma unroll 1
  for (Bits i = first_index(); i < count; i += stride()) {
    const Bits a = load(actual, type, i), e = load(expected, type, i);
    // Equal bits of integers and of ordinary numbers need no arithmetic; NaN differs from itself.
    if (a == e && !is_floating(type)) continue;
    bool is_counted = false;  // several parts of an element may be wrong
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      const double actual_value = value_of(type, a >> (4 * part)), expected_value = value_of(type, e >> (4 * part));
      const bool wrong = is_floating(type)
                             ? tuner::fill_value::differs(actual_value, expected_value, relative, absolute, is_place)
                             : true;
      const double error = tuner::fill_value::relative_error(actual_value, expected_value);
      if (error > largest) largest = error;
      if (is_place && actual_value != expected_value) {
        ++off;
        if (actual_value < expected_value) ++less;
        if (fabs(actual_value) < fabs(expected_value)) ++nearer;
      }
      if (!wrong || is_counted) continue;
      is_counted = true;
      ++mismatches;
      const Bits inverted = ~(i * parts + part);
      if (inverted > inverted_first) inverted_first = inverted;
    }
  }
  Bits error_bits = static_cast<Bits>(__double_as_longlong(largest));
  for (int distance = 16; distance > 0; distance /= 2) {
    mismatches += __shfl_down_sync(~0u, mismatches, distance);
    off += __shfl_down_sync(~0u, off, distance);
    less += __shfl_down_sync(~0u, less, distance);
    nearer += __shfl_down_sync(~0u, nearer, distance);
    const Bits other_first = __shfl_down_sync(~0u, inverted_first, distance);
    if (other_first > inverted_first) inverted_first = other_first;
    const Bits other_error = __shfl_down_sync(~0u, error_bits, distance);
    if (other_error > error_bits) error_bits = other_error;
  }
  if (threadIdx.x % 32 != 0) return;
  if (mismatches != 0) {
    atomicAdd(&result->mismatches, mismatches);
    atomicMax(&result->inverted_first, inverted_first);
  }
  if (error_bits != 0) atomicMax(&result->largest_error_bits, error_bits);
  if (off == 0) return;
  atomicAdd(&result->off, off);
  atomicAdd(&result->less, less);
  atomicAdd(&result->nearer, nearer);
}

// A sum of 8-byte words, each mixed with its position, so that the order of the threads does not matter.
__global__ void fingerprint(const unsigned char* from, Bits bytes, Bits* result) {
  using tuner::fill_value::splitmix64;
  const bool aligned = reinterpret_cast<Bits>(from) % 8 == 0;
  Bits sum = 0;
#pragma unroll 1
  for (Bits i = first_index(); i < (bytes + 7) / 8; i += stride()) {
    Bits word = 0;
    if (aligned && i < bytes / 8) {
      word = reinterpret_cast<const Bits*>(from)[i];
    } else {
#pragma unroll 1
      for (Bits b = i * 8; b < bytes && b < i * 8 + 8; ++b) word |= static_cast<Bits>(from[b]) << (b % 8 * 8);
    }
    sum += splitmix64(word ^ splitmix64(i));
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

}  // namespace tuner_support
