#pragma once
/// `tune --problems FILE`: on each line the options that name a kernel and its problems, and what limits their tuning.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// The lines of \p file ("-": standard input) that say something. Throws UsageError, with file and line, for one that
/// cannot be understood, and where there is none.
std::vector<ListedRequest> read_problem_list(const std::string& file);
/// The same of \p text, what \p file holds.
std::vector<ListedRequest> parse_problem_list(std::string_view text, const std::string& file);

}  // namespace tuner::cli
