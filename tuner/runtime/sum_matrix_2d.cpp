#include <tuner/sum_matrix_2d.hpp>

#include <tuner/runtime/kernel_impl.hpp>

namespace tuner::detail {
namespace {

const Kernel& kernel() {
  static const Kernel built_in = Kernel::from_file("sumMatrix2D");
  return built_in;
}

LaunchArgument pointer(int element, const void* address) {
  LaunchArgument argument;
  argument.pointer = address;
  argument.element = element;
  argument.is_pointer = true;
  return argument;
}

}  // namespace

void sum_matrix_2d(int element, const void* a, const void* b, void* c, int nx, int ny, Stream stream) {
  const LaunchArgument arguments[] = {pointer(element, a), pointer(element, b), pointer(element, c)};
  KernelAccess::launch(kernel(), stream, {nx, ny}, arguments, 3);
}

}  // namespace tuner::detail
