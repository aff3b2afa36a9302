#pragma once
/// Opens SQLite's files beside a database: its journals. SQLite applies them to the database, and deletes a file that
/// the end of a journal may name (sqlite.org/fileformat.html, "The Rollback Journal"). Each is therefore checked
/// whenever it is opened, on the opened file, and refused with SQLITE_PERM:
/// - somebody put it there who may not write the database;
/// - it is no regular file, or has a second name, so that writing to it would change another file;
/// - it names another file; tuner's own journals name none.
///
/// Private to this room.

#include <string>

#include <cache/file/file_layer.hpp>

namespace tuner::cache {

/// Databases opened through this layer have only checked journals.
FileLayer& checked_side_files();

/// Why this thread was last refused a file, and what to do.
const std::string& last_refusal();

}  // namespace tuner::cache
