// The way of a call. A warm one: its place, its plan, its work space, the launch. The first of its size class and
// context goes on between the two: what it says (bind), which configuration (decide), its plan (make_plan).
#include <tuner/runtime/served_kernel.hpp>

#include <optional>

#include <tuner/core/error.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/call_place.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/make_plan.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {
namespace {

[[noreturn]] void refuse_in_capture(const KernelSpec& spec, const char* what) {
  throw Error(
      "kernel '" + spec.name + "': " + what +
      " inside a stream capture: call prepare() (for reductions prepare_reduce()) with the same arguments before "
      "the capture begins");
}

}  // namespace

/// Where a call goes, and the plan that was found or made for it there.
struct ServedKernel::Way {
  Way(ServedKernel& kernel, const Call& call);

  const PlanKey key;
  const CallPlace place;
  InContext* here;
  const Plan* plan = nullptr;
  Plan::Shapes shapes;
  std::unique_ptr<Plan> unkept;           // a plan for this call alone
  std::optional<BesideCaptures> allowed;  // for what is no warm call, and to wait
};

ServedKernel::Way::Way(ServedKernel& kernel, const Call& call)
    : key(key_of(call, kernel.spec->name)),
      place(call, Serving::process().ordinal()),
      here(kernel.contexts_.find(place.context.id())) {
  if (here != nullptr) plan = here->plans.find(key, call.sizes, shapes);
  if (place.capture.active && call.prepares) refuse_in_capture(*kernel.spec, "nothing can be prepared");
  if (plan != nullptr && place.suspects.empty()) [[likely]]
    return;
  if (plan == nullptr) {
    if (place.capture.active) refuse_in_capture(*kernel.spec, "first launch of this size class");
    const ContextName context = place.context.name();
    allowed.emplace(context);
    here = &kernel.contexts_.get(context, [&] { return std::make_unique<InContext>(ServedDevice::of(context)); });
  }
  ServedDevice& device = here->device;
  const BoundCall bound = bind_call(*kernel.spec, kernel.choices, call, key, place.suspects, device.device().limits);
  if (plan != nullptr) return;  // there are no elements where the suspects point
  const Decision decision =
      decide(Serving::process().terms(), device, *kernel.spec, bound.size, bound.lowest, /*may_tune=*/true);
  unkept = make_plan(device, *kernel.spec, bound, decision.configuration);
  plan = unkept.get();
  plan->admits(call.sizes, shapes);
  if (!decision.for_now) here->plans.insert(unkept);
}

void ServedKernel::launch(const Call& call) {
  Way way(*this, call);
  ServedDevice& device = way.here->device;
  std::optional<ResultSlots::Loan> slot;
  if (call.value != nullptr) {
    slot.emplace(device.results);
    call.value->place->pointer = reinterpret_cast<void*>(slot->address());
  }
  const WorkNeed& need = way.plan->work;
  const auto launch_in = [&](const WorkSpace& space) { way.plan->launch(call, way.shapes, space); };
  if (need.none()) {
    launch_in({});
  } else if (call.workspace.data != nullptr) {
    launch_in(device.work.lay_out(spec->name, call.workspace.data, call.workspace.bytes, need, call.stream.handle()));
  } else if (!way.place.capture.active) {
    const bool several = way.plan->launches.size() > 1;
    launch_in(WorkSpaces::Lease(device.work, way.place.context.stream_id(), need, several).space());
  } else if (const std::optional<WorkSpace> lent = device.work.lend(way.place.capture.graph, need)) {
    launch_in(*lent);
  } else {
    refuse_in_capture(*spec, "no work space is left for a launch");
  }
  if (!slot) return;
  if (!way.allowed) way.allowed.emplace(device.context);  // another thread's capture may forbid waiting
  device.backend->fetch(call.value->to, slot->address(), call.value->bytes, call.stream.handle());
}

std::size_t ServedKernel::prepare(const Call& call, std::size_t captures) {
  const Way way(*this, call);
  const WorkNeed& need = way.plan->work;
  if (captures > 0 && !need.none()) way.here->device.work.prepare(way.place.context.stream_id(), need, captures);
  return need.bytes();
}

void ServedKernel::renew() {
  contexts_.for_each([](InContext& context) { context.plans.renew(); });
}

}  // namespace tuner::runtime
