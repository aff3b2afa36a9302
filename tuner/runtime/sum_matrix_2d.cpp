#include <tuner/sum_matrix_2d.hpp>

#include <tuner/runtime/kernel_impl.hpp>

namespace tuner::detail {

void sum_matrix_2d(const LaunchArgument (&matrices)[3], const Sizes& sizes, Stream stream) {
  static const Kernel& kernel = *new Kernel(Kernel::from_file("sumMatrix2D"));  // never destroyed: see reduce.cpp
  KernelAccess::impl(kernel).launch({stream, {}, sizes, matrices, 3});
}

}  // namespace tuner::detail
