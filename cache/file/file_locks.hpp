#pragma once
/// The locks of SQLite's files. Private to this room.

namespace tuner::cache {

/// Makes the SQLite that is linked into this library use locks of open file descriptions. POSIX locks belong to the
/// process: two shared objects that each contain tuner would not exclude each other, and the first to close a file
/// would drop the other's locks. Does nothing after the first call, when SQLite is a shared library, and where the
/// system has no such locks. Thread-safe.
void lock_by_open_file();
/// Whether this thread's last lock could not be taken because no file descriptor was free.
bool lock_lacked_descriptor();

}  // namespace tuner::cache
