#pragma once
/// Frozen databases end with a seal: a hash of each block of 4096 bytes, and a hash of these hashes. SQLite does not
/// read it. Opening a file reads the seal; each block is compared with its hash when SQLite reads it. So a process that
/// starts reads little of a large file, and never uses a byte that has changed. The seal detects flipped bits and wrong
/// copies, not tampering. Private to this room.

#include <string>
#include <string_view>

#include <cache/file/file_layer.hpp>

namespace tuner::cache {

/// The seal for a database of these bytes.
std::string seal_of(std::string_view bytes);

/// Whether a file with these bytes ends with its seal, and nothing has changed since.
bool has_sound_seal(std::string_view file);

/// Files opened through this layer are read only and checked by their seal. Without a seal they are read unchecked. A
/// block that differs from its hash gives SQLITE_CORRUPT.
FileLayer& sealed_files();

enum class SealState {
  none,     ///< or a damaged one
  earlier,  ///< as an earlier tuner made it
  sound
};
/// The seal of a file that was opened through sealed_files().
SealState seal_state(sqlite3* connection);

}  // namespace tuner::cache
