#include <tuner/reduce.hpp>

#include <tuner/core/error.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::detail {
namespace {

/// The built-in kernel for each operation, parsed once for each.
const Kernel& reduction(Operation operation) {
  static const Kernel sum = Kernel::from_file("reduce").with({{"operation", "sum"}});
  static const Kernel min = sum.with({{"operation", "min"}});
  static const Kernel max = sum.with({{"operation", "max"}});
  static const Kernel product = sum.with({{"operation", "product"}});
  switch (operation) {
    case Operation::sum:
      return sum;
    case Operation::min:
      return min;
    case Operation::max:
      return max;
    case Operation::product:
      return product;
  }
  throw Error("tuner::reduce: unknown operation");
}

struct ReduceArguments {
  LaunchArgument list[2];
  ReduceArguments(int element, const void* data, const void* out) {
    list[0].pointer = data;
    list[0].element = element;
    list[0].is_pointer = true;
    list[1].pointer = out;
    list[1].is_pointer = true;
  }
};

Sizes sizes_of(std::size_t n) { return {static_cast<std::int64_t>(n)}; }

}  // namespace

void reduce_async(int element, const void* data, std::size_t n, void* out, const ReduceOptions& options) {
  const ReduceArguments arguments(element, data, out);
  KernelAccess::launch(reduction(options.operation), options.stream, sizes_of(n), arguments.list, 2);
}

void reduce_wait(int element, const void* data, std::size_t n, void* out, std::size_t out_bytes,
                 const ReduceOptions& options) {
  runtime::Serving& serving = runtime::Serving::process();
  runtime::ServedDevice& device = serving.device(serving.context_for(data));
  const runtime::ServedDevice::ResultSlot slot(device);
  reduce_async(element, data, n, reinterpret_cast<void*>(slot.address()), options);
  device.backend().synchronize(options.stream);
  device.backend().download(out, slot.address(), out_bytes);
}

void reduce_prepare(int element, const void* data, std::size_t n, const ReduceOptions& options) {
  const ReduceArguments arguments(element, data, nullptr);
  KernelAccess::prepare(reduction(options.operation), options.stream, sizes_of(n), arguments.list, 2);
}

}  // namespace tuner::detail
