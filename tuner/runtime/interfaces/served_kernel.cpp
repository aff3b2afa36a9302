// The steps of a call. A warm one: place, plan, work space, launch. The first one of a size class and context also
// binds its arguments (bind), and chooses a configuration and makes its plan (decided_plan).
#include <tuner/runtime/interfaces/served_kernel.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>
#include <tuner/runtime/background/housekeeping.hpp>
#include <tuner/runtime/background/misses.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/decide/decide.hpp>
#include <tuner/runtime/decide/serving.hpp>

namespace tuner::runtime {
namespace {

[[noreturn]] void refuse_in_capture(const KernelSpec& spec, const char* what) {
  throw refusal(spec.name,
                std::string(": ") + what +
                    " inside a stream capture: call prepare() (for reductions prepare_reduce()) with the same "
                    "arguments before the capture begins",
                ErrorCode::not_prepared);
}

/// Throws Error if a pointer of \p call is not aligned as the kernel file says.
void require_alignment(const KernelSpec& spec, const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i) {
    if (!call.is_pointer(i)) continue;
    if (reinterpret_cast<std::uintptr_t>(call.arguments[i].pointer) % static_cast<std::uintptr_t>(spec.alignment) == 0)
      continue;
    throw refusal(spec.name, " takes pointers that are multiples of " + std::to_string(spec.alignment) +
                                 " bytes ('aligned' or a 'tensormap' in its file), but argument " +
                                 std::to_string(i + 1) + " of the call is not");
  }
}

/// Limits \p plan, made for \p sizes, to those for which \p decision is made.
void limit_sizes(Plan& plan, const Decision& decision, const Sizes& sizes) {
  if (decision.only_here) plan.only = sizes;
  if (decision.apart.empty()) return;
  auto apart = std::make_unique<std::unordered_set<Sizes, SizesHash>>(decision.apart.begin(), decision.apart.end());
  if (plan.apart) apart->insert(plan.apart->begin(), plan.apart->end());
  plan.apart = std::move(apart);
}

}  // namespace

/// The place of a call, and the plan that was found or made for it.
struct ServedKernel::PlannedCall {
  PlannedCall(ServedKernel& kernel, const Call& call);

  /// Whether the next launch is timed.
  bool begin_timing(const Call& call) {
    if (!allowed) allowed.emplace(here->device.context);
    return plan->missed->begin(call.stream.handle());
  }

  /// Makes room for \p captures of the plan, of which there was room for \p known before.
  void prepare(std::size_t captures, std::size_t known) const;
  /// Enough for the plan, captured or not.
  WorkNeed work() const;

 private:
  /// For a captured call, the plan for graphs if there is one that admits it.
  void turn_to_graphs(const Call& call);
  /// Makes the plan for captured calls if it differs from \p made. Limits \p made to the sizes for which it is
  /// decided. Adds to \p decision where it comes from, and that it is for now only if it failed.
  static void add_plan_in_graphs(ServedKernel& kernel, ServedDevice& device, const Serving::Terms& terms,
                                 const BoundCall& bound, Plan& made, Decision& decision);

 public:
  const PlanKey key;
  const CallPlace place;
  InContext* here;
  const Plan* plan = nullptr;
  Plan::Shapes shapes;
  std::shared_ptr<const Plan> own;        // keeps the plan alive if the table may drop it
  bool is_new = false;                    // the plan was made now and is not provisional
  std::optional<BesideCaptures> allowed;  // for a call that is not warm, and for waiting
};

PlanKey ServedKernel::key_for(const Call& call) {
  PlanKey key = key_of(call, spec->name);
  key.scalars = scalar_keys_.of(call);
  if (spec->alignment > 1) [[unlikely]]
    require_alignment(*spec, call);
  return key;
}

ServedKernel::PlannedCall::PlannedCall(ServedKernel& kernel, const Call& call)
    : key(kernel.key_for(call)),
      place(call, Serving::process().ordinal()),
      here(kernel.contexts_.find(place.context.id())) {
  if (here != nullptr) plan = here->plans.find(key, call.sizes, shapes);
  if (plan == nullptr && here != nullptr) [[unlikely]] {
    own = here->plans.find_recent(key, call.sizes, shapes);
    if (own == nullptr && place.capture.active) own = here->plans.find_last(key, call.sizes, shapes);
    plan = own.get();
  }
  if (plan != nullptr && place.capture.active) [[unlikely]]
    turn_to_graphs(call);
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
  if (plan != nullptr) return;  // the suspect pointers belong to buffers without elements
  const Serving::Terms terms = Serving::process().terms();
  const std::uint64_t generation = here->plans.generation();
  DecidedPlan decided = decided_plan(terms, device, *kernel.spec, bound, kernel.use.value_or(Use::single));
  Decision& decision = decided.decision;
  std::shared_ptr<Plan> made = std::move(decided.plan);
  limit_sizes(*made, decision, bound.sizes);
  if (!kernel.use) add_plan_in_graphs(kernel, device, terms, bound, *made, decision);
  is_new = !decision.for_now;
  if (is_new && !decision.missed.empty() && terms.settings.remember_misses)
    if (Miss* const miss =
            MissLog::process().note(*kernel.spec, bound.size, bound.lowest, device.device(), decision.missed))
      made->missed = std::make_unique<MissCounter>(*miss, *device.backend);
  const auto before = here->plans.find_last(key, call.sizes, shapes);
  const std::size_t captures = before != nullptr ? before->captures->load() : 0;
  own = here->plans.insert(std::move(made), bound.sizes, generation, decision.for_now, decision.from_user);
  plan = own.get();
  plan->admits(call.sizes, shapes);
  if (captures == 0) return;
  try {
    prepare(captures, captures);  // what the former plan does not use suits this one, if it is large enough
  } catch (const Error&) {        // a captured call that finds no room reports it
  }
}

