tune_params = {"block_size_x": [32 * i for i in range(1, 9)], "tile": [1, 2]}
n = numpy.int32(1000)
x = numpy.random.randn(n).astype(numpy.float32)
y = numpy.zeros_like(x)
tune_kernel("f", "f.cu", n, [y, x, n], tune_params, answer=[x * 2, None, None])
// f.cu
template <typename T, class U>
__global__ void g(T* y, U x);
__global__ void f(float *y, float *x, int n) {
  float (*rows)[4] = (float (*)[4])y;
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) { rows[i / 4][i % 4]++; *(y + i) += x[i] << 0; }
}
