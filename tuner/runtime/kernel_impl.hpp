#pragma once
/// What stands behind a tuner::Kernel.

#include <memory>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/kernel.hpp>
#include <tuner/runtime/plan_table.hpp>

namespace tuner {

struct Kernel::Impl {
  std::shared_ptr<const KernelSpec> spec;
  Choices choices;
  runtime::PlanTable plans;
};

/// For the other files of this room.
class KernelAccess {
 public:
  static const Choices& choices(const Kernel& kernel) { return kernel.impl_->choices; }
  /// New wisdom has arrived: later launches look again.
  static void renew_plans(const Kernel& kernel) { kernel.impl_->plans.renew(); }
  static void launch(const Kernel& kernel, Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                     std::size_t count) {
    kernel.launch_erased(stream, sizes, arguments, count);
  }
  static void prepare(const Kernel& kernel, Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                      std::size_t count) {
    kernel.prepare_erased(stream, sizes, arguments, count);
  }
};

}  // namespace tuner
