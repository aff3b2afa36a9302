#pragma once
/// Writes a recording. It has a temporary name until it is complete, so that readers never see a part of it.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// The name of a problem's recording, such as "axpy-T=float-n=1000-1a2b3c4d.recording". Equal kernels and problems have
/// equal names. \p kernel_hash: KernelRecord::source_hash.
std::string recording_name(const KernelSpec& spec, const ProblemSize& size, const std::string& kernel_hash);

/// All functions throw Error when something cannot be written or the kernel cannot be read.
class RecordingWriter {
 public:
  enum class When { before, after };
  /// Copies \p bytes bytes of a buffer, starting at \p offset, to \p to.
  using Copy = std::function<void(void* to, std::size_t offset, std::size_t bytes)>;

  /// Begins the recording \p folder / \p name and copies the kernel there. Creates \p folder if needed.
  RecordingWriter(const std::filesystem::path& folder, const std::string& name, const KernelSpec& spec,
                  const ProblemSize& size, const Device& device, const std::string& kernel_hash);
  /// Removes the recording unless it was published.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  void set_configuration(const Configuration& configuration);
  /// \p text: the value as number_text() writes it.
  void add_scalar(const std::string& name, const std::string& text);
  void add_buffer(const std::string& name, When when, ElementType type, std::size_t count, const Copy& copy);

  /// Completes the recording. Returns false when another process has published the same one, which then stays.
  bool publish();
  const std::filesystem::path& path() const;  ///< valid after publish()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuner
