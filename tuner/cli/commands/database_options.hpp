#pragma once
/// The databases that commands read and write, and the results in them.

#include <filesystem>
#include <span>

#include <cache/exchange/exchange.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

#include <tuner/cli/input/options.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner::cli {

/// How the user names a stored device. Commands that remove rows want the whole name or key: a part that happens to be
/// unique may be a mistake.
enum class DeviceName { part, whole };

/// `--kernel` and `--device`. A file stands for the kernel in it; with DeviceName::whole, for its present source alone.
/// A device is one of \p databases: a device of this machine, or the one that find_device() finds. Throws UsageError
/// for a kernel that neither \p databases nor this program know, and for a device without results: most likely the name
/// is misspelt.
cache::Filter read_filter(const Given& given, std::span<cache::Database> databases, DeviceName as = DeviceName::part);
/// The name under which results of `--kernel` \p text are stored, as read_filter() reads it. Empty stays empty.
std::string stored_kernel(const std::string& text, std::span<cache::Database> databases);

/// The devices of all that \p databases hold, each once, by key.
std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases);

/// The one of \p known whose key or name is \p text, or for DeviceName::part the only one with \p text in its name or
/// key, in any case. Throws UsageError naming \p option and the known ones.
const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option, DeviceName as = DeviceName::part);

/// `--db`, else the user's database. Throws tuner::Error without a cache folder.
std::filesystem::path database_file(const Given& given);
/// Creates \p file if it does not exist. Throws cache::CacheError if it cannot be written, now or later.
cache::Database open_for_writing(const std::filesystem::path& file);
/// Changes nothing. Throws tuner::Error if there is no \p file, and cache::CacheError if it cannot be used. \p damaged:
/// opens a damaged file too, as far as it can be read, and a frozen one as calls do, which read nothing damaged.
cache::Database open_for_reading(const std::filesystem::path& file, bool damaged = false);
/// The databases that answer calls: `--db`; without it the frozen database of $TUNER_FROZEN, else the user's, if there
/// is one, and the shipped ones.
std::vector<cache::Database> open_all_for_reading(const Given& given);
/// The same, but ignores $TUNER_FROZEN.
std::vector<cache::Database> open_all_of_this_machine(const Given& given);

/// Options that open the same databases for lookups. Throws tuner::Error if `--db` is not a database.
WisdomOptions read_only_wisdom(const Given& given);
/// Adds everything in \p file, a database or wisdom text, to \p into; all of a text, or nothing of it. `-` is a text on
/// standard input. Throws tuner::Error and cache::CacheError.
cache::ImportCount take_over(cache::Database& into, const std::string& file);
/// The database in \p file, or the text of one in memory. Throws as take_over().
cache::Database open_results(const std::string& file);

/// Prints one warning line to stderr.
void warn(std::string_view text);

}  // namespace tuner::cli
