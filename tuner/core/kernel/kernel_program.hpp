#pragma once
/// The names that a kernel's expressions may use, and the values, options and macros that its text is compiled with.
/// Private to this room; kernel_spec.hpp declares the functions for others.

#include <map>
#include <string>
#include <vector>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {

/// Adds the device's limits under the names of docs/kernel-files.md.
void bind_device_limits(Bindings& bindings, const DeviceLimits& limits);

/// The names for expressions of \p spec: sizes, choices, types, device limits and parameters.
KnownNames known_names(const KernelSpec& spec);

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
