#pragma once
/// `tune --problems FILE`: each line has the options that name a kernel and its problems, and limits for them.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/tune_request.hpp>

namespace tuner::cli {

/// The lines of \p file ("-": standard input), without blank ones and comments. Throws UsageError, with file and line,
/// for a line that cannot be understood, and for a file without any.
std::vector<ListedRequest> read_problem_list(const std::string& file);
/// The same for \p text, the contents of \p file.
std::vector<ListedRequest> parse_problem_list(std::string_view text, const std::string& file);

}  // namespace tuner::cli
