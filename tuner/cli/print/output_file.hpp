#pragma once
/// A command only replaces files that the same command wrote. A misspelt name must not cost a database.

#include <filesystem>

#include <tuner/cli/input/options.hpp>

namespace tuner::cli {

/// A kernel_file is never replaced without --force: somebody may have edited it.
enum class OutputKind { wisdom_text, trial_log, picture, report, table, header, results, kernel_file, frozen };

/// Throws Error with a description of the file, unless \p path is new, an empty file, one of \p kind, or `-`. \p option
/// names it in the message: "--log". \p force allows other files too, and for a log links and devices, but never a
/// folder or a database. Throws Error also if no file can be made in the folder.
void require_output(const std::filesystem::path& path, OutputKind kind, bool force, std::string_view option);

/// require_output() by `--force`, which has no effect on `-`.
void require_output_or_stdout(const Given& given, const std::string& path, OutputKind kind, std::string_view option);
/// Writes \p text to \p path, or to standard output for `-`. Whether it is a file. Throws cache::CacheError.
bool write_or_print(const std::string& path, const std::string& text);

/// Throws UsageError for `-`: this command writes files.
void refuse_standard_output(const std::filesystem::path& path, std::string_view option);
/// Throws Error unless \p path is new, an empty file or a wisdom database. Another file would be moved aside.
void require_database(const std::filesystem::path& path, std::string_view option);

}  // namespace tuner::cli
