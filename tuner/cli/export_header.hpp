#pragma once
/// `tune export --header`.

#include <string>

#include <tuner/cli/options.hpp>

namespace tuner::cli {

/// Writes the header of the one kernel that \p given names, of the user's results and the shipped ones, and says on
/// stderr what it holds. Returns the exit code.
int export_header(const Given& given);

}  // namespace tuner::cli
