#pragma once
/// Which configuration a problem is served with: wisdom, else tuning on first use, else the kernel's default.

#include <set>
#include <string>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/problem.hpp>
#include <tuner/runtime/served_device.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {

struct Decision {
  Configuration configuration;
  std::string reason;  ///< how it was found, one sentence
  /// Name of the tier that answers without a result for this size class; empty: there is one, or nothing to tune.
  std::string missed = {};
  bool for_now = false;           ///< the device, or another process, is busy with tuning: worth asking again
  bool only_here = false;         ///< for these sizes, and not for the others of their class
  std::vector<Sizes> apart = {};  ///< sizes of the class that are decided by themselves
  bool measured = false;          ///< a database or a tuning names it: it is not the kernel's default
};

/// The configuration for \p size, and so for its size class: the answer for exactly these sizes when there is one, else
/// the answer for \p lowest, the lowest sizes of their classes, so that it does not depend on which size came first.
/// From a frozen database no size is served with what another one happened to ask for before: all processes agree,
/// whatever they call and in which order.
/// \p may_tune: tunes when nothing near is known and the settings allow it. Never throws for a miss; throws Error when
/// the kernel has no valid configuration for \p size at all. Where it may tune, a stream capture of another thread must
/// not forbid this one anything (BesideCaptures). \p broken: configurations that do not compile or load here. The next
/// best is asked for, and after kMostBroken of them the default.
Decision decide(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                const ProblemSize& lowest, bool may_tune, const std::set<Configuration>& broken = {});
inline constexpr std::size_t kMostBroken = 4;

/// While one lives, what this thread calls is served without tuning: it is tuning already.
class TuningHere {
 public:
  TuningHere() { ++depth_; }
  ~TuningHere() { --depth_; }
  TuningHere(const TuningHere&) = delete;
  TuningHere& operator=(const TuningHere&) = delete;
  static bool active() { return depth_ > 0; }

 private:
  static inline thread_local unsigned depth_ = 0;
};

}  // namespace tuner::runtime
