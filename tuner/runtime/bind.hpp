#pragma once
/// Matches a call with the kernel's declaration, once: its problem, and which argument is which buffer or scalar. Needs
/// no driver.

#include <span>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/runtime/call_place.hpp>

namespace tuner::runtime {

struct BoundCall {
  PlanKey key;
  Sizes sizes;
  ProblemSize size;                  ///< the sizes, with the types of the pointers
  ProblemSize lowest;                ///< the same with the lowest sizes of the classes
  std::vector<std::size_t> buffers;  ///< for each buffer of the spec: the index of the caller's argument, or kWorkSpace
  std::vector<std::size_t> scalars;  ///< for each scalar of the spec: the index of the caller's argument
};
inline constexpr std::size_t kWorkSpace = ~std::size_t{0};

/// The problem with \p sizes and \p choices; other choices get their defaults. Throws Error for a wrong number of
/// sizes, a negative size, or an unknown choice.
ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices);

/// \p key must be that of \p call. Throws Error for a wrong number of sizes or arguments, for pointer types that
/// contradict each other or the kernel, and for a pointer to const where the kernel writes. Also for a pointer in
/// \p suspects whose buffer has elements.
BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call, const PlanKey& key,
                    std::span<const Suspect> suspects, const DeviceLimits& limits);

}  // namespace tuner::runtime
