#pragma once
/// `tune export --t4` and what Kernel Tuner reads.

#include <tuner/cli/options.hpp>

namespace tuner::cli {

void add_results_options(po::options_description& options);
/// Whether one of them is \p given.
bool asks_for_results(const po::variables_map& given);
/// Writes the files that are asked for, of the user's database. Returns the exit code. Throws UsageError when several
/// tunings match.
int export_results(const po::variables_map& given);

}  // namespace tuner::cli
