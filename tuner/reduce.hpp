#pragma once
/// Reductions with the best known kernel for this device, type and size. C++17.
///
/// Results: sums and products of 8- and 16-bit integers are 64-bit, of half and bfloat16 they are float (accumulated in
/// float); everything else is T. 32- and 64-bit integer arithmetic wraps. An empty range gives the identity: 0, 1, the
/// largest value for min, the lowest for max (infinities for floating types). The order of combination is
/// fixed for one size, alignment and configuration, so that equal runs give equal bits.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {

enum class Operation { sum, min, max, product };

/// Type of a reduction's result.
template <typename T>
struct ReduceResult {
  using type = T;
};
template <>
struct ReduceResult<signed char> {
  using type = std::int64_t;
};
template <>
struct ReduceResult<char> {
  using type = std::conditional_t<std::is_signed_v<char>, std::int64_t, std::uint64_t>;
};
template <>
struct ReduceResult<unsigned char> {
  using type = std::uint64_t;
};
template <>
struct ReduceResult<short> {
  using type = std::int64_t;
};
template <>
struct ReduceResult<unsigned short> {
  using type = std::uint64_t;
};
template <>
struct ReduceResult<__half> {
  using type = float;
};
template <>
struct ReduceResult<__nv_bfloat16> {
  using type = float;
};
template <typename T>
using reduce_result_t = typename ReduceResult<std::remove_cv_t<T>>::type;

struct ReduceOptions {
  Operation operation = Operation::sum;
  Stream stream = nullptr;
};

namespace detail {
void reduce_async(int element, const void* data, std::size_t n, void* out, const ReduceOptions& options);
void reduce_wait(int element, const void* data, std::size_t n, void* out, std::size_t out_bytes,
                 const ReduceOptions& options);
void reduce_prepare(int element, const void* data, std::size_t n, const ReduceOptions& options);
}  // namespace detail

/// Reduces \p n elements at \p data (device memory; host memory on the host backend; any alignment; never written)
/// and returns the value. Waits for the stream. Throws Error.
template <typename T>
reduce_result_t<T> reduce(const T* data, std::size_t n, const ReduceOptions& options = {}) {
  static_assert(detail::element_code<T>() >= 0, "tuner::reduce: element type not supported");
  reduce_result_t<T> result{};
  detail::reduce_wait(detail::element_code<T>(), data, n, &result, sizeof(result), options);
  return result;
}

template <typename T>
reduce_result_t<T> reduce(const T* data, std::size_t n, Operation operation) {
  return reduce(data, n, ReduceOptions{operation, nullptr});
}

/// Asynchronous: enqueues the reduction on options.stream; \p out is device memory for one result. Throws Error.
template <typename T>
void reduce(const T* data, std::size_t n, reduce_result_t<T>* out, const ReduceOptions& options = {}) {
  static_assert(detail::element_code<T>() >= 0, "tuner::reduce: element type not supported");
  detail::reduce_async(detail::element_code<T>(), data, n, out, options);
}

/// Does what the first call would do (lookup, tuning, compiling, work space for the stream), so that the
/// asynchronous form can be captured into a CUDA graph.
template <typename T>
void prepare_reduce(const T* data, std::size_t n, const ReduceOptions& options = {}) {
  detail::reduce_prepare(detail::element_code<T>(), data, n, options);
}

}  // namespace tuner
