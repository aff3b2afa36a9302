#pragma once
/// Reductions with the best known kernel for this device, type and size. C++17.
///
/// Sizes count elements. Memory is the caller's and stays it: device memory that the current context's GPU can reach
/// (any memory on the host backend), at any address that suits a T, never written but for the result. Every function
/// may be called from several threads at once, on any streams. Errors are exceptions derived from tuner::Error, thrown
/// before anything is launched. What a first call of a size class does, and what a capture may: kernel.hpp.
///
/// Results: sums and products of 8- and 16-bit integers are 64-bit, of half and bfloat16 they are float (accumulated in
/// float); everything else is T. 32- and 64-bit integer arithmetic wraps. An empty range gives the identity: 0, 1, the
/// largest value for min, the lowest for max (infinities for floating types); its data may be null. The order of
/// combination is fixed for one size, alignment and configuration, so that equal runs give equal bits, unless
/// Order::any is asked for.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {

enum class Operation { sum, min, max, product };

/// Whether floating-point values may be combined in the order in which blocks happen to end, which can be faster.
enum class Order { fixed, any };

/// Type of a reduction's result. It follows from what the kernel takes a T for, so that `char16_t` is like any unsigned
/// integer of 16 bits: the kernel writes 64 bits.
template <typename T>
struct ReduceResult {
 private:
  template <typename... Elements>
  static constexpr bool is_one_of = ((detail::element_code<T>() == detail::element_code<Elements>()) || ...);

 public:
  using type = std::conditional_t<is_one_of<std::int8_t, std::int16_t>, std::int64_t,
                                  std::conditional_t<is_one_of<std::uint8_t, std::uint16_t>, std::uint64_t,
                                                     std::conditional_t<is_one_of<__half, __nv_bfloat16>, float, T>>>;
};
template <typename T>
using reduce_result_t = typename ReduceResult<std::remove_cv_t<T>>::type;

struct ReduceOptions {
  Operation operation = Operation::sum;
  Stream stream = nullptr;
  Order order = Order::fixed;
  Workspace workspace{};  ///< the caller's own, of reduce_workspace_bytes() or more; by default the library's
};

namespace detail {
void reduce_async(const LaunchArgument& data, Size n, void* out, const ReduceOptions& options);
void reduce(const LaunchArgument& data, Size n, void* result, std::size_t result_bytes, const ReduceOptions& options);
std::size_t reduce_prepare(const LaunchArgument& data, Size n, const ReduceOptions& options, std::size_t captures);

template <typename T>
LaunchArgument reduce_input(const T* data) {
  static_assert(element_code<T>() >= 0, "tuner::reduce: element type not supported");
  return launch_argument(data);
}
}  // namespace detail

/// Reduces \p n elements at \p data and returns the value. Waits for options.stream, so it cannot be captured.
template <typename T>
reduce_result_t<T> reduce(const T* data, Size n, const ReduceOptions& options) {
  reduce_result_t<T> result{};
  detail::reduce(detail::reduce_input(data), n, &result, sizeof(result), options);
  return result;
}
template <typename T>
reduce_result_t<T> reduce(const T* data, Size n, Operation operation = Operation::sum) {
  ReduceOptions options;
  options.operation = operation;
  return reduce(data, n, options);
}

/// Enqueues the reduction on options.stream and returns. \p out: device memory for one result.
template <typename T>
void reduce_async(const T* data, Size n, reduce_result_t<T>* out, const ReduceOptions& options = {}) {
  detail::reduce_async(detail::reduce_input(data), n, out, options);
}

/// Does what the first reduce_async() of this size class on options.stream would do, so that the next \p captures of
/// them can be captured into CUDA graphs. \p data is not read. Not while the stream is captured.
template <typename T>
void prepare_reduce(const T* data, Size n, const ReduceOptions& options = {}, std::size_t captures = 64) {
  detail::reduce_prepare(detail::reduce_input(data), n, options, captures);
}

/// Bytes of work space that a reduction of this size class needs; 0: none. Implies prepare_reduce().
template <typename T>
std::size_t reduce_workspace_bytes(const T* data, Size n, const ReduceOptions& options = {}) {
  return detail::reduce_prepare(detail::reduce_input(data), n, options, 0);
}

}  // namespace tuner
