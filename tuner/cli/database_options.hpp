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
/// The user's database or `--db`. Warnings go to stderr. Throws tuner::Error when \p must_exist and it does not.
cache::Database open_database(const po::variables_map& given, bool must_exist);
cache::Filter read_filter(const po::variables_map& given);
/// Prints one warning line to stderr.
void warn(std::string_view text);

}  // namespace tuner::cli
