#pragma once
/// A launch worked out completely: modules loaded, shapes computed, every argument's source known. Launching one
/// allocates nothing and takes no lock (a spin lock a stream where a kernel needs several launches that share work
/// space). Plans are immutable but for their work spaces and live as long as the process.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/configuration.hpp>
#include <tuner/runtime/plan_key.hpp>

namespace tuner::runtime {

/// Where one kernel parameter comes from at launch.
struct ParameterSource {
  enum class Kind { constant, caller_pointer, caller_number, work_buffer };
  Kind kind = Kind::constant;
  std::size_t index = 0;  ///< position among the caller's arguments, or of the work buffer
  ElementType type{};     ///< of a caller_number, as the kernel takes it
  Argument constant;
};

struct PlannedLaunch {
  std::shared_ptr<const Module> module;
  std::size_t function = 0;
  LaunchShape shape;
  std::vector<ParameterSource> parameters;  ///< at most kMaxParameters
};
inline constexpr std::size_t kMaxParameters = 32;

struct WorkBuffer {
  std::size_t bytes = 0;
  bool zeroed = false;
};

/// What a plan is made of.
struct PlanParts {
  PlanKey key;
  Configuration configuration;
  std::string reason;  ///< how the configuration was found, one sentence
  std::vector<PlannedLaunch> launches;
  std::vector<WorkBuffer> work_buffers;
};

class Plan {
 public:
  Plan(Backend& backend, PlanParts parts);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const PlanKey& key() const { return parts_.key; }
  const Configuration& configuration() const { return parts_.configuration; }
  const std::string& reason() const { return parts_.reason; }

  /// Enqueues all launches on \p stream. \p arguments match key().pattern. Throws Error.
  void launch(const detail::LaunchArgument* arguments, Stream stream) const;
  /// Allocates the work space that launch() on \p stream needs.
  void prepare(Stream stream) const;
  /// True when launch() on \p stream allocates nothing.
  bool prepared(Stream stream) const;

 private:
  struct WorkSpace;
  WorkSpace* find_work_space(std::uintptr_t stream) const;
  WorkSpace& work_space(Stream stream) const;
  void enqueue(const PlannedLaunch& launch, const detail::LaunchArgument* arguments, const WorkSpace* space,
               Stream stream) const;

  Backend& backend_;
  PlanParts parts_;
  mutable std::atomic<WorkSpace*> work_spaces_{nullptr};  // a list that only grows
  mutable std::mutex growing_;
};

}  // namespace tuner::runtime
