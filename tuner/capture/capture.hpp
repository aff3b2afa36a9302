#pragma once
/// A captured launch: a folder with what one launch of an application had (docs/api.md, "Captures"), enough to tune its
/// kernel for it without the application.
///
///   capture.json         what is listed below, and the digests of all files of numbers
///   kernel/…             the kernel file and what it is read with
///   NAME.before.npy      what the buffer held before the launch, where the kernel reads it
///   NAME.after.npy       what the launch left in it, where the kernel writes it

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
  std::optional<Configuration> configuration;  ///< that was launched; nothing where the application launched it itself
  std::string backend;                         ///< "cuda" or "host"
  std::string device_key, device_name;         ///< where it was launched
};

inline constexpr const char* kCaptureFile = "capture.json";
inline constexpr const char* kCaptureFormat = "tuner capture";
inline constexpr int kCaptureVersion = 1;

/// \p path: the folder, or its capture.json. Everything is checked: lengths, digests, and that the kernel is still the
/// one that was captured, so that its application is served with what is found. Throws Error, naming the file, and
/// SpecError for the kernel's.
Capture read_capture(const std::filesystem::path& path);
/// Capture::backend of read_capture(path), without a look at anything else.
std::string backend_of_capture(const std::filesystem::path& path);
/// The same of \p text, what the capture.json of \p folder holds.
Capture parse_capture(const std::string& text, const std::filesystem::path& folder);

}  // namespace tuner
