#pragma once
/// Frozen databases end with a seal: a hash of each block of 4096 bytes, and a hash of these hashes. SQLite does not
/// read it. Opening a file reads the seal; each block is compared with its hash when SQLite reads it. So a process that
/// starts reads little of a large file, and never uses a byte that has changed. The seal detects flipped bits and wrong
/// copies, not tampering. Private to this room.

#include <string>
#include <string_view>

struct sqlite3;

namespace tuner::cache {

/// The seal for a database of these bytes.
std::string seal_of(std::string_view bytes);

/// While it lives, SQLite knows files that are read only and checked by their seal: open them with this VFS. Without a
/// seal they are read unchecked. A block that differs from its hash gives SQLITE_CORRUPT.
class SealedFiles {
 public:
  SealedFiles();
  ~SealedFiles();
  SealedFiles(const SealedFiles&) = delete;
  SealedFiles& operator=(const SealedFiles&) = delete;
  static const char* vfs();
};

enum class SealState {
  none,     ///< or a damaged one
  earlier,  ///< as an earlier tuner made it
  sound
};
/// The seal of a file that was opened through SealedFiles.
SealState seal_state(sqlite3* connection);

}  // namespace tuner::cache
