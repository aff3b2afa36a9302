#include <tuner/runtime/planner.hpp>

#include <algorithm>
#include <span>

#include <tuner/core/error.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/runtime/gpu.hpp>
#include <tuner/session/empty_space.hpp>
#include <tuner/session/tuning.hpp>

namespace tuner::runtime {
namespace {

bool from_caller(const BufferSpec& buffer) {
  return buffer.role != BufferRole::scratch && buffer.role != BufferRole::zeroed;
}

std::vector<const BufferSpec*> caller_buffers(const KernelSpec& spec) {
  std::vector<const BufferSpec*> buffers;
  for (const BufferSpec& buffer : spec.buffers) {
    if (from_caller(buffer)) buffers.push_back(&buffer);
  }
  return buffers;
}

std::vector<std::size_t> positions(const Call& call, bool pointers) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < call.count; ++i) {
    if (call.arguments[i].is_pointer == pointers) result.push_back(i);
  }
  return result;
}

std::string signature(const KernelSpec& spec) {
  std::string text;
  for (const BufferSpec* buffer : caller_buffers(spec)) text += (text.empty() ? "" : ", ") + buffer->name;
  for (const ScalarSpec& scalar : spec.scalars) text += (text.empty() ? "" : ", ") + scalar.name;
  return '(' + text + ')';
}

void require_counts(const Call& call) {
  const KernelSpec& spec = call.spec;
  if (call.key.sizes.count() != spec.sizes.size()) {
    throw Error("kernel '" + spec.name + "' takes " + std::to_string(spec.sizes.size()) + " sizes, " +
                std::to_string(call.key.sizes.count()) + " were given");
  }
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    if (call.key.sizes[i] < 0) throw Error("kernel '" + spec.name + "': size " + spec.sizes[i].name + " is negative");
  }
  if (positions(call, true).size() != caller_buffers(spec).size() ||
      positions(call, false).size() != spec.scalars.size()) {
    throw Error("kernel '" + spec.name + "' takes the arguments " + signature(spec) + ": " +
                std::to_string(caller_buffers(spec).size()) + " pointers and " + std::to_string(spec.scalars.size()) +
                " numbers; the call has " + std::to_string(positions(call, true).size()) + " and " +
                std::to_string(positions(call, false).size()));
  }
}

/// The types that the call's pointers stand for, one for each `type` of the kernel that a buffer uses.
void infer_types(const Call& call, ProblemSize& size) {
  const auto buffers = caller_buffers(call.spec);
  const auto pointers = positions(call, true);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int code = call.arguments[pointers[i]].element;
    const ChoiceSpec* choice = call.spec.find_choice(buffers[i]->type);
    if (code < 0 || choice == nullptr || !choice->is_type) continue;
    const std::string name(info(static_cast<ElementType>(code)).name);
    const auto [at, added] = size.choices.emplace(choice->name, name);
    if (!added && at->second != name) {
      throw Error("kernel '" + call.spec.name + "': '" + buffers[i]->name + "' points to " + name + ", but " +
                  choice->name + " is " + at->second + " by another argument");
    }
  }
}

/// Pointers to types that do not follow from a choice must match as well.
void check_types(const Call& call, const ProblemSize& size) {
  const auto buffers = caller_buffers(call.spec);
  const auto pointers = positions(call, true);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int code = call.arguments[pointers[i]].element;
    const ElementType wanted = resolved_type(call.spec, size, buffers[i]->type);
    if (code < 0 || static_cast<ElementType>(code) == wanted) continue;
    throw Error("kernel '" + call.spec.name + "': '" + buffers[i]->name + "' is a pointer to " +
                std::string(info(static_cast<ElementType>(code)).name) + ", the kernel takes " +
                std::string(info(wanted).name));
  }
}

template <typename T>
std::size_t position_by_name(const std::vector<T>& list, std::string_view name) {
  return static_cast<std::size_t>(
      std::find_if(list.begin(), list.end(), [&](const T& item) { return item.name == name; }) - list.begin());
}

Argument integer_argument(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::int64:
    case ElementType::uint64:
      return Argument::of(value);
    default:
      return Argument::of(static_cast<std::int32_t>(value));  // that it fits is a condition of every plan
  }
}

