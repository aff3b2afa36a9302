// A kernel whose configurations go wrong in every way that a tuning must survive: c[i] = 2 * a[i], by `behaviour`.
// Used on the host backend and on GPUs.

#pragma tuner kernel      faulty
#pragma tuner size        n : int = 4096
#pragma tuner parameter   behaviour = fast slow wrong nan skips overruns writes_input faults misaligned traps hangs greedy no_compile too_much_shared
#pragma tuner constraint  needs_a_gpu: not is_host or not (behaviour in {misaligned, greedy})
#pragma tuner in          a[n] : float
#pragma tuner out         c[n] : float
#pragma tuner block       behaviour == greedy ? 1024 : 128
#pragma tuner grid        ceil_div(n, behaviour == greedy ? 1024 : 128)
#pragma tuner shared      behaviour == too_much_shared ? 16777216 : 0
#pragma tuner arguments   a, c, n
#pragma tuner instantiate faulty<Behaviour::behaviour>
#pragma tuner reference   reference
#pragma tuner verify      n=33 offset=1
#pragma tuner bytes       8 * n
#pragma tuner default     behaviour=slow

enum class Behaviour {
  fast,
  slow,             // right, but takes its time
  wrong,            // a wrong element
  nan,              // an element that is not a number
  skips,            // an element that is never written
  overruns,         // writes one element behind the end
  writes_input,
  faults,           // writes to an address that nobody owns
  misaligned,       // reads four bytes at an odd address
  traps,
  hangs,
  greedy,           // more registers than a block has
  no_compile,
  too_much_shared,  // never launched: no device has so much
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
__device__ inline void trap() { asm volatile("trap;"); }
#else
inline void trap() { __builtin_trap(); }
#endif

template <Behaviour behaviour>
__global__ void faulty(const float* a, float* c, int n) {
  static_assert(behaviour != Behaviour::no_compile, "this configuration does not compile");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool last = i == n - 1;

  if constexpr (behaviour == Behaviour::greedy) {
    // 128 values that are all needed until the end, and that the compiler cannot know.
    float values[128];
#pragma unroll
    for (int k = 0; k < 128; ++k) values[k] = a[(i + k) % n] * (k + 1);
    for (int round = 0; round < n; ++round)
#pragma unroll
      for (int k = 0; k < 128; ++k) values[k] = values[k] * values[(k + 1) % 128] + values[(k + 7) % 128];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 128; ++k) sum += values[k];
    if (sum == 12345.0f) c[i] = sum;
  }
  if constexpr (behaviour == Behaviour::faults)
    if (last) *reinterpret_cast<volatile float*>(static_cast<unsigned long long>(n) / 4096 + 8) = 1;
  if constexpr (behaviour == Behaviour::misaligned)
    if (last) c[0] = *reinterpret_cast<const volatile float*>(reinterpret_cast<const char*>(a) + 1);
  if constexpr (behaviour == Behaviour::traps)
    if (last) trap();
  if constexpr (behaviour == Behaviour::hangs)
    if (last)
      for (const volatile float* flag = a; *flag != -1.0f;) {
      }
  if constexpr (behaviour == Behaviour::skips)
    if (last) return;

  float value = 2 * a[i];
  if constexpr (behaviour == Behaviour::slow)
    for (int k = 0; k < 8000; ++k) value = 2 * *static_cast<const volatile float*>(a + i);
  if constexpr (behaviour == Behaviour::wrong)
    if (last) value += 1;
  if constexpr (behaviour == Behaviour::nan)
    if (last) value = (value - value) / (value - value);
  c[i] = value;
  if constexpr (behaviour == Behaviour::overruns)
    if (last) c[n] = value;
  if constexpr (behaviour == Behaviour::writes_input)
    if (last) const_cast<float*>(a)[i] = value;
}

__global__ void reference(const float* a, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = 2 * a[i];
}
