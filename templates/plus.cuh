#pragma once
// Addition, for the kernels that add up.

using uint64 = unsigned long long;

// Signed overflow is undefined; unsigned arithmetic wraps and has the same bits.
template <typename T>
__device__ T plus(T a, T b) { return a + b; }
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
