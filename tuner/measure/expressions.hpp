#pragma once
/// The compiles that a configuration needs: the name expressions of its launches on the problem and on each `verify`
/// problem. Images are found by expression, so one image may serve several configurations.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct BufferSpec;
struct KernelSpec;
struct ResolvedLaunch;

/// The entry of CompileRequest::expressions for the variable into which a `constant` buffer is copied.
std::string variable_expression(const BufferSpec& buffer);

/// The expressions of \p launches, each once, in their order.
std::vector<std::string> distinct_expressions(const std::vector<ResolvedLaunch>& launches);
/// The expressions of all launches, including those that prepare, each once: first those on \p size, then those on the
/// verify_problems() for which \p configuration is valid. Throws SpecError or EvaluationError. Precondition:
/// why_invalid() finds no reason.
std::vector<std::string> launch_expressions(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                            const Configuration& configuration);
/// The same for the reference's launches; empty when \p spec has none.
std::vector<std::string> reference_expressions(const KernelSpec& spec, const ProblemSize& size,
                                               const DeviceLimits& limits);

/// Compiles \p expressions from \p spec's source with the defines of \p size, and the options and macros of
/// \p configuration.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, std::vector<std::string> expressions,
                               const Configuration& configuration);

/// Compiles all that \p configuration needs. Precondition: why_invalid() finds no reason.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration);
/// Compiles only the launches of a call of \p size. Precondition: why_invalid() finds no reason.
CompileRequest call_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            std::string architecture, const Configuration& configuration);
/// Compiles all that the reference needs.
CompileRequest reference_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                 std::string architecture);

/// The request for all that \p configuration needs, or the reason why it cannot run.
std::variant<CompileRequest, Invalid> request_or_reason(const KernelSpec& spec, const ProblemSize& size,
                                                        const DeviceLimits& limits, std::string architecture,
                                                        const Configuration& configuration);

/// Compiles all that \p configuration needs. Throws Error if it cannot run within \p limits, which are those of
/// \p device.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration, std::string_view device);

/// The number of \p expression in \p image; nullopt if the image does not have it.
std::optional<std::size_t> find_function(const Image& image, std::string_view expression);

}  // namespace tuner
