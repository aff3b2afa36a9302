#pragma once
/// c = a + b for dense row-major matrices, with the best known kernel for this device, type and size. C++17.

#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {
inline namespace TUNER_ABI {

namespace detail {
void sum_matrix_2d(const LaunchArgument (&matrices)[3], const Sizes& sizes, Stream stream);
}  // namespace detail

/// Enqueues the addition on \p stream and returns. \p a, \p b, \p c: \p ny rows of \p nx elements, with the alignment
/// of T. The memory is the caller's; the current context's GPU must reach it (on the host backend, any memory). \p c
/// may equal \p a or \p b. \p nx and \p ny: up to 2^31 - 1. Thread-safe. Throws Error before anything is launched.
/// First calls and captures: see kernel.hpp.
template <typename T>
void sum_matrix_2d(const T* a, const T* b, T* c, Size nx, Size ny, Stream stream = nullptr) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int>,
                "tuner::sum_matrix_2d: float, double or int");
  detail::sum_matrix_2d({detail::launch_argument(a), detail::launch_argument(b), detail::launch_argument(c)}, {nx, ny},
                        stream);
}

}  // namespace TUNER_ABI
}  // namespace tuner
