#pragma once
/// The contents of a database as a list of entries: the common form of export, import and merge. Private to this room.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/rows.hpp>

namespace tuner::cache {

using Entry = std::variant<BestRecord, SessionRecord, StoredTrial, QuarantineRecord>;

/// Best configurations only, or everything. Sorted; sessions stand before their trials.
std::vector<Entry> entries_of(Database& database, const Filter& filter, bool everything);
std::string entries_text(const std::vector<Entry>& entries);
/// Throws ImportError.
std::vector<Entry> parse_entries(std::string_view text, const std::string& source);
/// In one transaction.
ImportCount apply_entries(Database& database, const std::vector<Entry>& entries);

}  // namespace tuner::cache
