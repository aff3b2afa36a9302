#include <tuner/reduce.hpp>

#include <tuner/core/error.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::detail {
namespace {

/// The built-in kernel for each operation and order, parsed once. Never destroyed: destructors of static objects may
/// reduce too.
const Kernel& kernel_for(const ReduceOptions& options) {
  constexpr const char* operations[] = {"sum", "min", "max", "product"};
  constexpr const char* orders[] = {"fixed", "any"};
  static const std::vector<Kernel>& kernels = [&]() -> const std::vector<Kernel>& {
    auto& made = *new std::vector<Kernel>;
    const Kernel any = Kernel::from_file("reduce");
    for (const char* operation : operations) {
      for (const char* order : orders) made.push_back(any.with({{"operation", operation}, {"order", order}}));
    }
    return made;
  }();
  const auto operation = static_cast<std::size_t>(options.operation), order = static_cast<std::size_t>(options.order);
  if (operation >= std::size(operations) || order >= std::size(orders))
    throw Error("tuner::reduce: unknown operation or order");
  return kernels[operation * std::size(orders) + order];
}

}  // namespace

void reduce_async(const LaunchArgument& data, Size n, void* out, const ReduceOptions& options) {
  const LaunchArgument arguments[] = {data, launch_argument(out)};
  KernelAccess::impl(kernel_for(options)).launch({options.stream, options.workspace, {n}, arguments, 2});
}

void reduce(const LaunchArgument& data, Size n, void* result, std::size_t result_bytes, const ReduceOptions& options) {
  runtime::Serving& serving = runtime::Serving::process();
  const ContextName context = serving.context_for(data.pointer);
  if (stream_state(context, options.stream.handle()).capturing) {
    throw Error("tuner::reduce waits for its result, which a stream capture cannot: use reduce_async() there");
  }
  runtime::ServedDevice& device = serving.device(context);
  const runtime::ServedDevice::ResultSlot slot(device);
  reduce_async(data, n, reinterpret_cast<void*>(slot.address()), options);
  const BesideCaptures allowed(context);  // another thread's capture may forbid waiting
  device.backend().fetch(result, slot.address(), result_bytes, options.stream.handle());
}

std::size_t reduce_prepare(const LaunchArgument& data, Size n, const ReduceOptions& options, std::size_t captures) {
  const LaunchArgument arguments[] = {data, launch_argument(static_cast<void*>(nullptr))};
  return KernelAccess::impl(kernel_for(options)).prepare({options.stream, {}, {n}, arguments, 2}, captures);
}

}  // namespace tuner::detail
