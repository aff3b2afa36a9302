#pragma once
/// Reads recordings from files: the recorded spaces' CSV, Kernel Tuner's cache files, T4 results and what `tune export`
/// writes, plain or gzip, and tuner's databases.
/// Tolerant of what is seen in the wild (missing closing braces, misspelt units, omitted fields), strict about what
/// would falsify a comparison (no parameters, no objective, rows of another width).

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/replay/recording.hpp>

namespace tuner::replay {

// Recordings come from strangers: what is larger than anybody's space is refused before it fills the memory.
inline constexpr std::size_t kMostFields = std::size_t{1} << 22;  ///< of a CSV, rows times columns
inline constexpr std::size_t kMostJsonValues = std::size_t{1} << 24;
inline constexpr std::size_t kMostJsonDepth = 64;

/// Spaces with fewer measured configurations than this compare nothing.
inline constexpr std::size_t kFewestMeasured = 8;

/// Receives one sentence for each part of a database that is left out.
using Warn = std::function<void(const std::string&)>;

/// All recordings of a file, whose format is told by its content: one, or of tuner's own results (a database, opened
/// read-only, or text of `tune export`) one for each kernel, source, device, software, conditions and problem of which
/// at least kFewestMeasured configurations were measured; the others are left out with a warning. Throws RecordingError
/// naming the file and, where there is one, line and column, and when nothing is left.
std::vector<Recording> read_recordings(const std::filesystem::path& path, const Warn& warn = {});

/// The one recording in \p text of another program; \p origin names it in messages. JSON with a list "results" is T4
/// (Torring et al., "Towards a benchmarking suite for kernel tuners", 2023), with an object "cache" a cache file of
/// Kernel Tuner (versions 1.0 and 1.1), in which closing braces that an interrupted run left out are supplied and a
/// half-written last entry is dropped. Where a larger objective is better its reciprocal is recorded.
Recording parse_recording(std::string_view text, const std::string& origin);

/// CSV: a header of parameter names, `eval_time_s` and `objective`; one row a configuration; an empty objective is a
/// failure. An optional column `outcome` holds the words of OutcomeKind. At most kMostFields fields.
Recording parse_csv(std::string_view text, const std::string& origin);

/// Of what `tune export --all` writes and of a database file, as read_recordings().
std::vector<Recording> parse_exported(std::string_view text, const std::string& origin, const Warn& warn = {});
std::vector<Recording> read_database(const std::filesystem::path& file, const Warn& warn = {});

/// The whole file, decompressed when it is gzip. Throws RecordingError.
std::string read_text(const std::filesystem::path& path);

}  // namespace tuner::replay
