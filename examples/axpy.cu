// y = a * x + y, as your own kernel file: ordinary CUDA C++, and lines that say what tuner may vary.
#pragma tuner kernel      axpy
#pragma tuner type        T = float double
#pragma tuner size        n : int64 = 1048576
#pragma tuner parameter   block  = 64 128 256 512
#pragma tuner parameter   unroll = 1 2 4 8
#pragma tuner scalar      a : T = 2
#pragma tuner in          x[n]
#pragma tuner inout       y[n]
#pragma tuner grid        max(1, ceil_div(n, block * unroll))
#pragma tuner block       block
#pragma tuner arguments   a, x, y, n
#pragma tuner instantiate axpy<T, block, unroll>
#pragma tuner reference   axpyReference<T>
#pragma tuner verify      n=1
#pragma tuner verify      n=1001 offset=1
#pragma tuner bytes       3 * n * sizeof(T)
#pragma tuner flops       2 * n
#pragma tuner default     block=256 unroll=2

template <typename T, int block, int unroll>
__global__ void axpy(T a, const T* x, T* y, long long n) {
  const long long first = static_cast<long long>(blockIdx.x) * block * unroll + threadIdx.x;
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    const long long i = first + k * block;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

template <typename T>
__global__ void axpyReference(T a, const T* x, T* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
