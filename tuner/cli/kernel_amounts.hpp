#pragma once
/// What a report can tell only with the kernel's file: traffic, arithmetic, the default, what limits the best.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/report/tuning.hpp>

namespace tuner::cli {

/// Fills in the amounts and the verdict of each of \p tunings whose very kernel source is found: by name in \p folders
/// and among the built-in ones, or as \p file (may be empty). The others stay without.
void add_amounts(std::span<report::Tuning> tunings, const std::vector<std::filesystem::path>& folders,
                 const std::string& file = {});

/// The limit of the best of \p tuning, from the latest trial of the best with its counters. \p device is that of
/// \p tuning, \p spec the kernel that was measured. Nothing where there is no best. Throws Error for sizes that \p spec
/// does not take: a stranger's database.
std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device);

}  // namespace tuner::cli
