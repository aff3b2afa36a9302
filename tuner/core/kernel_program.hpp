#pragma once
/// The values, options and macros that a kernel's text is compiled with. Private to this room; kernel_spec.hpp declares
/// the functions for others.

#include <map>
#include <string>
#include <vector>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Names, and the C++ text that replaces each.
using Replacements = std::map<std::string, std::string, std::less<>>;

/// The values of sizes, choices, types and the parameters of \p configuration.
Replacements replacements(const KernelSpec& spec, const ProblemSize& size, const Configuration& configuration);

/// The program_text() with the definitions of its macros.
std::string whole_text(const KernelSpec& spec, ProgramPart part);

/// The value as C++. A negative number is in parentheses: in a template argument list it could merge with a sign before
/// it.
std::string cpp_text(const Value& value);

/// Adds predicates for the enumeration: every option and every macro can be evaluated.
void add_compile_values(const KernelSpec& spec, std::vector<Conjunct>& conjuncts);

}  // namespace tuner
