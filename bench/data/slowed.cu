// A kernel that can be slowed down by 1%, and that exists several times, to find out whether a comparison sees the
// former and only the former. `percent` adds so many percent of elements, and of multiplications for each. With many
// elements and no steps it needs memory, with few elements and many steps it needs arithmetic. All copies have the
// same code.
#pragma tuner kernel slowed
#pragma tuner size n : int = 16777216
#pragma tuner size steps : int = 0
#pragma tuner parameter percent = 0 1
#pragma tuner parameter copy = 0 1 2 3 4 5 6 7
#pragma tuner let added = n / 100 * percent
#pragma tuner in x[n], more[max(1, n / 100)] : unsigned
#pragma tuner out y[n] : unsigned
#pragma tuner scratch extra[max(1, n / 100)] : unsigned
#pragma tuner fill x, more = uniform 0 2   // 0 and 1 are their own squares, so further steps change nothing
#pragma tuner grid max(1, ceil_div(n + added, 256))
#pragma tuner block 256
#pragma tuner arguments x, more, y, extra, n, steps
#pragma tuner instantiate slowed<percent, copy>
#pragma tuner default percent=0 copy=0
#pragma tuner reference plain
#pragma tuner grid max(1, ceil_div(n, 256))
#pragma tuner block 256
#pragma tuner arguments x, y, n
#pragma tuner verify n=1000 steps=300

template <int percent, int copy>
__global__ void slowed(const unsigned* x, const unsigned* more, unsigned* y, unsigned* extra, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n + n / 100 * percent) return;
  unsigned value = i < n ? x[i] : more[i - n];
  const int all = steps + steps / 100 * percent;
#pragma unroll 16
  for (int k = 0; k < all; ++k) value *= value;
  if (i < n)
    y[i] = 2 * value + 1;
  else
    extra[i - n] = value;
}

__global__ void plain(const unsigned* x, unsigned* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