void ServedKernel::PlannedCall::turn_to_graphs(const Call& call) {
  Plan::Shapes others;
  if (plan->in_graphs == nullptr || !plan->in_graphs->admits(call.sizes, others)) return;
  plan = plan->in_graphs.get();
  shapes = others;
}

void ServedKernel::PlannedCall::add_plan_in_graphs(ServedKernel& kernel, ServedDevice& device,
                                                   const Serving::Terms& terms, const BoundCall& bound, Plan& made,
                                                   Decision& decision) {
  std::optional<DecidedPlan> other;
  try {
    other = plan_in_graphs(terms, device, *kernel.spec, bound);
  } catch (const Error&) {  // calls outside of captures do not need it
    decision.for_now = true;
  }
  if (!other) return;
  limit_sizes(made, other->decision, bound.sizes);
  decision.from_user |= other->decision.from_user;
  decision.for_now |= other->decision.for_now;
  if (!other->decision.for_now && other->plan->configuration != made.configuration)
    made.in_graphs = std::move(other->plan);
}

WorkNeed ServedKernel::PlannedCall::work() const {
  WorkNeed need = plan->work;
  if (plan->in_graphs == nullptr) return need;
  need.zeroed = std::max(need.zeroed, plan->in_graphs->work.zeroed);
  need.scratch = std::max(need.scratch, plan->in_graphs->work.scratch);
  return need;
}

void ServedKernel::PlannedCall::prepare(std::size_t captures, std::size_t known) const {
  if (!work().none()) here->device.work.prepare(place.context.stream_name(), work(), captures, known);
  for (known = *plan->captures; known < captures;)
    if (plan->captures->compare_exchange_weak(known, captures)) break;
}

void ServedKernel::launch(const Call& call) {
  PlannedCall planned(*this, call);
  ServedDevice& device = planned.here->device;
  std::optional<ResultSlots::Loan> slot;
  if (call.value != nullptr) {
    slot.emplace(device.results);
    call.value->place->pointer = reinterpret_cast<void*>(slot->address());
  }
  if (recorder_) [[unlikely]]
    record(
        call, [&] { launch_on(planned, call); }, &planned.plan->configuration);
  else
    launch_on(planned, call);
  if (slot) {
    if (!planned.allowed) planned.allowed.emplace(device.context);  // another thread's capture may forbid waiting
    device.backend->fetch(call.value->to, slot->address(), call.value->bytes, call.stream.handle());
  }
  if (planned.is_new) [[unlikely]]
    Housekeeping::process().write_misses_soon();
}

void ServedKernel::launch_on(PlannedCall& planned, const Call& call) {
  ServedDevice& device = planned.here->device;
  const WorkNeed& need = planned.plan->work;
  const auto launch_in = [&](const WorkSpace& space) {
    MissCounter* const missed = planned.plan->missed.get();
    const bool timed =
        missed != nullptr && missed->count() && !planned.place.capture.active && planned.begin_timing(call);
    planned.plan->launch(call, planned.shapes, space);
    if (timed) missed->end(call.stream.handle());
  };
  if (need.none()) {
    launch_in({});
  } else if (call.workspace.data != nullptr) {
    launch_in(device.work.lay_out(spec->name, call.workspace.data, call.workspace.bytes, need, call.stream.handle()));
  } else if (!planned.place.capture.active) {
    WorkSpaces::Lease lease(device.work, planned.place.context.stream_name(), need);
    try {
      launch_in(lease.space());
    } catch (...) {
      lease.clear(call.stream.handle());
      throw;
    }
  } else if (const std::optional<WorkSpace> lent = device.work.lend(planned.place.capture.graph, need)) {
    launch_in(*lent);
  } else {
    refuse_in_capture(*spec, "no work space is left for a launch");
  }
}

std::size_t ServedKernel::prepare(const Call& call, std::size_t captures) {
  constexpr std::size_t kMostCaptures = 65'536;  // more would be a mistake, such as -1
  if (captures > kMostCaptures)
    throw Error(ErrorCode::invalid_argument, "kernel '" + spec->name + "': there is no room for " +
                                                 std::to_string(captures) + " captures; the most is " +
                                                 std::to_string(kMostCaptures));
  const PlannedCall planned(*this, call);
  if (captures > 0) planned.prepare(captures, *planned.plan->captures);
  return planned.work().bytes();
}

void ServedKernel::renew(RenewedPlans which) {
  contexts_.for_each([&](InContext& context) { context.plans.renew(which); });
}

}  // namespace tuner::runtime
