#pragma once
/// The launches of a kernel for one size class: configuration chosen, module loaded, source of each argument known,
/// sizes given at launch. Launching allocates nothing and takes no lock. Immutable, except for
/// the counts of misses and captures.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/work_space.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/device/tensor_map.hpp>
#include <tuner/core/expression/open_expression.hpp>
#include <tuner/runtime/background/misses.hpp>
#include <tuner/runtime/call/call.hpp>

namespace tuner::runtime {

/// Where the value of a kernel parameter comes from at launch. For a struct, `constant` has only the size.
struct ParameterSource {
  enum class Kind { constant, pointer, number, structure, size, computed, zeroed, scratch, tensor_map };
  Kind kind = Kind::constant;
  std::size_t index = 0;  ///< the caller's argument or size, or Plan::maps; for work space: bytes from its start
  ElementType type{};     ///< for a number or size: the kernel's parameter type
  Argument constant;
  OpenExpression computed = {};  ///< from the sizes; the plan's conditions ensure that it has a value that fits
};

/// A tensor map of a plan. It is made for the pointer and the sizes of each call.
struct PlannedTensorMap {
  std::string name;  ///< in the kernel file
  ParameterSource memory;
  TensorMapShape shape;  ///< without the sized numbers
  int chip = 0;          ///< the compute capability: other chips may encode the same shape in another way
  /// Numbers that depend on the sizes, with their places in `shape`.
  std::vector<std::pair<std::size_t, OpenExpression>> sized = {};
};
inline constexpr std::size_t kMaxTensorMaps = 8;

/// A dimension of a launch that depends on the sizes.
struct SizedExtent {
  std::size_t extent = 0;  ///< 0 to 2: grid, 3 to 5: block, 6: shared memory
  OpenExpression value;
};

inline std::int64_t& extent(LaunchShape& shape, std::size_t which) {
  return which < 3 ? shape.grid[which] : which < 6 ? shape.block[which - 3] : shape.shared_bytes;
}

struct PlannedLaunch {
  std::size_t function = 0;  ///< in the plan's module
  LaunchShape shape;         ///< without the sized extents
  std::vector<SizedExtent> sized;
  bool may_exceed = false;    ///< for some sizes of the class, the shape may exceed the device's limits
  std::int64_t resident = 0;  ///< how many blocks of a cooperative launch the device holds; 0: no limit is checked
  std::vector<ParameterSource> parameters;
};
/// Of all launches of a plan together.
inline constexpr std::size_t kMaxParameters = 8192;
inline constexpr std::size_t kMaxLaunches = 8;

/// A condition that a size must meet and that is not certain for all sizes of the class.
struct SizeCondition {
  OpenExpression value;
  std::int64_t low = 0, high = 0;  ///< inclusive bounds
  bool truth = false;              ///< convert the value to 0 or 1 first
};

struct Plan {
  using Shapes = std::array<LaunchShape, kMaxLaunches>;

  explicit Plan(Backend& on) : backend(on) {}

  Backend& backend;
  std::string kernel;  ///< for messages
  PlanKey key;
  std::shared_ptr<const Module> module;
  std::vector<PlannedLaunch> launches;
  std::size_t parameters = 0;               ///< of all launches, at most kMaxParameters
  std::vector<PlannedTensorMap> maps = {};  ///< at most kMaxTensorMaps
  std::vector<SizeCondition> conditions;
  std::optional<Sizes> only;  ///< the plan is for these sizes only
  WorkNeed work;
  Configuration configuration;  ///< for recordings
  /// For captured calls that it admits; null: they use this plan.
  std::unique_ptr<const Plan> in_graphs;
  /// How many captured launches there is room for, besides those in use when it was made.
  std::unique_ptr<std::atomic<std::size_t>> captures = std::make_unique<std::atomic<std::size_t>>(0);
  std::unique_ptr<MissCounter> missed;  ///< null: a result is known
  /// Sizes of the class with their own plan; null: none.
  std::unique_ptr<const std::unordered_set<Sizes, SizesHash>> apart;

  /// Whether the configuration is valid for \p sizes, which must be in the key's classes. If so, sets \p shapes.
  bool admits(const Sizes& sizes, Shapes& shapes) const {
    if (only && !(*only == sizes)) return false;
    if (apart && apart->count(sizes) > 0) return false;
    for (const SizeCondition& condition : conditions) {
      const std::optional<std::int64_t> value = condition.value.evaluate(sizes.data());
      if (!value) return false;
      const std::int64_t judged = condition.truth ? *value != 0 : *value;
      if (judged < condition.low || judged > condition.high) return false;
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      shapes[i] = launches[i].shape;
      for (const SizedExtent& sized : launches[i].sized) {
        const std::optional<std::int64_t> value = sized.value.evaluate(sizes.data());
        if (!value) return false;
        extent(shapes[i], sized.extent) = *value;
      }
      const PlannedLaunch& launch = launches[i];
      const DeviceLimits& limits = backend.device().limits;
      if (launch.may_exceed && violated_limit(shapes[i], limits)) return false;
      if (launch.resident > 0 && not_resident(shapes[i], launch.resident, limits)) return false;
    }
    return true;
  }
  /// Enqueues all launches on the call's stream; the backend's context must be current. Throws Error. A number that
  /// does not fit the kernel's type is found before anything is enqueued.
  void launch(const Call& call, const Shapes& shapes, const WorkSpace& space) const;

 private:
  void launch(const Call& call, const Shapes& shapes, const WorkSpace& space, const TensorMap* made) const;
};

}  // namespace tuner::runtime
