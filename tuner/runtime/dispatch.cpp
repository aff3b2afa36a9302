// The way of a call: its context, its plan (made when there is none), its pointers, its work space, the launch.
#include <tuner/core/error.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/runtime/make_plan.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner {
namespace {

using namespace runtime;
using Given = detail::LaunchArgument::Kind;

/// Captured launches that a plan makes room for by itself, so that a program that has called before may capture.
constexpr std::size_t kCapturesUnasked = 4;

const void* first_pointer(const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.arguments[i].kind == Given::pointer && call.arguments[i].pointer != nullptr)
      return call.arguments[i].pointer;
  }
  return nullptr;
}

PlanKey key_in(const ContextName& context, const KernelSpec& spec, const Call& call) {
  if (call.count > kMaxArguments) {
    throw Error("kernel '" + spec.name + "': more than " + std::to_string(kMaxArguments) + " arguments in a launch");
  }
  return key_of(context, call);
}

[[noreturn]] void refuse_in_capture(const KernelSpec& spec, const char* what) {
  throw Error(
      "kernel '" + spec.name + "': " + what +
      " inside a stream capture: call prepare() (for reductions prepare_reduce()) with the same arguments before "
      "the capture begins");
}

/// What this thread last launched with: the driver need not be asked about the same buffers again.
struct CheckedPointers {
  std::uint64_t context = 0;
  const void* pointers[kMaxArguments] = {};

  bool covers(const ContextName& wanted, const Call& call) const {
    bool same = context == wanted.id;
    for (std::size_t i = 0; i < call.count && same; ++i) {
      same = call.arguments[i].kind != Given::pointer ||
             (call.arguments[i].pointer == pointers[i] && pointers[i] != nullptr);
    }
    return same;
  }
  void remember(const ContextName& checked, const Call& call) {
    context = checked.id;
    for (std::size_t i = 0; i < call.count; ++i) pointers[i] = call.arguments[i].pointer;
  }
};

/// The caller's own work space laid out for a plan, its zeroed part set to zero on the stream.
WorkSpace callers_own(const KernelSpec& spec, ServedDevice& device, const Call& call, const WorkNeed& need) {
  const auto address = reinterpret_cast<DevicePointer>(call.workspace.data);
  if (call.workspace.bytes < need.zeroed + need.scratch || address % kWorkAlignment != 0) {
    throw Error("kernel '" + spec.name + "' needs " + std::to_string(need.zeroed + need.scratch) +
                " bytes of work space at a multiple of " + std::to_string(kWorkAlignment) + "; the call brings " +
                std::to_string(call.workspace.bytes));
  }
  if (need.zeroed > 0) device.backend().fill_on(address, 0, need.zeroed, call.stream.handle());
  return {address, address + need.zeroed};
}

}  // namespace

void Kernel::Impl::launch(const Call& call) {
  Serving& serving = Serving::process();
  const ContextName context = serving.context_for(first_pointer(call));
  const StreamState stream = stream_state(context, call.stream.handle());
  const PlanKey key = key_in(context, *spec, call);
  Plan::Shapes shapes;
  std::unique_ptr<Plan> unkept;
  const Plan* plan = plans.find(key, call.sizes, shapes);
  if (plan == nullptr) [[unlikely]] {
    if (stream.capturing) refuse_in_capture(*spec, "first launch of this size class");
    plan = &new_plan(key, context, call, true, unkept);
    plan->admits(call.sizes, shapes);
  } else {
    check_pointers(context, call);
  }
  const WorkNeed& need = plan->work();
  if (need.none()) return plan->launch(call, shapes, {});
  ServedDevice& device = *serving.find(context);
  if (call.workspace.data != nullptr) return plan->launch(call, shapes, callers_own(*spec, device, call, need));
  if (!stream.capturing) {
    const WorkSpaces::Lease lease(device.work(), stream.id, need, plan->several());
    return plan->launch(call, shapes, lease.space());
  }
  WorkSpace lent;
  if (!device.work().lend(stream.graph, need, lent)) refuse_in_capture(*spec, "no work space is left for a launch");
  plan->launch(call, shapes, lent);
}

std::size_t Kernel::Impl::prepare(const Call& call, std::size_t captures) {
  Serving& serving = Serving::process();
  const ContextName context = serving.context_for(first_pointer(call));
  const StreamState stream = stream_state(context, call.stream.handle());
  if (stream.capturing) refuse_in_capture(*spec, "nothing can be prepared");
  const PlanKey key = key_in(context, *spec, call);
  Plan::Shapes shapes;
  std::unique_ptr<Plan> unkept;
  const Plan* plan = plans.find(key, call.sizes, shapes);
  if (plan == nullptr) plan = &new_plan(key, context, call, false, unkept);
  const WorkNeed& need = plan->work();
  if (need.none()) return 0;
  WorkSpaces& work = serving.find(context)->work();
  if (captures > 0) work.prepare(stream.id, need);
  if (!is_host(context)) work.prepare_captures(need, captures);
  return need.zeroed + need.scratch;
}

const Plan& Kernel::Impl::new_plan(const PlanKey& key, const ContextName& context, const Call& call, bool outputs,
                                   std::unique_ptr<Plan>& unkept) {
  Serving& serving = Serving::process();
  const WarningsAtEnd warnings(serving);
  const BoundCall bound = bind_call(*spec, choices, call);
  ServedDevice& device = serving.device(context);
  runtime::check_pointers(*spec, bound, call, device.device().limits, context, device.device().index, outputs);
  const Decision decision = decide(serving, device, *spec, bound.size, true);
  unkept = make_plan(device, *spec, key, call, bound, decision.configuration);
  if (!is_host(context) && !unkept->work().none()) device.work().prepare_captures(unkept->work(), kCapturesUnasked);
  const Plan* kept = decision.for_now ? nullptr : plans.insert(unkept);
  return kept != nullptr ? *kept : *unkept;
}

void Kernel::Impl::check_pointers(const ContextName& context, const Call& call) const {
  static thread_local CheckedPointers checked;
  if (checked.covers(context, call)) return;
  const ServedDevice& device = *Serving::process().find(context);
  bool plain = true;  // nothing null, everything in reach: the usual, found without a heap
  for (std::size_t i = 0; i < call.count && plain; ++i) {
    if (call.arguments[i].kind != Given::pointer) continue;
    const void* const pointer = call.arguments[i].pointer;
    plain =
        pointer != nullptr && (is_host(context) || why_unreachable(pointer, device.device().index, context).empty());
  }
  if (plain) return checked.remember(context, call);
  runtime::check_pointers(*spec, bind_call(*spec, choices, call), call, device.device().limits, context,
                          device.device().index, true);
}

}  // namespace tuner
