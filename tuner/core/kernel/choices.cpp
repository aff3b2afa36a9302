#include <tuner/core/kernel/choices.hpp>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {
namespace {

/// The allowed value that \p text names, aliases of types included.
std::string canonical_choice(const KernelSpec& spec, const ChoiceSpec& choice, const std::string& text) {
  const auto type = choice.is_type ? element_type(text) : std::nullopt;
  const std::string value = type ? std::string(info(*type).name) : text;
  if (contains(choice.values, value)) return value;
  throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "': " + choice.name + "=" + text +
                                               " is not one of: " + listed(choice.values) +
                                               suggestion(text, choice.values));
}

/// \p text as the shortest number that \p type holds. Throws Error if it is none.
std::string canonical_number(ElementType type, const std::string& name, const std::string& text) {
  const char* const end = text.data() + text.size();
  const auto read = [&](auto number) {
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return stop == end && error == std::errc{} ? std::optional(number) : std::nullopt;
  };
  if (!info(type).is_floating) {
    if (text == "true" || text == "false") return text == "true" ? "1" : "0";
    if (const auto number = read(std::int64_t{})) return std::to_string(*number);
    if (const auto number = read(std::uint64_t{})) return std::to_string(*number);
  }
  const auto number = read(double{});
  if (!number || !(info(type).is_floating || std::isfinite(*number)))
    throw Error(ErrorCode::invalid_argument, name + "=" + text + " is not a number");
  if (!info(type).is_floating) return scalar_text(std::trunc(*number));
  return type == ElementType::float64 ? scalar_text(*number) : scalar_text(static_cast<float>(*number));
}

/// Requires that the scalars among the choices are part of a problem, and removes those with the value that the kernel
/// file gives.
void complete_scalars(const KernelSpec& spec, ProblemSize& size) {
  for (const ScalarSpec& scalar : spec.scalars) {
    const auto at = size.choices.find(scalar.name);
    if (at == size.choices.end()) continue;
    if (scalar.record)
      throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "': '" + scalar.name +
                                                   "' is a struct, which is not part of a problem: `tune check` says "
                                                   "for which of its numbers results are");
    if (!is_part_of_problem(spec, scalar, size))
      throw Error(ErrorCode::invalid_argument, "kernel '" + spec.name + "': results are for every value of '" +
                                                   scalar.name + "', so it is not part of a problem");
    const ElementType type = resolved_type(spec, size, scalar.type);
    const ScalarValue& given = scalar.values.front();
    const double usual = given.computed ? given.computed->evaluate_number(bindings(spec, size, {})) : given.number;
    at->second = canonical_number(type, scalar.name, at->second);
    if (at->second == canonical_number(type, scalar.name, scalar_text(usual))) size.choices.erase(at);
  }
}

}  // namespace

ProblemSize complete(const KernelSpec& spec, ProblemSize size) {
  const std::vector<std::string> names = names_of(spec.choices, spec.sizes);
  for (auto& [name, value] : size.choices) {
    const ChoiceSpec* choice = spec.find_choice(name);
    if (!choice && spec.find_scalar(name)) continue;  // until the types and sizes are known
    if (!choice)
      throw Error(ErrorCode::invalid_argument,
                  "kernel '" + spec.name + "' has no choice '" + name + "'" + suggestion(name, names) +
                      (spec.choices.empty() ? "" : "; its choices: " + listed(names_of(spec.choices))));
    value = canonical_choice(spec, *choice, value);
  }
  for (const auto& [name, value] : size.sizes) {
    if (!spec.find_size(name))
      throw Error(ErrorCode::invalid_argument,
                  "kernel '" + spec.name + "' has no size '" + name + "'" + suggestion(name, names));
    if (value < 0)
      throw Error(ErrorCode::invalid_argument, "size " + name + "=" + std::to_string(value) + " is negative");
  }
  for (const ChoiceSpec& choice : spec.choices) size.choices.try_emplace(choice.name, choice.values.front());
  for (const SizeSpec& wanted : spec.sizes) {
    if (size.sizes.count(wanted.name)) continue;
    if (!wanted.default_value) {
      throw Error(ErrorCode::invalid_argument, "size '" + wanted.name + "' of kernel '" + spec.name +
                                                   "' has no default; give it, as in " + wanted.name + "=1000");
    }
    size.sizes[wanted.name] = *wanted.default_value;
  }
  complete_scalars(spec, size);
  return size;
}

ElementType resolved_type(const KernelSpec& spec, const ProblemSize& size, std::string_view type) {
  if (const auto element = element_type(type)) return *element;
  if (const DerivedTypeSpec* derived = find_named(spec.derived_types, type)) {
    const ElementType of = resolved_type(spec, size, derived->of);
    const auto at = derived->mapping.find(std::string(info(of).name));
    return at == derived->mapping.end() ? of : resolved_type(spec, size, at->second);
  }
  const ChoiceSpec* choice = spec.find_choice(type);
  if (!choice || !choice->is_type)
    throw Error(ErrorCode::invalid_argument, "'" + std::string(type) + "' is not a type of kernel '" + spec.name + "'");
  const auto at = size.choices.find(choice->name);
  const std::string& name = at == size.choices.end() ? choice->values.front() : at->second;
  if (const auto element = element_type(name)) return *element;
  throw Error(ErrorCode::invalid_argument, choice->name + "=" + name + " is not an element type");
}

}  // namespace tuner
