#pragma once
/// Reads recordings from files: the recorded spaces' CSV, Kernel Tuner's cache files and T4 results, plain or gzip.
/// Tolerant of what is seen in the wild (missing closing braces, misspelt units, omitted fields), strict about what
/// would falsify a comparison (no parameters, no objective, rows of another width).

#include <filesystem>
#include <string>
#include <string_view>

#include <tuner/replay/recording.hpp>

namespace tuner::replay {

/// The format is told by the content. Throws RecordingError naming file and line.
Recording read_recording(const std::filesystem::path& path);

/// As read_recording(), from \p text; \p origin names it in messages.
Recording parse_recording(std::string_view text, const std::string& origin);

/// CSV: a header of parameter names, `eval_time_s` and `objective`; one row a configuration; an empty objective is a
/// failure. An optional column `outcome` holds the words of OutcomeKind.
Recording parse_csv(std::string_view text, const std::string& origin);

/// Kernel Tuner's cache file (JSON, versions 1.0 and 1.1). Closing braces that an interrupted run left out are
/// supplied, a half-written last entry is dropped. Times are milliseconds.
Recording parse_kernel_tuner(std::string_view text, const std::string& origin);

/// T4 results (Torring et al., "Towards a benchmarking suite for kernel tuners", 2023).
Recording parse_t4(std::string_view text, const std::string& origin);

/// The whole file, decompressed when it is gzip. Throws RecordingError.
std::string read_text(const std::filesystem::path& path);

}  // namespace tuner::replay
