#pragma once
/// Captures of what calls launch, where $TUNER_CAPTURE asks for them: for each problem of a kernel the first launch
/// that could be captured. Nothing that goes wrong here is the caller's business: it becomes a warning.

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

/// One launch that is captured. What the kernel reads was copied when it was made.
class CapturedLaunch {
 public:
  /// Copies on the call's stream, and waits. \p configuration: null where the caller launches something of its own.
  /// Throws Error.
  CapturedLaunch(Backend& backend, const KernelSpec& spec, const BoundCall& bound, const Call& call,
                 const Configuration* configuration, const std::string& kernel_hash);
  /// Behind the launch: copies what the kernel wrote and tells where the capture lies. Only warns.
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
  /// Null unless $TUNER_CAPTURE, which is read once, has a pattern that \p kernel matches: `*`, `axpy*,reduce`.
  static std::unique_ptr<LaunchCaptures> wanted_for(const std::string& kernel);
  /// Whether it names any kernel.
  static bool wanted() noexcept;

  /// Null where the problem has been captured, or cannot be: then there is a warning.
  std::unique_ptr<CapturedLaunch> begin(Backend& backend, const KernelSpec& spec, const BoundCall& bound,
                                        const Call& call, const Configuration* configuration) noexcept;
  /// The call's stream is captured into a graph: warns.
  static void refuse_in_graph(const KernelSpec& spec) noexcept;
  /// Calls \p act; what goes wrong in it is told, once, and forgotten.
  static void only_warn(const KernelSpec& spec, const std::function<void()>& act) noexcept;

 private:
  std::mutex mutex_;
  std::optional<std::string> kernel_hash_;
  std::set<std::string> begun_;  // problems
};

}  // namespace tuner::runtime
