#include <tuner/sum_matrix_2d.hpp>

#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

namespace tuner {
inline namespace TUNER_ABI {
namespace detail {

void sum_matrix_2d(const LaunchArgument (&matrices)[3], const Sizes& sizes, Stream stream) try {
  (void)runtime::Serving::process().ordinal();  // refuses a forked child: see reduce()
  // Never destroyed: destructors of static objects may call this.
  static runtime::ServedKernel& kernel =
      *new runtime::ServedKernel(std::make_shared<const KernelSpec>(KernelLibrary().find("sumMatrix2D")), Choices{});
  kernel.launch({stream, {}, sizes, matrices, 3});
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner
