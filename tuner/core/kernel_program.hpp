#pragma once
/// What a kernel's text is compiled with: the values of names in it, options and macros. Internal to the core room;
/// others call what kernel_spec.hpp declares.

#include <map>
#include <string>
#include <vector>

#include <tuner/core/enumeration.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Names and the C++ text that stands for each.
using Replacements = std::map<std::string, std::string, std::less<>>;

/// Of sizes, choices, types and the parameters of \p configuration.
Replacements replacements(const KernelSpec& spec, const ProblemSize& size, const Configuration& configuration);

/// As C++ has it. In a template argument list a negative number could merge with the sign before it.
std::string cpp_text(const Value& value);

/// That every option and every macro has a value, as predicates that enumeration can prune with.
void add_compile_values(const KernelSpec& spec, std::vector<Conjunct>& conjuncts);

}  // namespace tuner
