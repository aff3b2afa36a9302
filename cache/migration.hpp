#pragma once
/// Brings older databases to the present schema, one version at a time. Every version that was ever released stays
/// readable; tests/cache keeps a stored database of each. Private to this room.

#include <SQLiteCpp/SQLiteCpp.h>

namespace tuner::cache {

/// schema.sql, embedded by the build.
extern const char* const kSchema;

/// Step \p from -> \p from + 1 inside a transaction; from 0: fills what a new file holds besides its schema.
void migrate_wisdom(SQLite::Database& db, int from);

}  // namespace tuner::cache
