#pragma once
/// Records launches as $TUNER_RECORD asks: for each problem of a kernel, the first launch that can be recorded.

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/recording/recording_writer.hpp>
#include <tuner/runtime/call.hpp>

namespace tuner::runtime {

/// A launch that is being recorded. The constructor copies the kernel's inputs.
class LaunchRecording {
 public:
  /// Copies on the call's stream and waits. \p configuration: null if the caller launches its own kernel. Throws Error.
  LaunchRecording(Backend& backend, const KernelSpec& spec, const BoundCall& bound, const Call& call,
                  const Configuration* configuration, const std::string& kernel_hash);
  /// Call after the launch: copies the kernel's outputs and prints the folder of the recording. Throws Error.
  void finish();

 private:
  void add_buffers(RecordingWriter::When when);

  Backend& backend_;
  const KernelSpec& spec_;
  const BoundCall bound_;
  const Call& call_;
  RecordingWriter writer_;
};

/// Records the launches of one kernel.
class LaunchRecorder {
 public:
  /// Null unless a pattern in $TUNER_RECORD (`*`, `axpy*,reduce`), which is read once, matches \p kernel.
  static std::unique_ptr<LaunchRecorder> wanted_for(const std::string& kernel);
  /// Whether $TUNER_RECORD contains any pattern.
  static bool wanted() noexcept;

  /// Null if the problem has been recorded before. Throws Error if it cannot be recorded.
  std::unique_ptr<LaunchRecording> begin(Backend& backend, const KernelSpec& spec, const BoundCall& bound,
                                         const Call& call, const Configuration* configuration);

 private:
  std::mutex mutex_;
  std::optional<std::string> kernel_hash_;
  std::set<std::string> begun_;  // problems
};

}  // namespace tuner::runtime
