#pragma once
/// Where the cache's files live. Environment variables are read at each call; nothing is created.

#include <filesystem>
#include <optional>
#include <vector>

namespace tuner::cache {

/// `$TUNER_CACHE_DIR`, `$XDG_CACHE_HOME/tuner`, `~/.cache/tuner`: the first that is set (relative XDG paths are
/// ignored, as the XDG base directory specification says). nullopt without any.
std::optional<std::filesystem::path> user_cache_dir();
/// The user's database in it: `wisdom.db`.
std::optional<std::filesystem::path> user_database_file();

/// Folders and files to look for shipped databases in, in order: \p application, each part of `$TUNER_DB_PATH`
/// (colon-separated), `../share/tuner/wisdom` beside the running executable, the installed data folder,
/// `tuner/wisdom` in each of `$XDG_DATA_DIRS` (`/usr/local/share:/usr/share` when unset).
std::vector<std::filesystem::path> shipped_search_path(const std::filesystem::path& application = {});
/// The existing `*.db` files on that path, in order and by name within a folder, without duplicates.
std::vector<std::filesystem::path> shipped_database_files(const std::filesystem::path& application = {});

/// Creates \p folder and its missing parents with mode 0700. False when that is impossible.
bool make_private_folder(const std::filesystem::path& folder);
/// True for NFS, SMB, FUSE, Lustre, GPFS and their kin, where shared memory between processes cannot be relied on.
/// False when \p path does not exist or is local.
bool on_network_file_system(const std::filesystem::path& path);

}  // namespace tuner::cache
