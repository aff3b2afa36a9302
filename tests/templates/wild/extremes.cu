#pragma tuner kernel    extremes
#pragma tuner type      T = float double int
#pragma tuner size      n : int = 3000
#pragma tuner parameter threads = 64 256
#pragma tuner let       blocks = ceil_div(n, 1024)
#pragma tuner in        x[n]
#pragma tuner out       low[blocks], high[blocks]
#pragma tuner arguments x, low, high, n
#pragma tuner block     threads
#pragma tuner grid      blocks
#pragma tuner instantiate extremes<T, threads, 1024 / threads>
#pragma tuner reference extremes_reference<T>
#pragma tuner grid      blocks
#pragma tuner block     1
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace detail {

template <typename T, typename Enable = void>
struct Smallest {
  static constexpr T value = std::numeric_limits<T>::min();
};
template <typename T>
struct Smallest<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
  static constexpr T value = -std::numeric_limits<T>::infinity();
};

template <typename F, std::size_t... i>
__device__ void for_each(F&& f, std::index_sequence<i...>) {
  (f(i), ...);
}

}  // namespace detail

template <typename T, int threads, int items>
__global__ void extremes(const T* x, T* low, T* high, int n) {
  __shared__ T lows[threads], highs[threads];
  T least = std::numeric_limits<T>::max(), most = detail::Smallest<T>::value;
  detail::for_each(
      [&](std::size_t item) {
        const int i = blockIdx.x * threads * items + static_cast<int>(item) * threads + threadIdx.x;
        if (i >= n) return;
        least = std::min(least, x[i]);
        most = std::max<T>(most, x[i]);
      },
      std::make_index_sequence<items>{});
  lows[threadIdx.x] = least;
  highs[threadIdx.x] = most;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < threads; ++i) {
    least = std::min(least, lows[i]);
    most = std::max(most, highs[i]);
  }
  std::pair<T, T> both = std::make_pair(least, most);
  low[blockIdx.x] = both.first;
  high[blockIdx.x] = static_cast<T>(std::abs(both.second) * std::copysign(1.0, static_cast<double>(both.second)));
}

template <typename T>
__global__ void extremes_reference(const T* x, T* low, T* high, int n) {
  const int begin = blockIdx.x * 1024, end = begin + 1024 < n ? begin + 1024 : n;
  T least = x[begin], most = x[begin];
  for (int i = begin; i < end; ++i) {
    if (x[i] < least) least = x[i];
    if (x[i] > most) most = x[i];
  }
  low[blockIdx.x] = least;
  high[blockIdx.x] = most;
}
