#pragma once
/// CUB's collectives for blocks and warps on a CPU, after their documentation (CUDA Core Compute Libraries, "CUB"): the
/// same names, arguments and results. The name of an algorithm changes only the order of a load or store. This file has
/// the parts for threads, and the parts that all collectives share; CUB's headers of these parts only include it.
#include "../tuner_host.h"

#include <type_traits>

#define CUB_VERSION 200800  // this version has both its old operators and those of cuda/std/functional
#define CUB_NS_QUALIFIER ::cub

namespace cub {

struct NullType {
  bool operator==(const NullType&) const { return true; }
  bool operator!=(const NullType&) const { return false; }
};

template <typename Key, typename Value>
struct KeyValuePair {
  using Key_ = Key;
  Key key;
  Value value;

  KeyValuePair() = default;
  KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  bool operator!=(const KeyValuePair& other) const { return key != other.key || value != other.value; }
};

#define TUNER_HOST_OPERATOR(name, expression)       \
  struct name {                                     \
    template <typename T, typename U>               \
    auto operator()(const T& a, const U& b) const { \
      return expression;                            \
    }                                               \
  };
TUNER_HOST_OPERATOR(Sum, a + b)
TUNER_HOST_OPERATOR(Difference, a - b)
TUNER_HOST_OPERATOR(Division, a / b)
TUNER_HOST_OPERATOR(Max, a < b ? b : a)
TUNER_HOST_OPERATOR(Min, b < a ? b : a)
TUNER_HOST_OPERATOR(Equality, a == b)
TUNER_HOST_OPERATOR(Inequality, a != b)
#undef TUNER_HOST_OPERATOR

/// The pair with the larger value; of equal values, that with the smaller key.
struct ArgMax {
  template <typename Key, typename Value>
  KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a, const KeyValuePair<Key, Value>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
/// The pair with the smaller value; of equal values, that with the smaller key.
struct ArgMin {
  template <typename Key, typename Value>
  KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a, const KeyValuePair<Key, Value>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

/// The unsigned integers that sort as numbers do.
template <typename T>
struct Traits {
  using UnsignedBits = std::conditional_t<
      sizeof(T) == 1, unsigned char,
      std::conditional_t<sizeof(T) == 2, unsigned short,
                         std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>>>;
  static constexpr UnsignedBits kSign = std::is_unsigned<T>::value ? 0 : UnsignedBits(1) << (sizeof(T) * 8 - 1);
  static UnsignedBits TwiddleIn(UnsignedBits key) {
    return !std::is_integral<T>::value && (key & kSign) != 0 ? ~key : key ^ kSign;
  }
  static UnsignedBits TwiddleOut(UnsignedBits key) {
    return !std::is_integral<T>::value && (key & kSign) == 0 ? ~key : key ^ kSign;
  }
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

template <CacheLoadModifier modifier, typename Iterator>
inline auto ThreadLoad(Iterator at) {
  return *at;
}

enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheStoreModifier modifier, typename Iterator, typename T>
inline void ThreadStore(Iterator at, T value) {
  *at = value;
}

template <int items, typename T, typename Operation>
inline T ThreadReduce(T (&input)[items], Operation operation) {
  T sum = input[0];
  for (int i = 1; i < items; ++i) sum = operation(sum, input[i]);
  return sum;
}
template <int items, typename T, typename Operation>
inline T ThreadReduce(T (&input)[items], Operation operation, T prefix) {
  return operation(prefix, ThreadReduce(input, operation));
}

/// Combines each item with those before it, and with \p prefix before all if \p apply_prefix. Returns the last result.
template <int items, typename T, typename Operation>
inline T ThreadScanInclusive(T (&input)[items], T (&output)[items], Operation operation, T prefix,
                             bool apply_prefix = true) {
  T sum = apply_prefix ? static_cast<T>(operation(prefix, input[0])) : input[0];
  output[0] = sum;
  for (int i = 1; i < items; ++i) output[i] = sum = operation(sum, input[i]);
  return sum;
}
template <int items, typename T, typename Operation>
inline T ThreadScanInclusive(T (&input)[items], T (&output)[items], Operation operation) {
  return ThreadScanInclusive(input, output, operation, input[0], false);
}

/// Room for \p count values of T in shared memory, which runs no constructors.
template <typename T, int count>
struct TunerValues {
  alignas(T) unsigned char bytes[sizeof(T) * count];

  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

/// Shared memory for a collective that gets none from its caller.
template <typename Storage>
inline Storage& tuner_storage() {
  __shared__ Storage storage;
  return storage;
}

inline int tuner_rank() { return static_cast<int>(tuner_host::context.thread->linear); }

inline unsigned LaneId() { return tuner_host::lane(); }
inline unsigned WarpId() { return tuner_host::context.thread->linear / 32u; }
template <int width, typename T>
inline T ShuffleIndex(T value, int lane, unsigned mask) {
  return __shfl_sync(mask, value, lane, width);
}
inline int RowMajorTid(int, int, int) { return tuner_rank(); }
inline void CTA_SYNC() { __syncthreads(); }
inline void WARP_SYNC(unsigned mask) { __syncwarp(mask); }

/// The threads of a collective: a block.
template <int threads>
struct TunerBlock {
  static constexpr int kThreads = threads;
  template <typename Room>
  using Temp = Room;
  template <typename Room>
  static Room& room(Room& temp) {
    return temp;
  }
  static int rank() { return tuner_rank(); }
  // The place of a wait is that in the collective, so that two collectives are told apart.
  static void sync(TUNER_HOST_SITE) { __syncthreads(file, line); }
  static void leave() {}  // a block has to wait before it uses the storage again
};

/// Each warp's room for a collective that needs none from its caller: CUB uses shuffles if a warp has 2^k lanes, and
/// some kernels let all warps share one TempStorage.
template <int threads, bool shuffles = (threads & (threads - 1)) == 0>
struct TunerWarpRoom {
  template <typename Room>
  struct Temp {};
  template <typename Room>
  struct Rooms {
    Room of[1024 / threads];
  };
  template <typename Room>
  static Room& room(Temp<Room>&) {
    return tuner_storage<Rooms<Room>>().of[tuner_rank() / threads];
  }
};
template <int threads>
struct TunerWarpRoom<threads, false> {
  template <typename Room>
  using Temp = Room;
  template <typename Room>
  static Room& room(Room& temp) {
    return temp;
  }
};

/// The threads of a collective: a warp, or a logical warp of fewer lanes.
template <int threads>
struct TunerWarp : TunerWarpRoom<threads> {
  static constexpr int kThreads = threads;
  static int rank() { return static_cast<int>(tuner_host::lane()) % threads; }
  static unsigned first() { return tuner_host::lane() / threads * threads; }
  static unsigned mask() { return (threads == 32 ? 0xffffffffu : (1u << (threads % 32)) - 1u) << first(); }
  static void sync(TUNER_HOST_SITE) { __syncwarp(mask(), file, line); }
  static void leave(TUNER_HOST_SITE) { sync(file, line); }
};

}  // namespace cub
