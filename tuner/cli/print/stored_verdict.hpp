#pragma once
/// The parts of a report that need the kernel's file: traffic, arithmetic, the default and the limit of the best.

#include <optional>
#include <span>

#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/report/tuning.hpp>

namespace tuner::cli {

/// Fills in the amounts and the verdict of those \p tunings whose kernel is among \p kernels and has the same source.
void add_amounts(std::span<report::Tuning> tunings, KernelsByName kernels);

/// The verdict on the best configuration of \p tuning, by its latest trial and the counters of that trial. \p device is
/// the device of \p tuning, \p spec the kernel that was measured. Nothing if there is no best. Throws Error for sizes
/// that \p spec does not take, as another's database may hold.
std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device);

}  // namespace tuner::cli
