#pragma once
/// Between tuner's types and the cache's records.

#include <cache/records.hpp>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>

namespace tuner {

cache::DeviceRecord to_record(const Device& device);
/// As far as a database describes it, which is enough for traffic, arithmetic and most launch shapes.
Device from_record(const cache::DeviceRecord& record);
/// Gives \p device the ceilings and peaks that \p record knows where it has none.
void take_ceilings(Device& device, const cache::DeviceRecord& record);
/// Driver, compiler, tuner's version and the operating system.
cache::EnvironmentRecord environment_record(const Device& device);
/// The source hash covers the kernel file's text and the files that it includes.
cache::KernelRecord to_record(const KernelSpec& spec, const Objective& objective);
cache::ProblemRecord to_record(const ProblemSize& size);
ProblemSize from_record(const cache::ProblemRecord& record);
cache::Context context_of(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                          const Objective& objective);
cache::TrialRecord to_record(const Trial& trial);
/// Throws std::invalid_argument when the configuration's text cannot be read.
Trial from_record(const cache::TrialRecord& record);

}  // namespace tuner
