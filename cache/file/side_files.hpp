#pragma once
/// Opens SQLite's files beside a database: its journals. SQLite applies them to the database, and deletes a file that
/// the end of a journal may name (sqlite.org/fileformat.html, "The Rollback Journal"). Each is therefore checked
/// whenever it is opened, on the opened file. A journal is refused with SQLITE_PERM if:
/// - its owner may not write the database.
/// - it is not a regular file, or has a second name. Writing to it would change another file.
/// - it names another file. Journals of tuner name none.
///
/// Private to this room.

#include <string>

namespace tuner::cache {

/// While it lives, SQLite can open files through the layer (a "VFS", sqlite.org/vfs.html) that checks journals. SQLite
/// keeps its name no longer: a library that is unloaded leaves nothing in a shared SQLite. Nobody waits for another's
/// file. Thread-safe.
class CheckedSideFiles {
 public:
  CheckedSideFiles();
  ~CheckedSideFiles();
  CheckedSideFiles(const CheckedSideFiles&) = delete;
  CheckedSideFiles& operator=(const CheckedSideFiles&) = delete;

  /// Each copy of tuner in a process has another name.
  static const char* name();
};

/// Why this thread was last refused a file, and what to do.
const std::string& last_refusal();

}  // namespace tuner::cache
