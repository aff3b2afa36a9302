#pragma once

#include <string>

namespace tuner::cli {

/// The text on standard input. Throws tuner::Error if it is longer than a wisdom text may be.
std::string standard_input();

}  // namespace tuner::cli
