#include <tuner/runtime/call/call.hpp>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>

namespace tuner::runtime {
namespace {

const void* first_pointer(const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i)
    if (call.is_pointer(i) && call.arguments[i].pointer != nullptr) return call.arguments[i].pointer;
  return nullptr;
}

/// The first pointers of this thread's last good call: the driver need not check the same buffers again.
thread_local struct {
  std::uint64_t context = 0;
  const void* pointers[64] = {};
} checked;

// The public headers refer to element types by number.
template <typename... T>
constexpr bool in_order() {
  int next = 0;
  return ((detail::element_code<T>() == next++) && ...) && next == static_cast<int>(ElementType::tf32);
}
static_assert(in_order<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                       std::int64_t, std::uint64_t, __half, __nv_bfloat16, float, double, __nv_fp8_e4m3, __nv_fp8_e5m2,
                       __nv_fp6_e3m2, __nv_fp6_e2m3, __nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp8_e8m0>() &&
              ElementType::int8 == ElementType{0} && ElementType::half == ElementType{8} &&
              ElementType::float32 == ElementType{10});

Error refusal_of(const KernelSpec& spec, const BufferSpec& buffer, const std::string& what) {
  return refusal(spec.name, ": '" + buffer.name + "' " + what);
}

/// Throws Error unless \p given is a number, or a struct, as \p scalar is.
void require_same_kind(const KernelSpec& spec, const ScalarSpec& scalar, const detail::LaunchArgument& given) {
  const bool is_struct = given.kind == detail::LaunchArgument::Kind::structure;
  const std::string bytes = scalar.record ? std::to_string(scalar.record->bytes) : "";
  if (!scalar.record && is_struct)
    throw refusal(spec.name, " takes a number as '" + scalar.name + "', and the call gives a struct");
  if (scalar.record && !is_struct)
    throw refusal(spec.name, " takes a struct of " + bytes + " bytes as '" + scalar.name +
                                 "', and the call gives a number: pass the struct by value");
  if (scalar.record && given.integer != scalar.record->bytes)
    throw refusal(spec.name, " takes a struct of " + bytes + " bytes as '" + scalar.name + "', and the call gives " +
                                 std::to_string(given.integer) + " bytes");
}

/// Assigns the caller's pointers to buffers, and numbers and structs to scalars, in order.
void match(const KernelSpec& spec, const Call& call, BoundCall& bound) {
  for (const ScalarSpec& scalar : spec.scalars)
    if (scalar.record && scalar.record->has_pointers())
      throw refusal(spec.name,
                    " takes a struct with pointers by value ('" + scalar.name +
                        "'), which calls cannot check: pass the pointers one by one, or launch the kernel yourself",
                    ErrorCode::invalid_kernel);
  std::vector<std::size_t> pointers;
  for (std::size_t i = 0; i < call.count; ++i) (call.is_pointer(i) ? pointers : bound.scalars).push_back(i);
  std::size_t taken = 0;
  std::string signature;
  for (const BufferSpec& buffer : spec.buffers) {
    const bool callers = !buffer.is_work_space();
    bound.buffers.push_back(callers && taken < pointers.size() ? pointers[taken] : kWorkSpace);
    taken += callers;
    if (callers) signature += buffer.name + ", ";
  }
  for (const ScalarSpec& scalar : spec.scalars) signature += scalar.name + ", ";
  if (taken == pointers.size() && spec.scalars.size() == bound.scalars.size()) {
    for (std::size_t i = 0; i < spec.scalars.size(); ++i)
      require_same_kind(spec, spec.scalars[i], call.arguments[bound.scalars[i]]);
    return;
  }
  const auto counts = [](std::size_t of_pointers, const char* between, std::size_t of_numbers) {
    return std::to_string(of_pointers) + between + std::to_string(of_numbers);
  };
  throw refusal(spec.name, " takes the arguments (" + signature.substr(0, signature.rfind(',')) +
                               "): " + counts(taken, " pointers and ", spec.scalars.size()) +
                               " numbers or structs; the call has " +
                               counts(pointers.size(), " and ", bound.scalars.size()));
}

/// Whether both element types are one in C++, as tf32 and float are.
bool is_same_in_cpp(const std::string& a, const std::string& b) {
  const auto first = element_type(a), second = element_type(b);
  return first && second && info(*first).spelling == info(*second).spelling;
}

/// A buffer without elements is never accessed: its pointer may be null, or the end of an allocation.
void refuse(const KernelSpec& spec, const BufferSpec& buffer, const Suspect& pointer, std::int64_t elements) {
  if (elements == 0) return;
  if (!pointer.why.empty()) throw refusal_of(spec, buffer, pointer.why);
  const char* const use = buffer.role == BufferRole::in ? "reads " : "writes ";
  throw refusal_of(spec, buffer,
                   std::string("is null, and the kernel ") + use + std::to_string(elements) + " elements there");
}

}  // namespace

