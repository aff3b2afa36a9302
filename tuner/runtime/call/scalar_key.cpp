#include <tuner/runtime/call/scalar_key.hpp>

#include <cstring>
#include <string>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner::runtime {
namespace {

/// The first pointer of a call whose type is \p choice.
std::optional<std::size_t> pointer_of(const KernelSpec& spec, std::string_view choice) {
  std::size_t pointer = 0;
  for (const BufferSpec& buffer : spec.buffers) {
    if (buffer.is_work_space()) continue;
    if (buffer.type == choice) return pointer;
    ++pointer;
  }
  return std::nullopt;
}

/// The code of the element type of pointer number \p wanted of \p call; -1 if there is none.
int element_of_pointer(const Call& call, std::size_t wanted) {
  std::size_t pointers = 0;
  for (std::size_t i = 0; i < call.count; ++i)
    if (call.is_pointer(i) && pointers++ == wanted) return call.arguments[i].element;
  return -1;
}

}  // namespace

ScalarKeys::ScalarKeys(const KernelSpec& spec, const Choices& choices) {
  try {
    read(spec, choices);
  } catch (const Error&) {  // a call reports it
    scalars_.clear();
  }
}

void ScalarKeys::read(const KernelSpec& spec, const Choices& choices) {
  for (std::size_t i = 0; i < spec.scalars.size(); ++i) {
    const ScalarSpec& given = spec.scalars[i];
    if (given.record) {
      read_struct(spec, choices, i);
      continue;
    }
    const ChoiceSpec* const choice = choices.contains(given.type) ? nullptr : spec.find_choice(given.type);
    Scalar scalar;
    bool may_be_part = false;
    const auto look = [&](const Choices& with) {
      if (!is_part_of_problem(spec, given, {{}, with})) return;
      may_be_part = true;
      scalar.also_floating = scalar.also_floating || info(resolved_type(spec, {{}, with}, given.type)).is_floating;
    };
    look(choices);
    for (const std::string& type : choice != nullptr ? choice->values : std::vector<std::string>())
      look({{given.type, type}});
    if (!may_be_part) continue;
    scalar.number = i;
    scalar.type = resolved_type(spec, {{}, choices}, given.type);
    if (choice != nullptr) scalar.pointer = pointer_of(spec, given.type);
    add(std::move(scalar), given.values.front(), spec, choices);
  }
}

void ScalarKeys::read_struct(const KernelSpec& spec, const Choices& choices, std::size_t number) {
  auto value = spec.scalars[number].values.begin();
  for (const RecordField& field : spec.scalars[number].record->fields) {
    for (int i = 0; i < field.count; ++i, ++value) {
      if (!field.pointer.empty() || !is_fixed(spec, spec.scalars[number], field, i)) continue;
      Scalar scalar;
      scalar.number = number;
      scalar.also_floating = true;
      scalar.offset = field.offset + static_cast<std::size_t>(i) * info(field.type).bytes;
      scalar.type = field.type;
      add(std::move(scalar), *value, spec, choices);
    }
  }
}

/// Adds \p scalar, whose \p value is in the kernel file.
void ScalarKeys::add(Scalar scalar, const ScalarValue& value, const KernelSpec& spec, const Choices& choices) {
  scalar.usual = value.number;
  if (value.computed) scalar.computed.emplace(*value.computed, names_of(spec.sizes), bindings(spec, {{}, choices}, {}));
  scalars_.push_back(std::move(scalar));
}

std::uint64_t ScalarKeys::of_values(const Call& call) {
  std::size_t at = 0, numbers = 0;  // so many of the arguments before `at` are not pointers
  std::uint64_t key = 0;
  for (const Scalar& scalar : scalars_) {
    for (; at < call.count && (call.is_pointer(at) || numbers < scalar.number); ++at) numbers += !call.is_pointer(at);
    if (at == call.count) return 0;  // the call is refused
    const detail::LaunchArgument& argument = call.arguments[at];
    const bool is_struct = argument.kind == detail::LaunchArgument::Kind::structure;
    if (is_struct != scalar.offset.has_value()) return 0;  // likewise
    ElementType type = scalar.type;
    if (scalar.pointer)
      if (const int element = element_of_pointer(call, *scalar.pointer); element >= 0)
        type = static_cast<ElementType>(element);
    if (info(type).is_floating && !scalar.also_floating) continue;
    std::byte given[8] = {}, usual[8] = {};
    bool fits = true;
    if (!is_struct) {
      fits = with_number(argument, [&](auto number) { return store_number(given, type, number); });
    } else if (*scalar.offset + info(type).bytes <= argument.integer) {
      std::memcpy(given, static_cast<const std::byte*>(argument.pointer) + *scalar.offset, info(type).bytes);
    }
    const double wanted =
        scalar.computed ? scalar.computed->evaluate_number(call.sizes.data()).value_or(0) : scalar.usual;
    store_number(usual, type, wanted);
    if (fits && std::memcmp(given, usual, sizeof given) == 0) continue;
    if (is_struct) return kOtherScalars;
    std::uint64_t bits = 0;
    std::memcpy(&bits, given, sizeof bits);
    key = (key ^ bits ^ (scalar.number + 1) * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    if (key <= kOtherScalars) key += 2;
  }
  return key == 0 ? 0 : known(key);
}

std::uint64_t ScalarKeys::known(std::uint64_t key) {
  for (std::atomic<std::uint64_t>& one : keys_) {
    std::uint64_t there = one.load(std::memory_order_relaxed);
    if (there == 0 && one.compare_exchange_strong(there, key, std::memory_order_relaxed)) return key;
    if (there == key) return key;
  }
  return kOtherScalars;
}

}  // namespace tuner::runtime
