#pragma once
/// The options and macros that the text of a kernel is compiled with.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tuner/core/kernel/compile_option.hpp>

namespace tuner {

class Configuration;
struct DeviceLimits;
struct KernelSpec;
struct ProblemSize;
class Value;

/// The compiler options for \p configuration and \p size, in their order.
std::vector<CompileOption> compile_options(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                           const Configuration& configuration);
/// The compiler options for the reference: those of belongs_to_reference(), so that an inexact kernel is compared with
/// an exact result. Options that name parameters are left out unless the default configuration is the reference.
std::vector<CompileOption> reference_options(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits);

/// The macros of \p configuration, `NAME=VALUE`. A type has its C++ spelling, a negative number is in parentheses.
std::vector<std::string> macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                const Configuration& configuration);
/// The macros for the reference, computed for the default configuration or, without one, for the first value of each
/// parameter. Macros whose evaluation fails are left out.
std::vector<std::string> reference_macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

/// Macros defined for every compile of \p size: `TUNER=1`, and for each choice `TUNER_T_float=1`.
std::vector<std::string> defines(const KernelSpec& spec, const ProblemSize& size);

// Private to this folder.

/// Names, and the C++ text that replaces each.
using Replacements = std::map<std::string, std::string, std::less<>>;
/// The values of sizes, choices, types and the parameters of \p configuration.
Replacements replacements(const KernelSpec& spec, const ProblemSize& size, const Configuration& configuration);
/// The value as C++. A negative number is in parentheses: in a template argument list it could merge with a sign before
/// it.
std::string cpp_text(const Value& value);

}  // namespace tuner