CallPlace::CallPlace(const Call& call, int ordinal)
    : context(first_pointer(call), ordinal, call.stream.handle()), capture(context.capture()) {
  if (capture.active && call.value != nullptr)
    throw Error(ErrorCode::invalid_argument,
                "tuner::reduce waits for its result, which a stream capture cannot: use reduce_async() there");
  bool same = checked.context == context.id();
  for (std::size_t i = 0; i < call.count; ++i) {
    if (!call.is_pointer(i) || (call.value != nullptr && call.value->place == &call.arguments[i])) continue;
    const void* const pointer = call.arguments[i].pointer;
    same = same && i < std::size(checked.pointers) && pointer == checked.pointers[i];
    if (pointer == nullptr) {
      suspects.push_back({i, {}});
    } else if (!same) {
      std::string why = context.why_unreachable(pointer);
      if (!why.empty()) suspects.push_back({i, std::move(why)});
    }
  }
  if (same || !suspects.empty()) return;
  if (checked.context != context.id()) std::fill(std::begin(checked.pointers), std::end(checked.pointers), nullptr);
  checked.context = context.id();
  for (std::size_t i = 0; i < std::min(call.count, std::size(checked.pointers)); ++i)
    checked.pointers[i] = call.is_pointer(i) ? call.arguments[i].pointer : nullptr;
}

ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices) {
  if (sizes.count() != spec.sizes.size())
    throw refusal(spec.name, " takes " + std::to_string(spec.sizes.size()) + " sizes, " +
                                 std::to_string(sizes.count()) + " were given");
  ProblemSize size;
  size.choices = std::move(choices);
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    if (sizes[i] < 0) throw refusal(spec.name, ": size " + spec.sizes[i].name + " is negative");
    size.sizes[spec.sizes[i].name] = sizes[i];
  }
  return complete(spec, std::move(size));
}

BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call, const PlanKey& key,
                    std::span<const Suspect> suspects, const DeviceLimits& limits) {
  BoundCall bound{key, call.sizes, {}, {}, {}, {}};
  match(spec, call, bound);
  const auto type_of = [&](std::size_t i) -> std::string {  // the type of the caller's pointer; empty: void
    if (bound.buffers[i] == kWorkSpace || call.arguments[bound.buffers[i]].element < 0) return {};
    return std::string(info(static_cast<ElementType>(call.arguments[bound.buffers[i]].element)).name);
  };
  Choices types = choices;
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const ChoiceSpec* choice = spec.find_choice(spec.buffers[i].type);
    std::string type = type_of(i);
    if (type.empty() || choice == nullptr || !choice->is_type) continue;
    if (!contains(choice->values, type)) {
      const auto same =
          std::ranges::find_if(choice->values, [&](const std::string& one) { return is_same_in_cpp(one, type); });
      if (same != choice->values.end()) type = *same;  // float for tf32
    }
    const auto [at, added] = types.emplace(choice->name, type);
    if (added || is_same_in_cpp(at->second, type)) continue;
    throw refusal_of(spec, spec.buffers[i],
                     "points to " + type + ", but " + choice->name + " is " + at->second +
                         " by another argument; all pointers to " + choice->name + " must have one type");
  }
  bound.lowest = problem_of(spec, key.classes, types);
  bound.size = problem_of(spec, call.sizes, std::move(types));
  for (std::size_t i = 0; i < spec.scalars.size(); ++i)
    if (is_part_of_problem(spec, spec.scalars[i], bound.size))
      bound.size.choices[spec.scalars[i].name] = with_number(call.arguments[bound.scalars[i]], [](auto number) {
        if constexpr (std::is_floating_point_v<decltype(number)>)
          return scalar_text(number);
        else
          return std::to_string(number);
      });
  bound.size = complete(spec, std::move(bound.size));
  bound.lowest.choices = bound.size.choices;
  const Bindings names = bindings(spec, bound.size, limits);
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    if (bound.buffers[i] == kWorkSpace) continue;
    const BufferSpec& buffer = spec.buffers[i];
    const std::string type = type_of(i), wanted(info(resolved_type(spec, bound.size, buffer.type)).name);
    if (!type.empty() && !is_same_in_cpp(type, wanted))
      throw refusal_of(spec, buffer, "is a pointer to " + type + ", the kernel takes " + wanted);
    if (buffer.role != BufferRole::in && call.arguments[bound.buffers[i]].is_const)
      throw refusal_of(spec, buffer, "is written by the kernel, and the call gives a pointer to const");
    if (buffer.role != BufferRole::in && call.prepares) continue;
    const std::int64_t elements = buffer.count.evaluate_integer(names);
    for (const Suspect& suspect : suspects)
      if (suspect.argument == bound.buffers[i]) refuse(spec, buffer, suspect, elements);
  }
  return bound;
}

}  // namespace tuner::runtime
