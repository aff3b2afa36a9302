#pragma once
/// Whether this process may read hardware counters, as the system's files tell before anything is tried. They may say
/// nothing (containers hide them): the last word has the driver.

#include <string>
#include <string_view>

namespace tuner::cuda {

/// What to do where only administrators may read counters: a clause without a full stop.
std::string permission_cure();

/// Whether the driver lets only administrators read counters, from the text of /proc/driver/nvidia/params.
bool only_for_administrators(std::string_view driver_parameters);
/// Whether a process with \p status (the text of /proc/self/status) counts as one: CAP_SYS_ADMIN or CAP_PERFMON.
bool is_administrator(std::string_view status);

/// Why the driver will refuse to count, for this process; empty when nothing tells.
std::string why_not_permitted();

}  // namespace tuner::cuda
