#include <tuner/reduce.hpp>

#include <future>
#include <iterator>

#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

namespace tuner {
inline namespace TUNER_ABI {
namespace detail {
namespace {

/// The built-in kernel for each operation and order, parsed once. Never destroyed: destructors of static objects may
/// call reduce().
runtime::ServedKernel& kernel_for(const ReduceOptions& options) {
  (void)runtime::Serving::process().ordinal();  // refuses a forked child, which might wait for the kernels for ever
  constexpr const char* operations[] = {"sum", "min", "max", "product"};
  constexpr const char* orders[] = {"fixed", "any"};
  using Kernels = std::vector<std::unique_ptr<runtime::ServedKernel>>;
  static const Kernels& kernels = [&]() -> const Kernels& {
    const std::future<void> opening = runtime::Serving::process().open_meanwhile();
    auto& made = *new Kernels;
    const auto spec = std::make_shared<const KernelSpec>(KernelLibrary().find("reduce"));
    for (const char* operation : operations) {
      for (const char* order : orders)
        made.push_back(
            std::make_unique<runtime::ServedKernel>(spec, Choices{{"operation", operation}, {"order", order}}));
    }
    return made;
  }();
  const auto operation = static_cast<std::size_t>(options.operation), order = static_cast<std::size_t>(options.order);
  if (operation >= std::size(operations) || order >= std::size(orders))
    throw Error(ErrorCode::invalid_argument, "tuner::reduce: unknown operation or order");
  return *kernels[operation * std::size(orders) + order];
}

}  // namespace

void reduce_async(const LaunchArgument& data, Size n, void* out, const ReduceOptions& options) try {
  const LaunchArgument arguments[] = {data, launch_argument(out)};
  kernel_for(options).launch({options.stream, options.workspace, {n}, arguments, 2});
} catch (...) {
  runtime::leave_with_error();
}

void reduce(const LaunchArgument& data, Size n, void* result, std::size_t result_bytes,
            const ReduceOptions& options) try {
  LaunchArgument arguments[] = {data, launch_argument(static_cast<void*>(nullptr))};
  const runtime::Value value{&arguments[1], result, result_bytes};
  kernel_for(options).launch({options.stream, options.workspace, {n}, arguments, 2, &value});
} catch (...) {
  runtime::leave_with_error();
}

std::size_t reduce_prepare(const LaunchArgument& data, Size n, const ReduceOptions& options, std::size_t captures) try {
  const LaunchArgument arguments[] = {data, launch_argument(static_cast<void*>(nullptr))};
  return kernel_for(options).prepare({options.stream, {}, {n}, arguments, 2, nullptr, true}, captures);
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner
