#pragma once
/// Makes SQLite's locks work when a process contains two copies of SQLite. Private to this room.

namespace tuner::cache {

/// Makes the SQLite that is linked into this library use locks of open file descriptions. POSIX locks belong to the
/// process: two shared objects that each contain tuner would not exclude each other, and the first to close a file
/// would drop the other's locks. Does nothing after the first call, when SQLite is a shared library, and where the
/// system has no such locks. Thread-safe.
void lock_by_open_file();

}  // namespace tuner::cache
