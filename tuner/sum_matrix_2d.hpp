#pragma once
/// c = a + b for dense row-major matrices, with the best known kernel for this device, type and size. C++17.

#include <type_traits>

#include <tuner/problem.hpp>

namespace tuner {

namespace detail {
void sum_matrix_2d(int element, const void* a, const void* b, void* c, int nx, int ny, Stream stream);
}  // namespace detail

/// \p a, \p b, \p c: \p ny rows of \p nx elements of device memory (host memory on the host backend), any alignment;
/// \p c may equal \p a or \p b. Asynchronous on \p stream. Throws Error.
template <typename T>
void sum_matrix_2d(const T* a, const T* b, T* c, int nx, int ny, Stream stream = nullptr) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int>,
                "tuner::sum_matrix_2d: float, double or int");
  detail::sum_matrix_2d(detail::element_code<T>(), a, b, c, nx, ny, stream);
}

}  // namespace tuner
