// Calls as programs make them: compiled as C++17 and C++20 by every compiler that the public headers are for, with
// warnings.
#include <tuner/tuner.hpp>

void calls(const tuner::Kernel& kernel, float* x, const float* in, const __half* half, const __nv_bfloat16* bfloat16,
           const __nv_fp8_e4m3* e4m3, __nv_fp8_e5m2* e5m2, const __nv_fp4x2_e2m1* e2m1, const __nv_fp8_e8m0* scales,
           std::size_t n, unsigned u, short s, CUstream_st* stream) {
  kernel.launch(nullptr, {n}, in, x);
  kernel.launch(0, {n}, in, x);
  kernel.launch(0, tuner::Workspace{x, 256}, {n}, in, x);
  kernel.prepare(0, {n}, in, x);
  kernel.launch(stream, {u, s}, in, 2.0f, x);
  kernel.launch({}, {100}, x, x);
  kernel.launch(stream, tuner::Workspace{x, kernel.workspace_bytes({n}, in, x)}, {n}, in, x);
  kernel.prepare(stream, {n}, in, x);
  (void)tuner::reduce(in, n);
  (void)tuner::reduce(in, 5, tuner::Operation::max);
  (void)tuner::reduce(in, u, {});
  (void)tuner::reduce(in, s, {tuner::Operation::min, stream});
  tuner::reduce_async(in, n, x);
  tuner::ReduceOptions options;
  options.stream = 0;
  options.stream = nullptr;
  options.stream = stream;
  tuner::reduce_async(in, n, x, options);
  (void)tuner::reduce(in, n, {tuner::Operation::sum, 0});
  tuner::sum_matrix_2d(in, in, x, n, u, 0);
  tuner::trim();
  tuner::reduce_async(in, n, x, {tuner::Operation::sum, stream, tuner::Order::any, {x, 8}});
  tuner::prepare_reduce(in, n);
  // No CUDA header here: their types are incomplete.
  float of_half = tuner::reduce(half, n);
  tuner::reduce_async(half, n, &of_half, {tuner::Operation::sum, stream});
  (void)tuner::reduce_workspace_bytes(bfloat16, n);
  kernel.launch(stream, {n}, half, bfloat16, e4m3, e5m2, e2m1, scales, x);
  tuner::sum_matrix_2d(in, in, x, n, u, stream);
  (void)tuner::tune(kernel, {n, 10ULL});
  tuner::record(
      kernel, stream, {n}, [] {}, in, 2.0f, x);
  tuner::record(
      "axpy.cu", {{"T", "float"}}, stream, {n}, [&] { ++n; }, in, 2.0f, x);
}

static_assert(!std::is_convertible_v<float*, tuner::Stream> && !std::is_convertible_v<void*, tuner::Stream>);
static_assert(!std::is_convertible_v<double, tuner::Size> && !std::is_convertible_v<bool, tuner::Size>);

// The kernel writes 64 bits for every 8- and 16-bit integer, whatever it is called, and T for wider ones.
template <typename T, typename Result>
constexpr bool gives =
    std::is_same_v<tuner::reduce_result_t<T>, Result>&& std::is_same_v<tuner::reduce_result_t<const T>, Result>;
static_assert(gives<signed char, std::int64_t> && gives<unsigned char, std::uint64_t>);
static_assert(gives<short, std::int64_t> && gives<unsigned short, std::uint64_t>);
static_assert(gives<char, std::conditional_t<std::is_signed_v<char>, std::int64_t, std::uint64_t>>);
static_assert(gives<char16_t, std::uint64_t> && gives<char32_t, char32_t>);
static_assert(sizeof(wchar_t) != 4 || gives<wchar_t, wchar_t>);
#ifdef __cpp_char8_t
static_assert(gives<char8_t, std::uint64_t>);
#endif
static_assert(gives<int, int> && gives<unsigned, unsigned> && gives<long, long> &&
              gives<unsigned long long, unsigned long long>);
static_assert(gives<float, float> && gives<double, double> && gives<__half, float> && gives<__nv_bfloat16, float>);