/// Binds the names of a launch's arguments to where their values come from.
class ParameterBinder {
 public:
  ParameterBinder(const Call& call, const ProblemSize& size, const Configuration& configuration)
      : call_(call),
        size_(size),
        configuration_(configuration),
        buffers_(caller_buffers(call.spec)),
        pointers_(positions(call, true)),
        numbers_(positions(call, false)) {
    for (const BufferSpec& buffer : call.spec.buffers) {
      if (!from_caller(buffer)) work_.push_back(&buffer);
    }
  }

  ParameterSource source(const std::string& name) const {
    const KernelSpec& spec = call_.spec;
    ParameterSource result;
    if (const SizeSpec* found = spec.find_size(name)) {
      result.constant = integer_argument(size_.sizes.at(name), found->type);
    } else if (const ScalarSpec* scalar = spec.find_scalar(name)) {
      result.kind = ParameterSource::Kind::caller_number;
      result.index = numbers_.at(position_by_name(spec.scalars, name));
      result.type = resolved_type(spec, size_, scalar->type);
      if (result.type == ElementType::half || result.type == ElementType::bfloat16) {
        throw Error("kernel '" + spec.name + "': scalar '" + name +
                    "' of a 16-bit floating type cannot be passed by value");
      }
    } else if (const BufferSpec* buffer = spec.find_buffer(name)) {
      const auto at = std::find(buffers_.begin(), buffers_.end(), buffer);
      const bool callers = at != buffers_.end();
      result.kind = callers ? ParameterSource::Kind::caller_pointer : ParameterSource::Kind::work_buffer;
      result.index = callers ? pointers_.at(static_cast<std::size_t>(at - buffers_.begin()))
                             : static_cast<std::size_t>(std::find(work_.begin(), work_.end(), buffer) - work_.begin());
    } else if (const Value* parameter = configuration_.find(name)) {
      result.constant = Argument::of(static_cast<std::int32_t>(parameter->integer()));
    } else {
      throw Error("kernel '" + spec.name + "': argument '" + name + "' is nothing that the kernel declares");
    }
    return result;
  }

  std::vector<WorkBuffer> work_buffers(const Bindings& names) const {
    std::vector<WorkBuffer> result;
    for (const BufferSpec* buffer : work_) {
      const std::int64_t count = std::max<std::int64_t>(1, buffer->count.evaluate_integer(names));
      const std::size_t bytes = info(resolved_type(call_.spec, size_, buffer->type)).bytes;
      result.push_back({static_cast<std::size_t>(count) * bytes, buffer->role == BufferRole::zeroed});
    }
    return result;
  }

 private:
  const Call& call_;
  const ProblemSize& size_;
  const Configuration& configuration_;
  std::vector<const BufferSpec*> buffers_, work_;
  std::vector<std::size_t> pointers_, numbers_;
};

bool good_enough(cache::Tier tier) {
  return tier == cache::Tier::exact || tier == cache::Tier::stale || tier == cache::Tier::nearest_size;
}

bool any_size_is_zero(const ProblemSize& size) {
  return std::any_of(size.sizes.begin(), size.sizes.end(), [](const auto& entry) { return entry.second == 0; });
}

Configuration fallback(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  if (spec.default_configuration && !why_invalid(spec, size, limits, *spec.default_configuration)) {
    return *spec.default_configuration;
  }
  const EnumeratedSpace space = enumerate(spec, size, limits);
  if (space.empty()) throw Error(explain_empty_space(spec, size, limits));
  return space.configuration(0);
}

/// Tunes within the settings' time and stores the result. Nothing when nothing worked. The wisdom is locked.
std::optional<Configuration> tune_now(Serving& serving, ServedDevice& device, const KernelSpec& spec,
                                      const ProblemSize& size) {
  TuningOptions options;
  options.session.budget.wall_time = serving.settings().tuning_time;
  options.isolation = Isolation::none;  // the caller's context is here, and the kernel is about to run in it anyway
  options.origin = "first use";
  try {
    const SessionResult result =
        tune_kernel(spec, size, device.device(), serving.wisdom(), options, nullptr, &device.backend());
    if (result.best) return result.best->configuration;
    serving.warn("kernel '" + spec.name + "': no configuration worked for " + size.text());
  } catch (const Error& error) {
    if (!device.backend().usable()) throw;
    serving.warn("kernel '" + spec.name + "' was not tuned for " + size.text() + ": " + error.what());
  }
  return std::nullopt;
}

}  // namespace

