#include <tuner/measure/bound_arguments.hpp>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include <tuner/backend/element_value.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner {
namespace {

constexpr std::string_view kTensorMapType = "CUtensorMap_st";

/// Whether the integer type To holds \p value.
template <typename To, typename From>
bool holds(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    // Powers of two are exact in any floating type; the largest integers are not.
    const From end = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    return std::trunc(value) < end && std::trunc(value) >= (std::is_signed_v<To> ? -end : 0);  // false for NaN
  } else {
    return std::in_range<To>(value);
  }
}

template <typename To, typename From>
bool put(std::byte* to, From value) {
  if (!holds<To>(value)) return false;
  const To converted = static_cast<To>(value);
  std::memcpy(to, &converted, sizeof converted);
  return true;
}

/// Writes the number of a floating type that is nearest to \p value. Writes nothing and returns false if a finite
/// number became infinite, or became the largest number of a type without infinities.
template <typename To, typename From>
bool put_nearest(std::byte* to, From value) {
  To nearest{};
  if constexpr (std::is_floating_point_v<To>) {
    nearest = static_cast<To>(value);
  } else {
    nearest = To::of(static_cast<float>(value));
  }
  if (std::isinf(number(nearest)) && !std::isinf(static_cast<double>(value))) return false;
  if constexpr (sizeof nearest == 1) {
    const double largest = number(To::of(std::numeric_limits<float>::max()));
    if (std::abs(static_cast<double>(value)) > largest) return false;
  }
  std::memcpy(to, &nearest, sizeof nearest);
  return true;
}

template <typename Number>
bool store(std::byte* to, ElementType type, Number value) {
  return with_type(type, [&](auto zero) {
    using To = decltype(zero);
    if constexpr (std::is_integral_v<To>) {
      return put<To>(to, value);
    } else {
      return put_nearest<To>(to, value);
    }
  });
}

template <typename T>
std::size_t place_of(const std::vector<T>& declared, std::string_view name) {
  std::size_t i = 0;
  while (i < declared.size() && declared[i].name != name) ++i;
  return i;
}

/// Whether an element of \p buffer, which is made of \p type, is as long as pointers and no fraction.
bool may_hold_pointers(const BufferSpec& buffer, ElementType type) {
  const std::size_t bytes = static_cast<std::size_t>(buffer.components) * info(type).bytes;
  return !info(type).is_floating && bytes % sizeof(DevicePointer) == 0;
}

}  // namespace

bool store_number(std::byte* to, ElementType type, double value) { return store(to, type, value); }
bool store_number(std::byte* to, ElementType type, std::int64_t value) { return store(to, type, value); }
bool store_number(std::byte* to, ElementType type, std::uint64_t value) { return store(to, type, value); }

std::vector<BoundArgument> bind_arguments(const KernelSpec& spec, const LaunchSpec& launch, const ProblemSize& size,
                                          const Configuration& configuration) {
  using Kind = BoundArgument::Kind;
  std::vector<BoundArgument> result;
  for (const std::string& name : launch.arguments) {
    BoundArgument& bound = result.emplace_back();
    if (name == kNullPointer) {
      bound = {Kind::null_pointer, 0, ElementType::uint64, Argument::of(std::uint64_t{0})};
    } else if (const std::size_t at = place_of(spec.buffers, name); at < spec.buffers.size()) {
      bound = {Kind::buffer, at, resolved_type(spec, size, spec.buffers[at].type), {}};
    } else if (const std::size_t sized = place_of(spec.sizes, name); sized < spec.sizes.size()) {
      bound = {Kind::size, sized, spec.sizes[sized].type, {}};
    } else if (const std::size_t scalar = place_of(spec.scalars, name); scalar < spec.scalars.size()) {
      bound = {Kind::scalar, scalar, resolved_type(spec, size, spec.scalars[scalar].type), {}};
    } else if (const std::size_t texture = place_of(spec.textures, name); texture < spec.textures.size()) {
      bound = {Kind::texture, texture, ElementType::uint64, {}};
    } else if (const std::size_t map = place_of(spec.tensor_maps, name); map < spec.tensor_maps.size()) {
      bound = {Kind::tensor_map, map, ElementType::uint8, {}};
    } else if (const ComputedArgument* const computed = launch.find_computed(name)) {
      bound = {Kind::computed, 0, resolved_type(spec, size, computed->type), {}, &computed->value};
    } else if (const Value* value = configuration.find(name); value != nullptr && !value->is_string()) {
      bound.type = ElementType::int32;
      bound.constant = number_argument(bound.type, value->integer());
    } else {
      const std::string place = launch.location.text();
      throw Error((place.empty() ? "kernel '" + spec.name + "'" : place) + ": argument '" + name +
                  "' is not a buffer, size, scalar, texture, tensor map or integer parameter");
    }
  }
  return result;
}

