#include <tuner/runtime/bind.hpp>

#include <tuner/core/error.hpp>

namespace tuner::runtime {
namespace {

using Given = detail::LaunchArgument::Kind;

// The public headers know element types by number.
static_assert(detail::element_code<std::int8_t>() == static_cast<int>(ElementType::int8));
static_assert(detail::element_code<std::uint8_t>() == static_cast<int>(ElementType::uint8));
static_assert(detail::element_code<std::int16_t>() == static_cast<int>(ElementType::int16));
static_assert(detail::element_code<std::uint16_t>() == static_cast<int>(ElementType::uint16));
static_assert(detail::element_code<std::int32_t>() == static_cast<int>(ElementType::int32));
static_assert(detail::element_code<std::uint32_t>() == static_cast<int>(ElementType::uint32));
static_assert(detail::element_code<std::int64_t>() == static_cast<int>(ElementType::int64));
static_assert(detail::element_code<std::uint64_t>() == static_cast<int>(ElementType::uint64));
static_assert(detail::element_code<__half>() == static_cast<int>(ElementType::half));
static_assert(detail::element_code<__nv_bfloat16>() == static_cast<int>(ElementType::bfloat16));
static_assert(detail::element_code<float>() == static_cast<int>(ElementType::float32));
static_assert(detail::element_code<double>() == static_cast<int>(ElementType::float64));

bool is_work_space(const BufferSpec& buffer) {
  return buffer.role == BufferRole::scratch || buffer.role == BufferRole::zeroed;
}

std::string of(const KernelSpec& spec, const BufferSpec& buffer) {
  return "kernel '" + spec.name + "': '" + buffer.name + "' ";
}

/// Gives each buffer and scalar the caller's next pointer or number.
void match(const KernelSpec& spec, const Call& call, BoundCall& bound) {
  const auto next = [&](std::size_t from, bool pointer) {
    while (from < call.count && (call.arguments[from].kind == Given::pointer) != pointer) ++from;
    return from;
  };
  std::string signature;
  const auto expect = [&](const std::string& name) { signature += (signature.empty() ? "" : ", ") + name; };
  std::size_t pointer = next(0, true), number = next(0, false);
  std::size_t pointers = 0, missing = 0;
  for (const BufferSpec& buffer : spec.buffers) {
    bound.buffers.push_back(is_work_space(buffer) ? kWorkSpace : pointer);
    if (is_work_space(buffer)) continue;
    expect(buffer.name);
    ++pointers;
    missing += pointer == call.count;
    if (pointer < call.count) pointer = next(pointer + 1, true);
  }
  for (const ScalarSpec& scalar : spec.scalars) {
    bound.scalars.push_back(number);
    expect(scalar.name);
    missing += number == call.count;
    if (number < call.count) number = next(number + 1, false);
  }
  if (missing == 0 && pointer == call.count && number == call.count) return;
  std::size_t given = 0;
  for (std::size_t i = 0; i < call.count; ++i) given += call.arguments[i].kind == Given::pointer;
  throw Error("kernel '" + spec.name + "' takes the arguments (" + signature + "): " + std::to_string(pointers) +
              " pointers and " + std::to_string(spec.scalars.size()) + " numbers; the call has " +
              std::to_string(given) + " and " + std::to_string(call.count - given));
}

}  // namespace

ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices) {
  if (sizes.count() != spec.sizes.size()) {
    throw Error("kernel '" + spec.name + "' takes " + std::to_string(spec.sizes.size()) + " sizes, " +
                std::to_string(sizes.count()) + " were given");
  }
  ProblemSize size;
  size.choices = std::move(choices);
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    if (sizes[i] < 0) throw Error("kernel '" + spec.name + "': size " + spec.sizes[i].name + " is negative");
    size.sizes[spec.sizes[i].name] = sizes[i];
  }
  return complete(spec, std::move(size));
}

BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call) {
  BoundCall bound;
  match(spec, call, bound);
  const auto type_of = [&](std::size_t i) -> std::string {  // that the caller's pointer says; empty: void
    if (bound.buffers[i] == kWorkSpace || call.arguments[bound.buffers[i]].element < 0) return {};
    return std::string(info(static_cast<ElementType>(call.arguments[bound.buffers[i]].element)).name);
  };
  Choices types = choices;
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec& buffer = spec.buffers[i];
    const ChoiceSpec* choice = spec.find_choice(buffer.type);
    const std::string type = type_of(i);
    if (type.empty() || choice == nullptr || !choice->is_type) continue;
    const auto [at, added] = types.emplace(choice->name, type);
    if (added || at->second == type) continue;
    throw Error(of(spec, buffer) + "points to " + type + ", but " + choice->name + " is " + at->second +
                " by another argument");
  }
  bound.size = problem_of(spec, call.sizes, std::move(types));
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec& buffer = spec.buffers[i];
    const std::string type = type_of(i), wanted(info(resolved_type(spec, bound.size, buffer.type)).name);
    if (!type.empty() && type != wanted)
      throw Error(of(spec, buffer) + "is a pointer to " + type + ", the kernel takes " + wanted);
    if (bound.buffers[i] != kWorkSpace && buffer.role != BufferRole::in && call.arguments[bound.buffers[i]].is_const)
      throw Error(of(spec, buffer) + "is written by the kernel, and the call gives a pointer to const");
  }
  return bound;
}

void check_pointers(const KernelSpec& spec, const BoundCall& bound, const Call& call, const DeviceLimits& limits,
                    const ContextName& context, int ordinal, bool outputs) {
  const Bindings names = bindings(spec, bound.size, limits);
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec& buffer = spec.buffers[i];
    if (bound.buffers[i] == kWorkSpace || (!outputs && buffer.role != BufferRole::in)) continue;
    // Of an empty buffer nothing is touched: it may be null, or the end of an allocation.
    const std::int64_t elements = buffer.count.evaluate_integer(names);
    if (elements == 0) continue;
    const void* const pointer = call.arguments[bound.buffers[i]].pointer;
    if (pointer == nullptr) {
      throw Error(of(spec, buffer) + "is null, and the kernel " +
                  (buffer.role == BufferRole::in ? "reads " : "writes ") + std::to_string(elements) +
                  " elements there");
    }
    if (is_host(context)) continue;
    const std::string why = why_unreachable(pointer, ordinal, context);
    if (!why.empty()) throw Error(of(spec, buffer) + why);
  }
}

}  // namespace tuner::runtime