ProblemSize problem_of(const Call& call) {
  require_counts(call);
  ProblemSize size;
  size.choices = call.choices;
  for (std::size_t i = 0; i < call.spec.sizes.size(); ++i) size.sizes[call.spec.sizes[i].name] = call.key.sizes[i];
  infer_types(call, size);
  size = complete(call.spec, std::move(size));
  check_types(call, size);
  return size;
}

Decision decide_configuration(Serving& serving, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                              bool may_tune) {
  // Held while tuning: a second thread that misses the same problem then finds what the first one stored.
  const std::lock_guard lock(serving.wisdom_mutex());
  const cache::WisdomMatch match = serving.wisdom().lookup(spec, size, device.device());
  if (match && good_enough(match.tier)) return {Configuration::parse(match.best->configuration), match.reason};
  if (may_tune && serving.settings().tune == TuneOnMiss::on_first_use && !any_size_is_zero(size)) {
    if (auto tuned = tune_now(serving, device, spec, size))
      return {std::move(*tuned), "tuned on first use in this process"};
  }
  if (match) return {Configuration::parse(match.best->configuration), match.reason};
  return {fallback(spec, size, device.device().limits), "default: " + match.reason};
}

void require_device_pointers(const ServedDevice& device, const Call& call) {
  if (device.context() == kHostContext) return;
  const auto buffers = caller_buffers(call.spec);
  const auto pointers = positions(call, true);
  bool empty = false;
  for (std::size_t i = 0; i < call.key.sizes.count(); ++i) empty = empty || call.key.sizes[i] == 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const void* const pointer = call.arguments[pointers[i]].pointer;
    // The input of an empty problem may be null, or the end of an allocation: nothing of it is read.
    const bool unread = empty && i < buffers.size() && buffers[i]->role == BufferRole::in;
    if (unread || pointer == nullptr || place_of(pointer) == PointerPlace::device) continue;
    throw Error(
        "kernel '" + call.spec.name + "': '" + (i < buffers.size() ? buffers[i]->name : "an argument") +
        "' is host memory, and the call runs on " + device.device().name +
        ". Copy it to memory from cudaMalloc or cudaMallocManaged first, or serve from the CPU with TUNER_DEVICE=host");
  }
}

std::unique_ptr<Plan> make_plan(Serving& serving, ServedDevice& device, const Call& call) {
  if (device.context() != kHostContext && is_capturing(device.context(), call.stream)) {
    throw Error(
        "kernel '" + call.spec.name +
        "' is launched for the first time inside a stream capture: call prepare() with the same arguments before it");
  }
  const ProblemSize size = problem_of(call);
  require_device_pointers(device, call);
  const DeviceLimits& limits = device.device().limits;
  const Decision decision = decide_configuration(serving, device, call.spec, size, true);

  PlanParts parts;
  parts.key = call.key;
  parts.configuration = decision.configuration;
  parts.reason = decision.reason;
  const std::vector<ResolvedLaunch> launches = resolve_launches(call.spec, size, limits, decision.configuration);
  std::vector<std::string> expressions;
  for (const ResolvedLaunch& launch : launches) {
    if (std::find(expressions.begin(), expressions.end(), launch.expression) == expressions.end()) {
      expressions.push_back(launch.expression);
    }
  }
  const auto loaded = device.load(compile_request(call.spec, size, device.backend().architecture(), expressions));
  const ParameterBinder binder(call, size, decision.configuration);
  for (const ResolvedLaunch& launch : launches) {
    const auto at = std::find(expressions.begin(), expressions.end(), launch.expression);
    const LoadedFunction& function = loaded[static_cast<std::size_t>(at - expressions.begin())];
    PlannedLaunch planned{function.module, function.function, launch.shape, {}};
    for (const std::string& argument : launch.spec->arguments) planned.parameters.push_back(binder.source(argument));
    if (planned.parameters.size() > kMaxParameters) {
      throw Error("kernel '" + call.spec.name + "': a launch takes more than " + std::to_string(kMaxParameters) +
                  " arguments");
    }
    parts.launches.push_back(std::move(planned));
  }
  parts.work_buffers = binder.work_buffers(bindings(call.spec, size, limits, decision.configuration));
  return std::make_unique<Plan>(device.backend(), std::move(parts));
}

}  // namespace tuner::runtime
