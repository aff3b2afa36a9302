#pragma once
/// What must be compiled for a configuration: the name expressions of its launches on the problem and on every
/// `verify` problem. Images are found by expression, so one image may serve several configurations.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner {

/// \p size with every size that \p verify names replaced.
ProblemSize verify_size(const ProblemSize& size, const VerifySpec& verify);

/// What stands among a CompileRequest's expressions for the variable that a `constant` buffer is copied into.
std::string variable_expression(const BufferSpec& buffer);

/// Those of \p launches, each once, in their order.
std::vector<std::string> distinct_expressions(const std::vector<ResolvedLaunch>& launches);
/// Distinct expressions in launch order, with those of the launches that prepare: of \p size, then of the `verify`
/// problems on which \p configuration is valid. Throws SpecError or EvaluationError. Precondition: why_invalid() has
/// nothing against it.
std::vector<std::string> launch_expressions(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                            const Configuration& configuration);
/// The same for the reference's launches; empty when \p spec has none.
std::vector<std::string> reference_expressions(const KernelSpec& spec, const ProblemSize& size,
                                               const DeviceLimits& limits);

/// A compile of \p expressions from \p spec's source with the defines of \p size, and the options and macros of
/// \p configuration.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, std::vector<std::string> expressions,
                               const Configuration& configuration);

/// That of everything \p configuration needs. Precondition: why_invalid() has nothing against it.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration);
/// That of what a call of \p size launches. Precondition: why_invalid() has nothing against \p configuration.
CompileRequest call_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            std::string architecture, const Configuration& configuration);
/// That of everything the reference needs.
CompileRequest reference_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                 std::string architecture);

/// That of everything \p configuration needs, or the reason why it cannot run.
std::variant<CompileRequest, Invalid> request_or_reason(const KernelSpec& spec, const ProblemSize& size,
                                                        const DeviceLimits& limits, std::string architecture,
                                                        const Configuration& configuration);

/// That of everything \p configuration needs. Throws Error when it cannot run within \p limits, those of \p device.
CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration, std::string_view device);

/// Number of \p expression in \p image; nothing when it is not there.
std::optional<std::size_t> find_function(const Image& image, std::string_view expression);

}  // namespace tuner
