#pragma once
/// What stands behind a tuner::Kernel: its plans, and the way of a call to one.

#include <memory>

#include <tuner/runtime/by_context.hpp>
#include <tuner/runtime/plan_table.hpp>
#include <tuner/runtime/served_device.hpp>

namespace tuner::runtime {

class ServedKernel {
 public:
  ServedKernel(std::shared_ptr<const KernelSpec> of, Choices chosen)
      : spec(std::move(of)), choices(std::move(chosen)) {}

  /// See Kernel. A call with a Value waits for it.
  void launch(const Call& call);
  /// Answers with the bytes of work space of the call's plan.
  std::size_t prepare(const Call& call, std::size_t captures);
  /// New wisdom has arrived: plans are made anew.
  void renew();

  /// \p given, and what the kernel was made with where they leave it open.
  Choices completed(Choices given) const {
    given.insert(choices.begin(), choices.end());
    return given;
  }

  const std::shared_ptr<const KernelSpec> spec;
  const Choices choices;

 private:
  struct InContext {
    explicit InContext(ServedDevice& device_) : device(device_) {}
    ServedDevice& device;
    PlanTable plans;
  };
  struct Way;

  ByContext<InContext> contexts_;
};

}  // namespace tuner::runtime
