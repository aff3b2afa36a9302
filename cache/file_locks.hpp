#pragma once
/// SQLite's locks, made to hold where a process has two copies of SQLite. Private to this room.

namespace tuner::cache {

/// Has the SQLite that is linked into this library lock its files by open file description. POSIX locks belong to the
/// process: two shared objects that each contain tuner would not keep each other from writing, and whichever closes a
/// file first drops the other's locks. Does nothing after the first call, for an SQLite that is shared anyway, and
/// where the system has no such locks. Thread-safe.
void lock_by_open_file();

}  // namespace tuner::cache
