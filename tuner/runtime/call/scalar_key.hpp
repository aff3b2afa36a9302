#pragma once
/// The part of a plan's key that comes from scalars: results of integers, and of scalars whose line ends with `only`,
/// are for one value. Results of structs are for the numbers in the kernel file that is_fixed() names.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/runtime/call/call.hpp>

namespace tuner {
struct KernelSpec;
struct ScalarValue;
}  // namespace tuner

namespace tuner::runtime {

/// Thread-safe. Allocates nothing after it was made.
class ScalarKeys {
 public:
  ScalarKeys(const KernelSpec& spec, const Choices& choices);

  /// 0 if all such scalars of \p call have the values in the kernel file, else a number for their values. After
  /// kMostValues different ones, all further ones are kOtherScalars, as is a struct with other numbers of this kind.
  std::uint64_t of(const Call& call) { return scalars_.empty() ? 0 : of_values(call); }

  static constexpr std::size_t kMostValues = 64;

 private:
  struct Scalar {
    std::size_t number = 0;             // which of the call's arguments that are not pointers
    std::optional<std::size_t> offset;  // of a number in a struct
    ElementType type{};
    bool also_floating = false;              // also if its type is a floating one
    std::optional<std::size_t> pointer;      // which of the call's pointers decides the type
    double usual = 0;                        // the value in the kernel file
    std::optional<OpenExpression> computed;  // from the sizes, instead
  };
  void read(const KernelSpec& spec, const Choices& choices);
  void read_struct(const KernelSpec& spec, const Choices& choices, std::size_t number);
  void add(Scalar scalar, const ScalarValue& value, const KernelSpec& spec, const Choices& choices);
  std::uint64_t of_values(const Call& call);
  std::uint64_t known(std::uint64_t key);

  std::vector<Scalar> scalars_;  // in the order of their numbers
  std::array<std::atomic<std::uint64_t>, kMostValues> keys_{};
};

}  // namespace tuner::runtime
