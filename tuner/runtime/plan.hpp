#pragma once
/// A kernel's launches worked out for one size class: configuration chosen, modules loaded, every argument's source
/// known; sizes are arguments. Launching allocates nothing and takes no lock. Immutable but for the link to the next
/// plan of the class.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/configuration.hpp>
#include <tuner/runtime/call.hpp>
#include <tuner/backend/work_space.hpp>

namespace tuner::runtime {

/// Where one kernel parameter comes from at launch.
struct ParameterSource {
  enum class Kind { constant, pointer, number, size, zeroed, scratch };
  Kind kind = Kind::constant;
  std::size_t index = 0;  ///< among the caller's arguments or sizes; of work space: bytes from its start
  ElementType type{};     ///< of a number or size, as the kernel takes it
  Argument constant;
};

/// An extent of a launch that follows from the sizes.
struct SizedExtent {
  std::size_t extent = 0;  ///< 0 to 2: grid, 3 to 5: block, 6: shared memory
  OpenExpression value;
};

struct PlannedLaunch {
  std::shared_ptr<const Module> module;
  std::size_t function = 0;
  LaunchShape shape;  ///< but for the sized extents
  std::vector<SizedExtent> sized;
  bool may_exceed = false;                  ///< sizes of the class may pass the device's limits
  std::vector<ParameterSource> parameters;  ///< at most kMaxParameters
};
inline constexpr std::size_t kMaxParameters = 32;
inline constexpr std::size_t kMaxLaunches = 8;

/// What must hold for a size that the plan serves and is not certain for all of its class.
struct SizeCondition {
  OpenExpression value;
  std::int64_t low = 0, high = 0;  ///< between these, included
  bool truth = false;              ///< of the value as a truth value, 0 or 1
};

struct PlanParts {
  PlanKey key;
  Configuration configuration;
  std::vector<PlannedLaunch> launches;
  std::vector<SizeCondition> conditions;
  std::optional<Sizes> only;  ///< the plan serves these sizes alone
  WorkNeed work;
};

class Plan {
 public:
  using Shapes = std::array<LaunchShape, kMaxLaunches>;

  Plan(Backend& backend, DeviceLimits limits, PlanParts parts);

  const PlanKey& key() const { return parts_.key; }
  const Configuration& configuration() const { return parts_.configuration; }
  const WorkNeed& work() const { return parts_.work; }
  bool several() const { return parts_.launches.size() > 1; }

  /// Whether the configuration is valid for \p sizes, which are of the key's classes; \p shapes are then its launches'.
  bool admits(const Sizes& sizes, Shapes& shapes) const;
  /// Enqueues all launches on the call's stream. Throws Error, before anything is enqueued for a number that the
  /// kernel's type cannot hold.
  void launch(const Call& call, const Shapes& shapes, const WorkSpace& work) const;

  /// The next plan of this key, for sizes that this one does not admit.
  mutable std::atomic<const Plan*> next{nullptr};

 private:
  Backend& backend_;
  DeviceLimits limits_;
  PlanParts parts_;
};

}  // namespace tuner::runtime
