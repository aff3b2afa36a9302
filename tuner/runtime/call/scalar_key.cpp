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

}  // namespace

ScalarKeys::ScalarKeys(const KernelSpec& spec, const Choices& choices) {
  try {
    read(spec, choices);
  } catch (const Error&) {  // a call reports it
    scalars_.clear();
  }
}

void ScalarKeys::read(const KernelSpec& spec, const Choices& choices) {
  const std::vector<std::string> names = names_of(spec.sizes);
  for (std::size_t i = 0; i < spec.scalars.size(); ++i) {
    const ScalarSpec& given = spec.scalars[i];
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
    scalar.usual = given.values.front().number;
    if (given.values.front().computed)
      scalar.computed.emplace(*given.values.front().computed, names, bindings(spec, {{}, choices}, {}));
    scalars_.push_back(std::move(scalar));
  }
}

std::uint64_t ScalarKeys::of_values(const Call& call) {
  std::array<std::size_t, kMaxArguments> numbers{}, pointers{};
  std::size_t number_count = 0, pointer_count = 0;
  for (std::size_t i = 0; i < call.count; ++i)
    (call.is_pointer(i) ? pointers[pointer_count++] : numbers[number_count++]) = i;
  std::uint64_t key = 0;
  for (const Scalar& scalar : scalars_) {
    if (scalar.number >= number_count) return 0;  // the call is refused
    ElementType type = scalar.type;
    if (scalar.pointer && *scalar.pointer < pointer_count)
      if (const int element = call.arguments[pointers[*scalar.pointer]].element; element >= 0)
        type = static_cast<ElementType>(element);
    if (info(type).is_floating && !scalar.also_floating) continue;
    std::byte given[8] = {}, usual[8] = {};
    const bool fits = with_number(call.arguments[numbers[scalar.number]],
                                  [&](auto number) { return store_number(given, type, number); });
    const double wanted =
        scalar.computed ? scalar.computed->evaluate_number(call.sizes.data()).value_or(0) : scalar.usual;
    store_number(usual, type, wanted);
    if (fits && std::memcmp(given, usual, sizeof given) == 0) continue;
    std::uint64_t bits = 0;
    std::memcpy(&bits, given, sizeof bits);
    key = (key ^ bits ^ (scalar.number + 1) << 56) * 0x9e3779b97f4a7c15u;
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
