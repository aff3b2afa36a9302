#pragma once
#include "../util_type.cuh"

namespace cub {

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

}  // namespace cub
