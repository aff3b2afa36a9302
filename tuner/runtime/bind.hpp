#pragma once
/// Matches a call with the kernel's declaration, once: what problem it poses, and which of the caller's arguments is
/// which buffer and which scalar. Asks no driver.

#include <span>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/runtime/call_place.hpp>

namespace tuner::runtime {

struct BoundCall {
  PlanKey key;
  Sizes sizes;
  ProblemSize size;                  ///< the same with the types that the pointers stand for
  ProblemSize lowest;                ///< with the lowest sizes of their classes
  std::vector<std::size_t> buffers;  ///< of each of the spec's buffers: the caller's argument, or kWorkSpace
  std::vector<std::size_t> scalars;  ///< of each of the spec's scalars: the caller's argument
};
inline constexpr std::size_t kWorkSpace = ~std::size_t{0};

/// The problem of \p sizes with \p choices, everything left out at its default. Throws Error for a wrong number of
/// sizes, a negative one, or an unknown choice.
ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices);

/// \p key: of \p call. Throws Error for a wrong number of sizes or arguments, pointers whose types contradict each
/// other or the kernel, a pointer to const where the kernel writes, and one of \p suspects where the kernel has
/// elements.
BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call, const PlanKey& key,
                    std::span<const Suspect> suspects, const DeviceLimits& limits);

}  // namespace tuner::runtime
