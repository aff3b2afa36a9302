#pragma once
/// Reductions with the best known kernel for this device, type and size. C++17.
///
/// Sizes count elements. Memory belongs to the caller: device memory that the current context's GPU can reach (any
/// memory on the host backend), with the alignment of T. Only the result is written. All functions are thread-safe, on
/// any streams. They throw exceptions derived from tuner::Error before anything is launched. kernel.hpp explains first
/// calls of a size class, and captures.
///
/// Sums and products of 8- and 16-bit integers are 64-bit; those of half and bfloat16 are computed in float and are
/// float. All other results are T. 32- and 64-bit integer arithmetic wraps. An empty range gives the identity: 0, 1,
/// the largest value for min, the lowest for max (infinities for floating types); its data may be null. For one size,
/// alignment and configuration the order of combination is fixed: equal runs give equal bits, except with Order::any.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {
inline namespace TUNER_ABI {

enum class Operation { sum, min, max, product };

/// With `any`, floating-point values are combined in the order in which blocks end, which can be faster.
enum class Order { fixed, any };

/// The result type of a reduction. It follows from the element type that the kernel uses for T: `char16_t`, for
/// example, is a 16-bit unsigned integer, whose results have 64 bits.
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
  Workspace workspace{};  ///< at least reduce_workspace_bytes(); by default, the library's
};

namespace detail {
void reduce_async(const LaunchArgument& data, Size n, void* out, const ReduceOptions& options);
void reduce(const LaunchArgument& data, Size n, void* result, std::size_t result_bytes, const ReduceOptions& options);
std::size_t reduce_prepare(const LaunchArgument& data, Size n, const ReduceOptions& options, std::size_t captures);

template <typename T>
LaunchArgument reduce_input(const T* data) {
  static_assert(element_code<T>() >= 0 && element_code<T>() <= element_code<double>(),
                "tuner::reduce: element type not supported");
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

/// Does the work of the first reduce_async() of this size class on options.stream. Afterwards, the next \p captures
/// calls, at most 65,536, can be captured into CUDA graphs. Does not read \p data. Not allowed while the stream is
/// captured.
template <typename T>
void prepare_reduce(const T* data, Size n, const ReduceOptions& options = {}, std::size_t captures = 64) {
  detail::reduce_prepare(detail::reduce_input(data), n, options, captures);
}

/// Bytes of work space that a reduction of this size class needs, until it is tuned again, here or by another process
/// with the same database; 0: none. Also does the work of prepare_reduce().
template <typename T>
std::size_t reduce_workspace_bytes(const T* data, Size n, const ReduceOptions& options = {}) {
  return detail::reduce_prepare(detail::reduce_input(data), n, options, 0);
}

}  // namespace TUNER_ABI
}  // namespace tuner
