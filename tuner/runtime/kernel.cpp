#include <tuner/kernel.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/runtime/planner.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner {
namespace {

using runtime::Plan;
using runtime::PlanKey;
using runtime::Serving;

const void* first_pointer(const detail::LaunchArgument* arguments, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i].is_pointer && arguments[i].pointer != nullptr) return arguments[i].pointer;
  }
  return nullptr;
}

PlanKey key_of(const KernelSpec& spec, const Sizes& sizes, const detail::LaunchArgument* arguments, std::size_t count) {
  const auto pattern = runtime::pattern_of(arguments, count);
  if (!pattern) {
    throw Error("kernel '" + spec.name + "': more than " + std::to_string(runtime::kMaxArguments) +
                " arguments in a launch");
  }
  return {Serving::process().context_for(first_pointer(arguments, count)), *pattern, sizes};
}

/// The plan for a call that has none yet; kept unless the table is full, when \p unkept owns it.
const Plan& new_plan(runtime::PlanTable& plans, const runtime::Call& call, std::unique_ptr<Plan>& unkept) {
  Serving& serving = Serving::process();
  std::unique_ptr<Plan> plan = runtime::make_plan(serving, serving.device(call.key.context), call);
  if (!plans.full()) return plans.insert(std::move(plan));
  unkept = std::move(plan);
  return *unkept;
}

/// A thread that launches the same buffers again need not ask the driver about them again.
struct CheckedPointers {
  const Plan* plan = nullptr;
  const void* pointers[runtime::kMaxArguments] = {};

  bool covers(const Plan* wanted, const detail::LaunchArgument* arguments, std::size_t count) const {
    if (plan != wanted) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (pointers[i] != arguments[i].pointer) return false;
    }
    return true;
  }
  void remember(const Plan* checked, const detail::LaunchArgument* arguments, std::size_t count) {
    plan = checked;
    for (std::size_t i = 0; i < count; ++i) pointers[i] = arguments[i].pointer;
  }
};

void check_pointers(const Plan& plan, const runtime::Call& call) {
  static thread_local CheckedPointers checked;
  if (call.key.context == runtime::kHostContext || checked.covers(&plan, call.arguments, call.count)) return;
  runtime::require_device_pointers(Serving::process().device(call.key.context), call);
  checked.remember(&plan, call.arguments, call.count);
}

}  // namespace

Kernel::Kernel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Kernel::Kernel(KernelSpec spec) : impl_(std::make_shared<Impl>()) {
  impl_->spec = std::make_shared<const KernelSpec>(std::move(spec));
}

Kernel Kernel::from_file(const std::string& name_or_path) { return Kernel(KernelLibrary().find(name_or_path)); }

Kernel Kernel::from_source(std::string_view text, const std::string& name) {
  return Kernel(parse_kernel_file(text, name));
}

const std::string& Kernel::name() const { return impl_->spec->name; }

const KernelSpec& Kernel::spec() const { return *impl_->spec; }

Kernel Kernel::with(const Choices& choices) const {
  auto impl = std::make_shared<Impl>();
  impl->spec = impl_->spec;
  impl->choices = impl_->choices;
  for (const auto& [name, value] : choices) impl->choices[name] = value;
  ProblemSize probe;
  probe.choices = impl->choices;
  for (const SizeSpec& size : impl->spec->sizes) probe.sizes[size.name] = 1;
  complete(*impl->spec, probe);  // throws for an unknown choice or value
  return Kernel(std::move(impl));
}

void Kernel::launch_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                           std::size_t count) const {
  const runtime::Call call{*impl_->spec, impl_->choices, key_of(*impl_->spec, sizes, arguments, count),
                           arguments,    count,          stream};
  if (const Plan* plan = impl_->plans.find(call.key)) [[likely]] {
    check_pointers(*plan, call);
    plan->launch(arguments, stream);
    return;
  }
  std::unique_ptr<Plan> unkept;
  new_plan(impl_->plans, call, unkept).launch(arguments, stream);
  // Its module stays loaded with the device; its work space must outlive the launch.
  if (unkept) Serving::process().device(call.key.context).backend().synchronize(stream);
}

void Kernel::prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                            std::size_t count) const {
  const runtime::Call call{*impl_->spec, impl_->choices, key_of(*impl_->spec, sizes, arguments, count),
                           arguments,    count,          stream};
  const Plan* plan = impl_->plans.find(call.key);
  std::unique_ptr<Plan> unkept;
  (plan ? *plan : new_plan(impl_->plans, call, unkept)).prepare(stream);
}

std::string Kernel::explain(const Sizes& sizes, const Choices& types) const {
  ProblemSize size;
  size.choices = impl_->choices;
  for (const auto& [name, value] : types) size.choices[name] = value;
  const KernelSpec& spec = *impl_->spec;
  for (std::size_t i = 0; i < spec.sizes.size() && i < sizes.count(); ++i) size.sizes[spec.sizes[i].name] = sizes[i];
  Serving& serving = Serving::process();
  runtime::ServedDevice& device = serving.device(serving.context_for(nullptr));
  const runtime::Decision decision =
      runtime::decide_configuration(serving, device, spec, complete(spec, std::move(size)), false);
  return decision.configuration.text() + " (" + decision.reason + ')';
}

}  // namespace tuner
