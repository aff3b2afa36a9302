#pragma once
/// Matches a call with the kernel's declaration, once: what problem it poses, and which of the caller's arguments is
/// which buffer and which scalar.

#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/runtime/call.hpp>
#include <tuner/runtime/served_device.hpp>

namespace tuner::runtime {

struct BoundCall {
  ProblemSize size;                  ///< with the types that the pointers stand for
  std::vector<std::size_t> buffers;  ///< of each of the spec's buffers: the caller's argument, or kWorkSpace
  std::vector<std::size_t> scalars;  ///< of each of the spec's scalars: the caller's argument
};
inline constexpr std::size_t kWorkSpace = ~std::size_t{0};

/// The problem of \p sizes with \p choices, everything left out at its default. Throws Error for a wrong number of
/// sizes, a negative one, or an unknown choice.
ProblemSize problem_of(const KernelSpec& spec, const Sizes& sizes, Choices choices);

/// Throws Error for a wrong number of sizes or arguments, pointers whose types contradict each other or the kernel, a
/// pointer to const where the kernel writes, and a pointer that the kernel cannot use on \p device, whose context is
/// current: null where there are elements, or out of its reach. \p outputs: whether pointers to what the kernel writes
/// are looked at.
BoundCall bind_call(const KernelSpec& spec, const Choices& choices, const Call& call, const ServedDevice& device,
                    bool outputs);
/// Throws what bind_call() does of the pointers of a call that is like one which was bound. Allocates nothing where all
/// is well; the driver is not asked about what this thread's last call had.
void check_pointers(const KernelSpec& spec, const Choices& choices, const Call& call, const ServedDevice& device);

}  // namespace tuner::runtime
