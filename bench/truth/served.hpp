#pragma once
/// The process that times served calls. Lab::call_ns() starts it.

#include <string>

namespace bench::truth {

/// `truth --served PROBLEM --device NAME`: prints the median time of a served call, in ns, with a cold L2.
int print_served(const std::string& problem, const std::string& device);

}  // namespace bench::truth
