#pragma once
#include "thread_operators.cuh"

namespace cub {

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

}  // namespace cub
