#pragma once
/// Writes a capture. Under a name of its own until it is whole: whoever reads captures never sees a part of one.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <tuner/core/configuration.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/problem_size.hpp>

namespace tuner {

/// The name of the capture of a problem: "axpy-T=float-n=1000-1a2b3c4d.capture". The same for the same kernel and
/// problem. \p kernel_hash: KernelRecord::source_hash.
std::string capture_name(const KernelSpec& spec, const ProblemSize& size, const std::string& kernel_hash);

/// Every function throws Error for what cannot be written, or read of the kernel.
class CaptureWriter {
 public:
  enum class When { before, after };
  /// Copies \p bytes that begin \p offset bytes into a buffer to \p to.
  using Copy = std::function<void(void* to, std::size_t offset, std::size_t bytes)>;

  /// Begins the capture \p folder / \p name and copies the kernel there; makes \p folder where there is none.
  CaptureWriter(const std::filesystem::path& folder, const std::string& name, const KernelSpec& spec,
                const ProblemSize& size, const Device& device, const std::string& kernel_hash);
  /// Removes what was written, unless it was published.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  void set_configuration(const Configuration& configuration);
  /// \p text: number_text() of its value.
  void add_scalar(const std::string& name, const std::string& text);
  void add_buffer(const std::string& name, When when, ElementType type, std::size_t count, const Copy& copy);

  /// The capture is whole. False where another process has published one of this name meanwhile: that one stays.
  bool publish();
  const std::filesystem::path& path() const;  ///< once it is published

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuner
