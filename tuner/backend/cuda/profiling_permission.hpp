#pragma once
/// Whether this process may read hardware counters, according to the system's files. A container may hide these files;
/// then only an attempt shows whether the driver permits it.

#include <string>
#include <string_view>

namespace tuner::cuda {

/// The advice for a system where only administrators may read counters: a clause without a full stop.
std::string permission_cure();

/// Whether the driver lets only administrators read counters. \p driver_parameters: text of /proc/driver/nvidia/params.
bool only_for_administrators(std::string_view driver_parameters);
/// Whether a process has CAP_SYS_ADMIN or CAP_PERFMON. \p status: the text of its /proc/self/status.
bool is_administrator(std::string_view status);

/// Why the driver will not let this process count; empty: no reason is known.
std::string why_not_permitted();

}  // namespace tuner::cuda
