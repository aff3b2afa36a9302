// The way of a call. A warm one: its place, its plan, its work space, the launch. The first of its size class and
// context goes on between the two: what it says (bind), which configuration (decide), its plan (make_plan).
#include <tuner/runtime/served_kernel.hpp>

#include <optional>

#include <tuner/core/error.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/call_place.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/make_plan.hpp>
#include <tuner/runtime/miss_log.hpp>
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

  /// Whether the launch that follows is timed.
  bool begin_timing(const Call& call) {
    if (!allowed) allowed.emplace(here->device.context);
    return plan->missed->begin(call.stream.handle());
  }

  const PlanKey key;
  const CallPlace place;
  InContext* here;
  const Plan* plan = nullptr;
  Plan::Shapes shapes;
  std::unique_ptr<Plan> unkept;           // a plan for this call alone
  bool is_new = false;                    // the plan was made and kept
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
  const Serving::Terms terms = Serving::process().terms();
  const Decision decision = decide(terms, device, *kernel.spec, bound.size, bound.lowest, /*may_tune=*/true);
  unkept = make_plan(device, *kernel.spec, bound, decision.configuration);
  if (decision.only_here) unkept->only = bound.sizes;
  unkept->apart = decision.apart;
  plan = unkept.get();
  plan->admits(call.sizes, shapes);
  if (decision.for_now) return;
  if (!decision.missed.empty() && terms.settings.remember_misses)
    if (Miss* const miss = MissLog::process().note(*kernel.spec, bound, device.device(), decision.missed))
      unkept->missed = std::make_unique<MissCounter>(*miss, *device.backend);
  here->plans.insert(unkept);
  is_new = true;
}

void ServedKernel::launch(const Call& call) {
  Way way(*this, call);
  ServedDevice& device = way.here->device;
  std::optional<ResultSlots::Loan> slot;
  if (call.value != nullptr) {
    slot.emplace(device.results);
    call.value->place->pointer = reinterpret_cast<void*>(slot->address());
  }
  if (captures_) [[unlikely]]
    launch_captured(way, call);
  else
    launch_on(way, call);
  if (slot) {
    if (!way.allowed) way.allowed.emplace(device.context);  // another thread's capture may forbid waiting
    device.backend->fetch(call.value->to, slot->address(), call.value->bytes, call.stream.handle());
  }
  if (way.is_new) [[unlikely]]
    MissLog::process().flush_soon(Serving::process().terms().wisdom);
}

void ServedKernel::launch_on(Way& way, const Call& call) {
  ServedDevice& device = way.here->device;
  const WorkNeed& need = way.plan->work;
  const auto launch_in = [&](const WorkSpace& space) {
    MissCounter* const missed = way.plan->missed.get();
    const bool timed = missed != nullptr && missed->count() && !way.place.capture.active && way.begin_timing(call);
    way.plan->launch(call, way.shapes, space);
    if (timed) missed->end(call.stream.handle());
  };
  if (need.none()) {
    launch_in({});
  } else if (call.workspace.data != nullptr) {
    launch_in(device.work.lay_out(spec->name, call.workspace.data, call.workspace.bytes, need, call.stream.handle()));
  } else if (!way.place.capture.active) {
    launch_in(WorkSpaces::Lease(device.work, way.place.context.stream_id(), need).space());
  } else if (const std::optional<WorkSpace> lent = device.work.lend(way.place.capture.graph, need)) {
    launch_in(*lent);
  } else {
    refuse_in_capture(*spec, "no work space is left for a launch");
  }
}

void ServedKernel::launch_captured(Way& way, const Call& call) {
  if (way.place.capture.active) {
    LaunchCaptures::refuse_in_graph(*spec);
    return launch_on(way, call);
  }
  ServedDevice& device = way.here->device;
  if (!way.allowed) way.allowed.emplace(device.context);
  const BoundCall bound = bind_call(*spec, choices, call, way.key, way.place.suspects, device.device().limits);
  const auto captured = captures_->begin(*device.backend, *spec, bound, call, &way.plan->configuration);
  launch_on(way, call);
  if (captured) captured->finish();
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
