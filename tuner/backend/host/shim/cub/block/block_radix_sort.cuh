#pragma once
#include <limits.h>

#include "../tuner_cub.cuh"

namespace cub {

enum TunerSorted { tuner_blocked, tuner_striped };

template <typename Key, bool is_class = __is_class(Key)>
struct TunerKey {
  static constexpr bool is_signed = static_cast<Key>(-1) < static_cast<Key>(0);
  static constexpr bool is_floating = static_cast<Key>(0.5f) != static_cast<Key>(0);
};
template <typename Key>
struct TunerKey<Key, true> {  // half
  static constexpr bool is_signed = true, is_floating = true;
};

/// Sorts the keys of all threads by their bits [begin, end), as unsigned numbers. Equal keys keep their order.
template <typename Key, int dim_x, int items, typename Value = NullType, int = 4, bool = true, int = 2, int = 0,
          int dim_y = 1, int dim_z = 1, int = 0>
class BlockRadixSort {
  static constexpr int kThreads = dim_x * dim_y * dim_z, kAll = kThreads * items;
  static constexpr int kBits = static_cast<int>(sizeof(Key)) * CHAR_BIT;

 public:
  struct TempStorage {
    TunerValues<Key, kAll> keys;
    TunerValues<Value, kAll> values;
    TunerValues<int, kAll> order, from;
  };

  BlockRadixSort() : storage_(tuner_storage<TempStorage>()) {}
  BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define TUNER_HOST_SORT(name, descending, arrangement)                                  \
  void name(Key(&keys)[items], int begin = 0, int end = kBits) {                        \
    Value none[items];                                                                  \
    sort(keys, none, begin, end, descending, arrangement);                              \
  }                                                                                     \
  void name(Key(&keys)[items], Value(&values)[items], int begin = 0, int end = kBits) { \
    sort(keys, values, begin, end, descending, arrangement);                            \
  }
  TUNER_HOST_SORT(Sort, false, tuner_blocked)
  TUNER_HOST_SORT(SortDescending, true, tuner_blocked)
  TUNER_HOST_SORT(SortBlockedToStriped, false, tuner_striped)
  TUNER_HOST_SORT(SortDescendingBlockedToStriped, true, tuner_striped)
#undef TUNER_HOST_SORT

 private:
  /// An unsigned number for each key, in the order of the keys: negative keys come first.
  static unsigned long long bits_of(const Key& key) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &key, sizeof(Key));
    constexpr unsigned long long sign = 1ull << (kBits - 1), all = sign | (sign - 1);
    constexpr bool is_floating = TunerKey<Key>::is_floating;
    if constexpr (TunerKey<Key>::is_signed) {
      if (is_floating && bits == sign) bits = 0;  // -0 and 0 are equal
      bits = is_floating && (bits & sign) != 0 ? ~bits & all : bits ^ sign;
    }
    return bits;
  }

  void sort(Key (&keys)[items], Value (&values)[items], int begin, int end, bool descending, TunerSorted arrangement) {
    const int first = tuner_rank() * items;
    for (int i = 0; i < items; ++i) {
      storage_.keys[first + i] = keys[i];
      storage_.values[first + i] = values[i];
    }
    __syncthreads();
    if (tuner_rank() == 0) order(begin, end, descending);
    __syncthreads();
    for (int i = 0; i < items; ++i) {
      const int from = storage_.order[arrangement == tuner_blocked ? first + i : i * kThreads + tuner_rank()];
      keys[i] = storage_.keys[from];
      values[i] = storage_.values[from];
    }
  }
  /// A merge sort: stable.
  void order(int begin, int end, bool descending) {
    const auto part = [&](int i) {
      const unsigned long long bits = bits_of(storage_.keys[i]) >> begin;
      return end - begin >= 64 ? bits : bits & ((1ull << (end - begin)) - 1);
    };
    for (int i = 0; i < kAll; ++i) storage_.order[i] = i;
    for (int run = 1; run < kAll; run *= 2) {
      for (int i = 0; i < kAll; ++i) storage_.from[i] = storage_.order[i];
      for (int left = 0; left < kAll; left += 2 * run) {
        const int middle = left + run < kAll ? left + run : kAll, right = left + 2 * run < kAll ? left + 2 * run : kAll;
        for (int a = left, b = middle, to = left; to < right; ++to) {
          const bool take_b =
              a == middle || (b < right && (descending ? part(storage_.from[b]) > part(storage_.from[a])
                                                       : part(storage_.from[b]) < part(storage_.from[a])));
          storage_.order[to] = storage_.from[take_b ? b++ : a++];
        }
      }
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
