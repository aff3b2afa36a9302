#pragma once
/// Whether a kernel, a problem and a configuration can run on a device, and why not.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/expression/expression.hpp>
#include <tuner/core/space/search_space.hpp>
#include <tuner/core/values/configuration.hpp>

namespace tuner {

struct DeviceLimits;
class EnumeratedSpace;
struct KernelSpec;
struct ProblemSize;

/// A condition beside constraints and limits of launches: for enumerations a predicate, for people a reason.
struct Condition {
  Expression value;
  std::int64_t low = 1, high = 1;       ///< it holds if its value lies between them; `true` is 1
  std::optional<Expression> when = {};  ///< nothing is required where this is false

  std::string subject = {};            ///< of the reason: "buffer 'partials'"
  std::string broken = {};             ///< the reason, with `{}` for each of `shown`
  std::vector<Expression> shown = {};  ///< empty: the value
};
Expression predicate(const Condition& condition);

/// The configurations of \p spec that meet its constraints and whose launches meet the limits of the device. These are
/// threads per block, block and grid dimensions, dynamic shared memory, and resident blocks of a cooperative grid.
/// A space that is too large to be listed is EnumeratedSpace::open(). Throws like listed_or_drawn().
EnumeratedSpace enumerate(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                          const StopHook& stop = {});

/// The first of them; nothing if there is none. Throws like enumerate_conjuncts().
std::optional<Configuration> first_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const StopHook& stop = {});

/// Why no configuration of \p spec can run on such a device for any problem; nothing if some may. The subject of the
/// text is the kernel: "launches kernels from the device; the host backend cannot".
std::optional<std::string> why_never(const KernelSpec& spec, const DeviceLimits& limits);

/// Why no configuration may run for (\p size, \p limits). A size does not fit its type, a buffer has a negative number
/// of elements, or a constraint on sizes is not met. Nothing if some configuration may run.
std::optional<std::string> why_impossible(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

/// Why \p configuration may not run for (\p size, \p limits); nothing if it may. The reason is a value outside the
/// space, a constraint, a device limit, a size that does not fit its type, or an expression whose evaluation fails.
std::optional<std::string> why_invalid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       const Configuration& configuration);

/// A configuration that cannot run, and why.
struct Impossible {
  Configuration configuration;
  std::string reason;
};
/// The combinations of values that are not valid for \p size, in the order of parameters and values; empty if there are
/// more than \p most combinations.
std::vector<Impossible> impossible_configurations(const KernelSpec& spec, const ProblemSize& size,
                                                  const DeviceLimits& limits, std::size_t most = 100'000);

}  // namespace tuner
