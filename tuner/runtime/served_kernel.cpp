// The way of a call. A warm one: its context, its plan, its pointers, its work space, the launch. The first of its size
// class and context asks each room once, in this order: what the process knows (serving), where the call goes (gpu),
// the device, what the call says (bind), which configuration (decide), its plan (make_plan).
#include <tuner/runtime/served_kernel.hpp>

#include <optional>

#include <tuner/core/error.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/make_plan.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {
namespace {

const void* first_pointer(const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.is_pointer(i) && call.arguments[i].pointer != nullptr) return call.arguments[i].pointer;
  }
  return nullptr;
}

[[noreturn]] void refuse_in_capture(const KernelSpec& spec, const char* what) {
  throw Error(
      "kernel '" + spec.name + "': " + what +
      " inside a stream capture: call prepare() (for reductions prepare_reduce()) with the same arguments before "
      "the capture begins");
}

/// The caller's own work space laid out for a plan, its zeroed part set to zero on the stream.
WorkSpace callers_own(const KernelSpec& spec, ServedDevice& device, const Call& call, const WorkNeed& need) {
  const auto address = reinterpret_cast<DevicePointer>(call.workspace.data);
  if (call.workspace.bytes < need.bytes() || address % kWorkAlignment != 0) {
    throw Error("kernel '" + spec.name + "' needs " + std::to_string(need.bytes()) +
                " bytes of work space at a multiple of " + std::to_string(kWorkAlignment) + "; the call brings " +
                std::to_string(call.workspace.bytes));
  }
  if (need.zeroed > 0) device.backend->fill_on(address, 0, need.zeroed, call.stream.handle());
  return {address, address + need.zeroed};
}

}  // namespace

struct ServedKernel::Way {
  std::optional<CallContext> context;
  CallContext::Capture capture;
  PlanKey key;
  InContext* here = nullptr;
  const Plan* plan = nullptr;
  Plan::Shapes shapes;
  std::unique_ptr<Plan> unkept;  // a plan for this call alone
  std::optional<ResultSlots::Loan> slot;
  std::optional<BesideCaptures> allowed;  // for what is no warm call, and to wait
  std::optional<std::uint64_t> stream;

  void enter(const Call& call, int ordinal) {
    context.emplace(first_pointer(call), ordinal);
    capture = context->capture(call.stream.handle());
    if (capture.active && call.value != nullptr)
      throw Error("tuner::reduce waits for its result, which a stream capture cannot: use reduce_async() there");
  }
  std::uint64_t stream_id(const Call& call) const {
    return stream ? *stream : context->stream_id(call.stream.handle());
  }
  void lend_slot(const Call& call) {
    if (call.value == nullptr) return;
    slot.emplace(here->device.results);
    call.value->place->pointer = reinterpret_cast<void*>(slot->address());
  }
};

void ServedKernel::launch(const Call& call) {
  Way way;
  find_plan(call, way);
  if (way.plan == nullptr) [[unlikely]] {
    make_plan(call, way, true, "first launch of this size class");
  } else {
    check_pointers(*spec, choices, call, way.here->device);
  }
  ServedDevice& device = way.here->device;
  const WorkNeed& need = way.plan->work;
  const auto launch_in = [&](const WorkSpace& space) { way.plan->launch(call, way.shapes, space); };
  if (need.none()) {
    launch_in({});
  } else if (call.workspace.data != nullptr) {
    launch_in(callers_own(*spec, device, call, need));
  } else if (way.capture.active) {
    WorkSpace lent;
    if (!device.work.lend(way.capture.graph, need, lent))
      refuse_in_capture(*spec, "no work space is left for a launch");
    launch_in(lent);
  } else {
    launch_in(WorkSpaces::Lease(device.work, way.stream_id(call), need, way.plan->launches.size() > 1).space());
  }
  if (call.value == nullptr) return;
  if (!way.allowed) way.allowed.emplace(device.context);  // another thread's capture may forbid waiting
  device.backend->fetch(call.value->to, way.slot->address(), call.value->bytes, call.stream.handle());
}

std::size_t ServedKernel::prepare(const Call& call, std::size_t captures) {
  constexpr const char* refusal = "nothing can be prepared";
  Way way;
  find_plan(call, way);
  if (way.capture.active) refuse_in_capture(*spec, refusal);
  if (way.plan == nullptr) make_plan(call, way, false, refusal);
  const WorkNeed& need = way.plan->work;
  if (captures > 0 && !need.none()) way.here->device.work.prepare(way.stream_id(call), need, captures);
  return need.bytes();
}

void ServedKernel::renew() {
  contexts_.for_each([](InContext& context) { context.plans.renew(); });
}

void ServedKernel::find_plan(const Call& call, Way& way) const {
  if (call.count > kMaxArguments) {
    throw Error("kernel '" + spec->name + "': more than " + std::to_string(kMaxArguments) + " arguments in a launch");
  }
  way.key = key_of(call);
  const std::optional<int> ordinal = Serving::process().decided();
  if (!ordinal) return;
  way.enter(call, *ordinal);
  way.here = contexts_.find(way.context->id());
  if (way.here == nullptr) return;
  way.plan = way.here->plans.find(way.key, call.sizes, way.shapes);
  if (way.plan != nullptr) way.lend_slot(call);
}

void ServedKernel::make_plan(const Call& call, Way& way, bool outputs, const char* refusal) {
  if (way.capture.active) refuse_in_capture(*spec, refusal);
  const Serving::Terms terms = Serving::process().terms();
  if (!way.context) way.enter(call, terms.ordinal);
  if (way.capture.active) refuse_in_capture(*spec, refusal);
  const ContextName context = way.context->name();
  way.allowed.emplace(context);
  way.stream = way.stream_id(call);
  if (way.here == nullptr)
    way.here = &contexts_.get(context, [&] { return std::make_unique<InContext>(ServedDevice::of(context)); });
  ServedDevice& device = way.here->device;
  way.lend_slot(call);
  const BoundCall bound = bind_call(*spec, choices, call, device, outputs);
  const Decision decision = decide(terms, device, *spec, bound.size, true);
  way.unkept = runtime::make_plan(device, *spec, way.key, call, bound, decision.configuration, way.shapes);
  way.plan = way.unkept.get();
  if (!decision.for_now) way.here->plans.insert(way.unkept);
}

}  // namespace tuner::runtime
