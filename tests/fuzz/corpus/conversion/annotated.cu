#pragma kernel tune(threads = 32, 64) default(64) set(all = threads * 2)
#pragma kernel problem_size(n) block_size(threads) grid_divisor(all) buffers(c[n])
template <typename T, int all> __global__ void add(int n, T* c, const T* a) {}
