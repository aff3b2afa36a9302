#pragma once
/// Matches the arguments named by a launch with the kernel's declarations. The values come later: tuning uses its own
/// buffers, serving those of the caller.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;
struct LaunchSpec;

/// The declaration that one argument of a launch refers to.
struct BoundArgument {
  enum class Kind { buffer, size, scalar, texture, tensor_map, constant, computed, null_pointer };
  Kind kind = Kind::constant;
  std::size_t index = 0;                 ///< in the spec's buffers, sizes, scalars, textures or tensor maps.
  ElementType type{};                    ///< of a buffer's elements, or of the kernel's parameter.
  Argument constant;                     ///< the value of a tuning parameter, or a null pointer.
  const Expression* computed = nullptr;  ///< in the launch; evaluated for each problem.
};

/// The arguments of \p launch in order. Uses only the choices in \p size. Throws Error for an undeclared name.
std::vector<BoundArgument> bind_arguments(const KernelSpec& spec, const LaunchSpec& launch, const ProblemSize& size,
                                          const Configuration& configuration);

/// Evaluates a computed argument with the values in \p names. Throws Error if its type cannot hold the value,
/// EvaluationError if there is none.
Argument computed_argument(const BoundArgument& argument, const Bindings& names);

/// Why a kernel with parameters \p taken (Module::parameter_types()) cannot take \p arguments, which bind_arguments()
/// made for \p launch: the place, the argument, both types. nullopt if it can, or if \p taken is empty. Work space may
/// have any type in the kernel: its declared type only determines its size.
std::optional<std::string> wrong_type(const KernelSpec& spec, const LaunchSpec& launch, const std::string& expression,
                                      const std::vector<BoundArgument>& arguments,
                                      const std::vector<std::string>& taken);

/// The first wrong_type() of the launches of \p configuration, from the names of the functions in \p image, which needs
/// no device. Precondition: why_invalid() finds no reason.
std::optional<std::string> wrong_type(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                      const Configuration& configuration, const Image& image);

/// Writes \p value as a number of \p type (at most 8 bytes) to \p to. For integer types, the fraction is dropped; types
/// that C++ does not have are rounded from float. Writes nothing and returns false if the type cannot hold the value,
/// also if a finite number would become infinite.
bool store_number(std::byte* to, ElementType type, double value);
bool store_number(std::byte* to, ElementType type, std::int64_t value);
bool store_number(std::byte* to, ElementType type, std::uint64_t value);

/// \p value as an argument. Throws Error when \p type cannot hold it.
template <typename Number>
Argument number_argument(ElementType type, Number value) {
  Argument argument;
  if (!store_number(argument.bytes, type, value))
    throw Error(std::to_string(value) + " does not fit the type " + std::string(info(type).name));
  argument.size = info(type).bytes;
  return argument;
}

/// Text from which recorded_number() reads the same number. An integer has only digits. A floating-point number has a
/// point, an exponent, or letters (`inf`, `nan`).
std::string number_text(double value);
inline std::string number_text(std::integral auto value) { return std::to_string(value); }

/// The argument that \p text describes. Throws Error if it is not a number, or if \p type cannot hold it.
Argument recorded_number(ElementType type, std::string_view text);

}  // namespace tuner
