#pragma once
/// The database that `show`, `export` and their kin work on.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>

#include <tuner/cli/options.hpp>

namespace tuner::cli {

/// `--db FILE`, and `--kernel`, `--device` as filters when \p filters.
void add_database_options(po::options_description& options, bool filters);
/// The user's database or `--db`: to be read when it \p must_exist, else to be written, and then what cannot be stored is
/// an error. Warnings go to stderr. Throws tuner::Error when it does not exist, cache::CacheError when it cannot be used.
cache::Database open_database(const po::variables_map& given, bool must_exist);
cache::Filter read_filter(const po::variables_map& given);
/// Prints one warning line to stderr.
void warn(std::string_view text);

}  // namespace tuner::cli
