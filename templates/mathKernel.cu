// The textbooks' first kernels of warp divergence as they are printed. They branch by thread (mathKernel1), by warp
// (mathKernel2), by a predicate (mathKernel3), and by a predicate and its opposite (mathKernel3_two_ifs). They write
// different numbers, so the kernel is a choice and each has its own expected results:
//
//   tune run mathKernel --choice kernel=mathKernel1 --choice optimised=no --metrics branch_efficiency,branch,divergent_branch
//
// Compilers replace such short branches by instructions with predicates. `optimised=no` keeps them (`--device-debug`).
// For times, see warpDivergence.cu, whose branches are long.
//
// Source: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, simpleDivergence.
// As there, no thread asks whether its element exists: c has room for whole blocks, and its first n elements count.

#pragma tuner kernel      mathKernel
#pragma tuner choice      kernel = mathKernel1 mathKernel2 mathKernel3 mathKernel3_two_ifs
#pragma tuner choice      optimised = yes no
#pragma tuner size        n : int = 64
#pragma tuner parameter   threads = 32 64 128 256 512 1024
#pragma tuner compile     --device-debug when optimised == no
#pragma tuner out         c[1024 * max(1, ceil_div(n, 1024))] : float
#pragma tuner compare     c when i < max(1, n)   // thread 0 writes always
#pragma tuner grid        max(1, ceil_div(n, threads))
#pragma tuner block       threads
#pragma tuner arguments   c
#pragma tuner instantiate {kernel}
#pragma tuner reference   mathReference<Kernel::kernel>
#pragma tuner grid        max(1, ceil_div(n, 256))
#pragma tuner block       256
#pragma tuner arguments   c, n
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=1000 offset=3
#pragma tuner bytes       4 * n
#pragma tuner default     threads=64

__global__ void mathKernel1(float* c) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if (tid % 2 == 0) {
    a = 100.0f;
  } else {
    b = 200.0f;
  }
  c[tid] = a + b;
}

__global__ void mathKernel2(float* c) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if ((tid / warpSize) % 2 == 0) {
    a = 100.0f;
  } else {
    b = 200.0f;
  }
  c[tid] = a + b;
}

__global__ void mathKernel3(float* c) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  bool ipred = (tid % 2 == 0);
  if (ipred) {
    a = 100.0f;
  } else {
    b = 200.0f;
  }
  c[tid] = a + b;
}

__global__ void mathKernel3_two_ifs(float* c) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  bool ipred = (tid % 2 == 0);
  if (ipred) {
    a = 100.0f;
  }
  if (!ipred) {
    b = 200.0f;
  }
  c[tid] = a + b;
}

enum class Kernel { mathKernel1, mathKernel2, mathKernel3, mathKernel3_two_ifs };

template <Kernel kernel>
__global__ void mathReference(float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int group = kernel == Kernel::mathKernel2 ? 32 : 1;
  if (i < n || i == 0) c[i] = i / group % 2 == 0 ? 100.0f : 200.0f;
}
