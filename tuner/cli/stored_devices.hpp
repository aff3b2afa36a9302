#pragma once
/// Devices as people name them, among those that results are stored of.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

namespace tuner::cli {

/// Of all results and sessions, each once, by key.
std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases);

/// The one of \p known whose key or name is \p text, or that alone has it in its name or key, whatever the case.
/// Throws UsageError naming \p option and the known ones.
const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option);

}  // namespace tuner::cli
