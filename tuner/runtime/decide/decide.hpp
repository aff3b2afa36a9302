#pragma once
/// Chooses the configuration for a problem: from wisdom, else by tuning on first use, else the kernel's default. Then
/// makes the plan of its size class: conditions on sizes, launches that depend on sizes, and enough work space for all.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tuner/core/values/configuration.hpp>
#include <tuner/problem.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/call/plan.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/use.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

struct Decision {
  Configuration configuration;
  std::string reason;  ///< how it was found, one sentence
  /// The name of the tier that answered, if no result is for this size class; empty: there is one, or nothing to tune.
  std::string missed = {};
  /// A reason of the moment decided: this device or another process is busy tuning, a database could not be asked, or
  /// the best does not compile now. Ask again later.
  bool for_now = false;

  bool only_here = false;         ///< for these sizes only, not for the whole size class
  std::vector<Sizes> apart = {};  ///< sizes of the class that need another decision

  bool measured = false;   ///< from a database or a tuning; false: the kernel's default
  bool from_user = false;  ///< from the user's database, where a result can be removed again
};

struct Question {
  Wisdom& wisdom;
  const Device& device;
  const KernelSpec& spec;
  const ProblemSize& size;
  const ProblemSize& lowest;               ///< the lowest sizes of its classes
  std::chrono::duration<double> patience;  ///< for finding a valid configuration where the kernel names none
  Use use = Use::single;                   ///< results for it come before those for single launches
};

/// The configuration for the question's size and its size class. A result for exactly these sizes comes first, then the
/// answer for the lowest sizes. The answer therefore does not depend on which size came first. With a frozen database
/// it does not depend on any earlier call, so all processes agree.
///
/// \p may_tune: tunes if nothing near is known and the settings allow it; the caller must then hold a BesideCaptures.
/// \p broken: configurations that do not compile or load here. The next best one is chosen instead; after kMostBroken,
/// the default. Throws Error when the kernel has no valid configuration for the size.
Decision decide(const Serving::Terms& terms, ServedDevice& device, const Question& asked, bool may_tune,
                const std::set<Configuration>& broken = {});
inline constexpr std::size_t kMostBroken = 4;

struct DecidedPlan {
  Decision decision;
  std::unique_ptr<Plan> plan;
};

/// The plan for \p bound; tunes if allowed. If a measured configuration does not compile or load, the next best one is
/// used, with a warning, and finally the kernel's default. If it does not compile now, the default is used for now.
/// With a frozen database this throws Error instead, because other processes may use that configuration.
DecidedPlan decided_plan(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                         const BoundCall& bound, Use use = Use::single);
/// The same for calls that are captured into graphs. Nothing if no result is for such calls: they are served as others.
std::optional<DecidedPlan> plan_in_graphs(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                                          const BoundCall& bound);

struct Forecast {
  Decision decision;
  cache::WisdomMatch match;  ///< the stored results that it follows from
};

/// The decision that decided_plan() would make, as far as it is known without tuning, compiling and loading. explain()
/// and `tune show --why` print it. \p is_broken: whether a configuration is known not to compile here. Throws Error
/// where a call would throw it for the same reason.
Forecast forecast(const Question& asked, const std::function<bool(const Configuration&)>& is_broken = {});

/// While an object of this class lives, calls of this thread do not tune, because the thread is tuning already.
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
