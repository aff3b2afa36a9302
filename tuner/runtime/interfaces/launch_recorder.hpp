#pragma once
/// Records launches as $TUNER_RECORD asks: for each problem of a kernel, the first launch that can be recorded.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <tuner/core/values/configuration.hpp>
#include <tuner/runtime/call/call.hpp>

namespace tuner::runtime {

/// Records the launches of one kernel.
class LaunchRecorder {
 public:
  /// Null unless a pattern in $TUNER_RECORD (`*`, `axpy*,reduce`), which is read once, matches \p kernel.
  static std::unique_ptr<LaunchRecorder> wanted_for(const std::string& kernel);
  /// Whether $TUNER_RECORD contains any pattern.
  static bool wanted() noexcept;

  /// Calls \p launch exactly once. Records it, unless its problem was recorded before; warns once if that fails.
  /// \p configuration: null if the caller launches its own kernel.
  void record(const KernelSpec& spec, const Choices& choices, const Call& call, const std::function<void()>& launch,
              const Configuration* configuration);

 private:
  std::optional<std::string> begin_problem(const KernelSpec& spec, const ProblemSize& size);

  std::mutex mutex_;
  std::optional<std::string> kernel_hash_;
  std::set<std::string> begun_;  // problems
};

}  // namespace tuner::runtime
