#pragma once
/// What a report can tell only with the kernel's file: traffic, arithmetic, the default, what limits the best.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <tuner/report/tuning.hpp>

namespace tuner::cli {

/// Fills in the amounts and the verdict of each of \p tunings whose very kernel source is found: by name in \p folders
/// and among the built-in ones, or as \p file (may be empty). The others stay without.
void add_amounts(std::span<report::Tuning> tunings, const std::vector<std::filesystem::path>& folders,
                 const std::string& file = {});

}  // namespace tuner::cli
