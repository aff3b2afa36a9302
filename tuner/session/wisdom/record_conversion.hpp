#pragma once
/// Converts tuner's types to the cache's records and back.

#include <optional>
#include <string>
#include <string_view>

#include <cache/records/stored_records.hpp>

#include <tuner/core/device/device.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

cache::DeviceRecord to_record(const Device& device);
/// The parts of a device that a database stores. They are enough for traffic, arithmetic and most launch shapes.
Device from_record(const cache::DeviceRecord& record);
/// Copies ceilings and peaks that \p device lacks from \p record.
void take_ceilings(Device& device, const cache::DeviceRecord& record);
/// The text of a kernel file without the lines that begin with `#pragma tuner in_flight` or another name of
/// uncounted_directives.inc. Results stay valid when they change.
std::string counted_text(std::string_view text);
/// The source hash covers the kernel file's counted text and the files that it includes.
cache::KernelRecord to_record(const KernelSpec& spec, const Objective& objective);
cache::ProblemRecord to_record(const ProblemSize& size);
ProblemSize from_record(const cache::ProblemRecord& record);
cache::Context context_of(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                          const Objective& objective);
cache::TrialRecord to_record(const Trial& trial);
/// nullopt when the configuration's text cannot be read, as in a row of another program.
std::optional<Trial> from_record(const cache::TrialRecord& record);

}  // namespace tuner
