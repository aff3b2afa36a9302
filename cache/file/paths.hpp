#pragma once
/// Where the cache's files are. Environment variables are read at each call; nothing is created unless said below.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cache {

/// The colon-separated paths in an environment variable; those in \p otherwise when it is not set or empty.
std::vector<std::filesystem::path> path_list(const char* variable, const char* otherwise = "");

/// The first that is set of `$TUNER_CACHE_DIR`, `$XDG_CACHE_HOME/tuner` and `~/.cache/tuner`, as an absolute path. A
/// relative `$TUNER_CACHE_DIR` starts at the current folder. A relative `$XDG_CACHE_HOME` is ignored, as the XDG base
/// directory specification requires. nullopt without any of them.
std::optional<std::filesystem::path> user_cache_dir();
/// The user's database in that folder: `wisdom.db`.
std::optional<std::filesystem::path> user_database_file();

/// `$TUNER_FROZEN` as an absolute path: the one database that answers everything (shipped.hpp). nullopt when unset or
/// empty.
std::optional<std::filesystem::path> frozen_database_file();

/// Places where tuner may be installed, most likely first. They are the folder above that of the running program, the
/// same for the shared library with this code, and a prefix that the package's CMake configuration compiled in. tuner's
/// own build compiles in no path, so an installation can be moved.
const std::vector<std::filesystem::path>& installation_prefixes();

/// Places for shipped wisdom, whether or not they exist: each part of `$TUNER_DB_PATH` (colon-separated),
/// `share/tuner/wisdom` in each of installation_prefixes(), and `tuner/wisdom` in each of `$XDG_DATA_DIRS`
/// (`/usr/local/share:/usr/share` when unset).
std::vector<std::filesystem::path> shipped_places();
/// The existing files among shipped_places(), and the `*.db` files, by name, in its existing folders. No duplicates.
/// \p unreadable: why a place that may hold some cannot be read; it may be readable the next time.
std::vector<std::filesystem::path> shipped_database_files(std::string* unreadable = nullptr);
/// The parts of `$TUNER_DB_PATH` with neither databases nor images: a mistake.
std::vector<std::filesystem::path> useless_places();

/// True for NFS, SMB, FUSE, Lustre, GPFS and similar, where processes cannot rely on shared memory. False when \p path
/// is local or does not exist.
bool on_network_file_system(const std::filesystem::path& path);

}  // namespace tuner::cache
