#pragma once
/// The database that `show`, `export` and their kin work on.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/exchange.hpp>

#include <tuner/cli/options.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// `--db FILE`, and `--kernel`, `--device-key` as filters when \p filters.
void add_database_options(Options& options, bool filters);
/// `--kernel` and `--device-key`; a path stands for the kernel in that file, which has to be readable.
cache::Filter read_filter(const Given& given);
/// Throws UsageError where neither \p databases nor this program know the kernel of \p filter: most likely a typing
/// error.
void require_known_kernel(const cache::Filter& filter, std::span<cache::Database> databases);
/// The same of the device: throws UsageError where \p databases have no result of it.
void require_known_device(const cache::Filter& filter, std::span<cache::Database> databases);

/// The devices of all results and sessions, each once, by key.
std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases);

/// The one of \p known whose key or name is \p text, or that alone has it in its name or key, whatever the case.
/// Throws UsageError naming \p option and the known ones.
const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option);

/// `--db`, else the user's database. Throws tuner::Error without a cache folder.
std::filesystem::path database_file(const Given& given);
/// Made when it is not there. Throws cache::CacheError when it cannot be written to, now or later.
cache::Database open_for_writing(const std::filesystem::path& file);
/// Changes nothing. Throws tuner::Error when there is no \p file, cache::CacheError when it cannot be used; \p damaged:
/// as far as it can be read.
cache::Database open_for_reading(const std::filesystem::path& file, bool damaged = false);
/// What calls are answered from: `--db`; without it the frozen database of $TUNER_FROZEN, else the user's, where there
/// is one, and the shipped ones.
std::vector<cache::Database> open_all_for_reading(const Given& given);
/// The same without a look at $TUNER_FROZEN.
std::vector<cache::Database> open_all_of_this_machine(const Given& given);

/// The same databases, as calls ask them. Throws tuner::Error where `--db` is none.
WisdomOptions read_only_wisdom(const Given& given);
/// Takes over all results of the wisdom text \p file, or none. Throws tuner::Error and cache::CacheError.
cache::ImportCount import_text_file(cache::Database& into, const std::string& file);

/// Prints one warning line to stderr.
void warn(std::string_view text);

}  // namespace tuner::cli
