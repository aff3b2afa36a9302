#pragma once
#include "thread_operators.cuh"

namespace cub {

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

}  // namespace cub
