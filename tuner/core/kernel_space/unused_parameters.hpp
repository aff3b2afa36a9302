#pragma once
/// Parameters that make no difference.

#include <string>
#include <vector>

namespace tuner {

struct KernelSpec;

/// The parameters that change neither the program nor its launches, whatever their values. They occur in none of these:
/// `instantiate`, `compile`, macros that the text names, launch shapes, `when`, arguments, work space.
std::vector<std::string> unused_parameters(const KernelSpec& spec);

}  // namespace tuner
