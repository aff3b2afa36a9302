#pragma once
/// The job `export` of `tune db`.

#include <tuner/cli/input/options.hpp>

namespace tuner::cli {

/// `tune db export`: results as text, or as `--as` says for other programs.
int db_export(const Given& given);

}  // namespace tuner::cli