Argument computed_argument(const BoundArgument& argument, const Bindings& names) try {
  const Value value = argument.computed->evaluate(names);
  if (!value.is_string()) return number_argument(argument.type, value.integer());
  double number = 0;
  if (std::from_chars(value.string().data(), value.string().data() + value.string().size(), number).ec != std::errc{})
    throw Error("'" + value.string() + "' is not a number");
  return number_argument(argument.type, number);
} catch (const EvaluationError&) {
  throw;
} catch (const Error& error) {
  throw SpecError(argument.computed->location(), error.what());
}

std::optional<std::string> wrong_type(const KernelSpec& spec, const LaunchSpec& launch, const std::string& expression,
                                      const std::vector<BoundArgument>& arguments,
                                      const std::vector<std::string>& taken) {
  if (taken.empty()) return std::nullopt;
  const auto at = [&](std::size_t i) {
    const std::vector<SourceLocation>& places = launch.argument_locations;
    const std::string place = (i < places.size() ? places[i] : launch.location).text();
    return place.empty() ? "" : place + ": ";
  };
  if (taken.size() != arguments.size())
    return at(0) + expression + " takes " + std::to_string(taken.size()) + " arguments, not " +
           std::to_string(arguments.size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const BoundArgument& argument = arguments[i];
    const bool buffer = argument.kind == BoundArgument::Kind::buffer;
    const std::string here = at(i);
    if (argument.kind == BoundArgument::Kind::constant) continue;
    if (argument.kind == BoundArgument::Kind::null_pointer) {
      if (is_pointer(taken[i])) continue;
      return here + "'nullptr' is given for parameter " + std::to_string(i + 1) + " of " + expression + ", which is " +
             taken[i];
    }
    if (taken[i] == kTensorMapType && argument.kind != BoundArgument::Kind::tensor_map)
      return here + "parameter " + std::to_string(i + 1) + " of " + expression + " is a CUtensorMap, and '" +
             launch.arguments[i] + "' is not a tensor map: declare it as in 'tensormap a = x[m, k] box 64, 64'";
    if (argument.kind == BoundArgument::Kind::tensor_map && !is_pointer(taken[i]) && !numbers_of(taken[i])) continue;
    if (buffer && spec.buffers[argument.index].is_work_space()) continue;
    if (buffer && is_pointer_to_pointers(taken[i]) && may_hold_pointers(spec.buffers[argument.index], argument.type))
      continue;
    if (argument.kind != BoundArgument::Kind::tensor_map && may_take(taken[i], argument.type, buffer)) continue;
    const bool structs = buffer && spec.buffers[argument.index].record;
    const bool is_struct = argument.kind == BoundArgument::Kind::scalar && spec.scalars[argument.index].record;
    const std::string type = structs ? "structs" : is_struct ? "a struct" : std::string(info(argument.type).name);
    return here + "'" + launch.arguments[i] + "' is declared as " +
           (argument.kind == BoundArgument::Kind::texture      ? "a texture or surface"
            : argument.kind == BoundArgument::Kind::tensor_map ? "a tensor map"
            : buffer                                           ? "a buffer of " + type
                                                               : type) +
           ", but parameter " + std::to_string(i + 1) + " of " + expression + " is " + taken[i] +
           (buffer ? about_its_line(spec.buffers[argument.index]) : "");
  }
  return std::nullopt;
}

std::optional<std::string> wrong_type(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                      const Configuration& configuration, const Image& image) {
  for (const ResolvedLaunch& launch : resolve_launches(spec, size, limits, configuration)) {
    const std::optional<std::size_t> at = find_function(image, launch.expression);
    if (!at) continue;
    if (auto wrong =
            wrong_type(spec, *launch.spec, launch.expression, bind_arguments(spec, *launch.spec, size, configuration),
                       parameter_types(image.functions[*at].symbol)))
      return wrong;
  }
  return std::nullopt;
}

std::string number_text(double value) {
  char shortest[40];
  std::string text(shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";  // the integer -0 has no sign
  return text;
}

Argument recorded_number(ElementType type, std::string_view text) {
  std::optional<Argument> read;
  const auto reads = [&](auto number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) read = number_argument(type, number);
    return read.has_value();
  };
  if (reads(std::int64_t{0}) || reads(std::uint64_t{0}) || reads(0.0)) return *std::move(read);
  throw Error("a recorded argument is '" + std::string(text) + "', which is not a number");
}

}  // namespace tuner
