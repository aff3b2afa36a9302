#pragma once
/// Reads recorded spaces from files: CSV of recorded spaces, Kernel Tuner's cache files, T4 results, the text of
/// `tune db export`, all of them plain or gzip, and tuner's databases.
/// Accepts faults that real files have (missing closing braces, misspelt units, omitted fields). Refuses faults that
/// would falsify a comparison (no parameters, no objective, rows of another width).

#include <filesystem>
#include <functional>
#include <string_view>

#include <tuner/replay/recorded_space.hpp>

namespace tuner::replay {

/// Of a CSV, rows times columns. A larger file is refused before it fills the memory: files come from strangers.
inline constexpr std::size_t kMostFields = std::size_t{1} << 22;

/// A space with fewer measured configurations cannot compare strategies.
inline constexpr std::size_t kFewestMeasured = 8;

/// Receives one sentence for each part of a database that is left out.
using Warn = std::function<void(const std::string&)>;

/// All recorded spaces of a file. Its content decides about its format. A file of another program is one recorded
/// space. tuner's own results are a database, which is opened read-only, or the text of `tune db export`. They give one
/// recorded space for each kernel, source, device, software, conditions and problem. One with fewer than
/// kFewestMeasured measured configurations is left out with a warning. Throws RecordedSpaceError with the file and, if
/// known, line and column; also when no recorded space is left.
std::vector<RecordedSpace> read_recorded_spaces(const std::filesystem::path& path, const Warn& warn = {});

/// The same for \p text, which is not a database; \p origin names it in messages.
std::vector<RecordedSpace> parse_recorded_spaces(std::string_view text, const std::string& origin,
                                                 const Warn& warn = {});

/// The one recorded space in \p text of another program; \p origin names it in messages. JSON with a list "results" is
/// T4 (Torring et al., "Towards a benchmarking suite for kernel tuners", 2023). JSON with an object "cache" is a cache
/// file of Kernel Tuner (versions 1.0 and 1.1). If an interrupted run left out closing braces, they are supplied, and a
/// half-written last entry is dropped. If a larger objective is better, its reciprocal is recorded.
RecordedSpace parse_recorded_space(std::string_view text, const std::string& origin);

/// CSV: a header of parameter names, `eval_time_s` and `objective`; one row a configuration; an empty objective is a
/// failure. An optional column `outcome` holds the words of OutcomeKind. At most kMostFields fields.
RecordedSpace parse_csv(std::string_view text, const std::string& origin);

}  // namespace tuner::replay
