#pragma once
/// Matches the arguments that a launch names with what the kernel declares: tuning then gives them buffers of its own,
/// serving the caller's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// What one argument of a launch stands for.
struct BoundArgument {
  enum class Kind { buffer, size, scalar, texture, constant, computed };
  Kind kind = Kind::constant;
  std::size_t index = 0;                 ///< in the spec's buffers, sizes, scalars or textures
  ElementType type{};                    ///< of a buffer's elements, or of the number as the kernel takes it
  Argument constant;                     ///< the value of a parameter
  const Expression* computed = nullptr;  ///< into the launch: worked out for each problem
};

/// The arguments of \p launch in order. Of \p size only the choices count. Throws Error for a name that nothing
/// declares.
std::vector<BoundArgument> bind_arguments(const KernelSpec& spec, const LaunchSpec& launch, const ProblemSize& size,
                                          const Configuration& configuration);

/// The value of an argument that is worked out, with all that has a value in \p names. Throws Error when its type
/// cannot hold it, EvaluationError when there is none.
Argument computed_argument(const BoundArgument& argument, const Bindings& names);

/// Why a kernel that takes \p taken (Module::parameter_types()) cannot be given \p arguments, which bind_arguments()
/// made for \p launch: the place, the argument, both types. Nothing when it can, or does not say what it takes. Of work
/// space the type only says how much: it may be used as any.
std::optional<std::string> wrong_type(const KernelSpec& spec, const LaunchSpec& launch, const std::string& expression,
                                      const std::vector<BoundArgument>& arguments,
                                      const std::vector<std::string>& taken);

/// Writes \p value in the bytes of \p type (at most 8) to \p to; fractions are cut off where it is an integer's. False,
/// and nothing written, for a value that the type cannot hold, such as a number that would become infinite. half and
/// bfloat16 are rounded from float.
bool store_number(std::byte* to, ElementType type, double value);
bool store_number(std::byte* to, ElementType type, std::int64_t value);
bool store_number(std::byte* to, ElementType type, std::uint64_t value);

/// \p value as an argument. Throws Error when \p type cannot hold it.
template <typename Number>
Argument number_argument(ElementType type, Number value) {
  Argument argument;
  if (!store_number(argument.bytes, type, value)) {
    throw Error(std::to_string(value) + " does not fit the type " + std::string(info(type).name));
  }
  argument.size = info(type).bytes;
  return argument;
}

}  // namespace tuner
