#pragma once
/// Captures launches as $TUNER_CAPTURE asks: for each problem of a kernel, the first launch that can be captured.
/// Errors become warnings; they never reach the caller.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/capture/capture_writer.hpp>
#include <tuner/runtime/bind.hpp>

namespace tuner::runtime {

/// One captured launch. The constructor copies the kernel's inputs.
class CapturedLaunch {
 public:
  /// Copies on the call's stream and waits. \p configuration: null if the caller launches its own kernel. Throws Error.
  CapturedLaunch(Backend& backend, const KernelSpec& spec, const BoundCall& bound, const Call& call,
                 const Configuration* configuration, const std::string& kernel_hash);
  /// Call after the launch: copies the kernel's outputs and prints the folder of the capture. Errors become warnings.
  void finish() noexcept;

 private:
  void add_buffers(CaptureWriter::When when);

  Backend& backend_;
  const KernelSpec& spec_;
  const BoundCall bound_;
  const Call& call_;
  CaptureWriter writer_;
};

/// The captures of one kernel.
class LaunchCaptures {
 public:
  /// Null unless a pattern in $TUNER_CAPTURE (`*`, `axpy*,reduce`), which is read once, matches \p kernel.
  static std::unique_ptr<LaunchCaptures> wanted_for(const std::string& kernel);
  /// Whether $TUNER_CAPTURE contains any pattern.
  static bool wanted() noexcept;

  /// Null if the problem has been captured before. Warns and returns null if it cannot be captured.
  std::unique_ptr<CapturedLaunch> begin(Backend& backend, const KernelSpec& spec, const BoundCall& bound,
                                        const Call& call, const Configuration* configuration) noexcept;
  /// Warns that the launch is not captured because its stream is captured into a graph.
  static void refuse_in_graph(const KernelSpec& spec) noexcept;
  /// Calls \p act and turns its exception into a warning, which is given once.
  static void only_warn(const KernelSpec& spec, const std::function<void()>& act) noexcept;

 private:
  std::mutex mutex_;
  std::optional<std::string> kernel_hash_;
  std::set<std::string> begun_;  // problems
};

}  // namespace tuner::runtime
