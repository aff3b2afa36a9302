#pragma once
/// What limits the best of a stored tuning: the verdict that its tuning printed, from what the database kept.

#include <optional>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/report/tuning.hpp>

namespace tuner::cli {

/// From the latest trial of the best with its counters, \p device, that of \p tuning, and \p spec, which has to be the
/// kernel that was measured. Nothing where there is no best. Throws Error for sizes that \p spec does not take:
/// a stranger's database.
std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device);

}  // namespace tuner::cli
