#pragma once
/// A captured launch: a folder with the inputs and outputs of one launch of an application (docs/api.md, "Captures").
/// It is enough to tune the kernel for that launch without the application.
///
///   capture.json         the members of Capture, and the digests of all files of numbers.
///   kernel/…             the kernel file and all files that it needs.
///   NAME.before.npy      a buffer before the launch, if the kernel reads it.
///   NAME.after.npy       a buffer after the launch, if the kernel writes it.

#include <filesystem>
#include <optional>
#include <string>

#include <tuner/core/configuration.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

struct Capture {
  KernelSpec spec;
  ProblemSize size;
  CapturedData data;
  std::optional<Configuration> configuration;  ///< of the launch; none: the application used its own kernel
  std::string backend;                         ///< "cuda" or "host"
  std::string device_key, device_name;         ///< of the launch
};

inline constexpr const char* kCaptureFile = "capture.json";
inline constexpr const char* kCaptureFormat = "tuner capture";
inline constexpr int kCaptureVersion = 1;

/// \p path: the folder or its capture.json. Checks lengths and digests. Also checks that the kernel is still the
/// captured one, so that results serve its application. Throws SpecError for the kernel file, else Error with the
/// file's name.
Capture read_capture(const std::filesystem::path& path);
/// Capture::backend of read_capture(path). Reads nothing else.
std::string backend_of_capture(const std::filesystem::path& path);
/// The same for \p text, the contents of \p folder's capture.json.
Capture parse_capture(const std::string& text, const std::filesystem::path& folder);

}  // namespace tuner
