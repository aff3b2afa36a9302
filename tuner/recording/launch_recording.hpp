#pragma once
/// A recorded launch: a folder with the inputs and outputs of one launch of an application (docs/api.md, "Recordings").
/// It is enough to tune the kernel for that launch without the application.
///
///   recording.json         the members of Recording, and the digests of all files of numbers.
///   kernel/…             the kernel file and all files that it needs.
///   NAME.before.npy      a buffer before the launch, if the kernel reads it.
///   NAME.after.npy       a buffer after the launch, if the kernel writes it.

#include <filesystem>
#include <optional>
#include <string>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

struct Recording {
  KernelSpec spec;
  ProblemSize size;
  RecordedLaunch data;
  std::optional<Configuration> configuration;  ///< of the launch; none: the application used its own kernel
  std::string backend;                         ///< "cuda" or "host"
  std::string device_key, device_name;         ///< of the launch
};

inline constexpr const char* kRecordingFile = "recording.json";
inline constexpr const char* kRecordingFormat = "tuner recording";
inline constexpr int kRecordingVersion = 1;

/// \p path: the folder or its recording.json. Checks lengths and digests. Also checks that the kernel is still the
/// recorded one, so that results serve its application. Throws SpecError for the kernel file, else Error with the
/// file's name.
Recording read_recording(const std::filesystem::path& path);
/// Recording::backend of read_recording(path). Reads nothing else.
std::string backend_of_recording(const std::filesystem::path& path);
/// The same for \p text, the contents of \p folder's recording.json.
Recording parse_recording(const std::string& text, const std::filesystem::path& folder);

}  // namespace tuner
