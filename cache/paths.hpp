#pragma once
/// Where the cache's files live. Environment variables are read at each call; nothing is created.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cache {

/// The paths in an environment variable, colon-separated; of \p otherwise where it is not set, or empty.
std::vector<std::filesystem::path> path_list(const char* variable, const char* otherwise = "");

/// `$TUNER_CACHE_DIR`, `$XDG_CACHE_HOME/tuner`, `~/.cache/tuner`: the first that is set, absolute (a relative
/// `$TUNER_CACHE_DIR` is one of the current folder; relative XDG paths are ignored, as the XDG base directory
/// specification says). nullopt without any.
std::optional<std::filesystem::path> user_cache_dir();
/// The user's database in it: `wisdom.db`.
std::optional<std::filesystem::path> user_database_file();

/// `$TUNER_FROZEN`, absolute: the one database that everything is answered from (frozen.hpp). nullopt where it is not
/// set, or empty.
std::optional<std::filesystem::path> frozen_database_file();

/// Where tuner may be installed, likeliest first: the folder above that of the running program, the one above that of
/// the shared library this code is in, and the one that the package's CMake configuration told the program when it was
/// built. Nothing of it is known to tuner's own build, so that an installation can be moved.
const std::vector<std::filesystem::path>& installation_prefixes();

/// Where shipped wisdom may be, whether or not anything is there: \p application, each part of `$TUNER_DB_PATH`
/// (colon-separated), `share/tuner/wisdom` of each installation_prefixes(), `tuner/wisdom` in each of `$XDG_DATA_DIRS`
/// (`/usr/local/share:/usr/share` when unset).
std::vector<std::filesystem::path> shipped_places(const std::filesystem::path& application = {});
/// The existing files and, by name, `*.db` files of the existing folders among shipped_places(). Without duplicates.
std::vector<std::filesystem::path> shipped_database_files(const std::filesystem::path& application = {});

/// Creates \p folder and its missing parents with mode \p mode, less what the umask takes. False when that is
/// impossible.
bool make_folder(const std::filesystem::path& folder, unsigned mode);
/// The same with mode 0700.
inline bool make_private_folder(const std::filesystem::path& folder) { return make_folder(folder, 0700); }
/// Why somebody else could change \p path, a file or folder, or what stands there: it, or a folder above it, belongs to
/// somebody else or can be written to by others. Says what to do. nullopt when only this user and root can. A group of
/// the user's name without other members is the user.
/// \p installed: it may be root's own.
std::optional<std::string> exposure_of(const std::filesystem::path& path, bool installed = false);
/// True for NFS, SMB, FUSE, Lustre, GPFS and their kin, where shared memory between processes cannot be relied on.
/// False when \p path does not exist or is local.
bool on_network_file_system(const std::filesystem::path& path);

}  // namespace tuner::cache
