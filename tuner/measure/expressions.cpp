#include <tuner/measure/expressions.hpp>

#include <algorithm>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

void add(std::vector<std::string>& all, const std::vector<ResolvedLaunch>& launches) {
  for (const ResolvedLaunch& launch : launches)
    if (std::ranges::find(all, launch.expression) == all.end()) all.push_back(launch.expression);
}

CompileRequest request(const KernelSpec& spec, ProgramPart part, const ProblemSize& size, std::string architecture,
                       std::vector<std::string> expressions) {
  const bool own = part == ProgramPart::reference && spec.has_reference_sources();
  CompileRequest result{program_text(spec, part), spec.program.file,
                        std::move(expressions),   defines(spec, size),
                        std::move(architecture),  own ? spec.program.reference_includes : spec.program.includes};
  result.device_launches = spec.device_launches.has_value();
  result.include_paths = spec.program.include_paths;
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.role == BufferRole::constant && (!own || may_occur(spec, part, buffer.name)))
      result.expressions.push_back(variable_expression(buffer));
  return result;
}

}  // namespace

std::string variable_expression(const BufferSpec& buffer) { return '&' + buffer.scope + buffer.name; }

std::vector<std::string> distinct_expressions(const std::vector<ResolvedLaunch>& launches) {
  std::vector<std::string> all;
  add(all, launches);
  return all;
}

std::vector<std::string> launch_expressions(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                            const Configuration& configuration) {
  std::vector<std::string> all;
  const auto add_run = [&](const ProblemSize& problem) {
    add(all, resolve_launches(spec, problem, limits, configuration));
    add(all, resolve_prepare(spec, problem, limits));
  };
  add_run(size);
  const std::vector<VerifyProblem> further = verify_problems(spec, size, limits);
  for (const VerifyProblem& problem : further)
    if (!why_invalid(spec, problem.size, limits, configuration)) add_run(problem.size);
  for (const VerifyProblem& problem : nearest_valid(spec, size, limits, configuration, further)) add_run(problem.size);
  return all;
}

std::vector<std::string> reference_expressions(const KernelSpec& spec, const ProblemSize& size,
                                               const DeviceLimits& limits) {
  std::vector<std::string> all;
  const auto add_run = [&](const ProblemSize& problem) {
    add(all, resolve_reference(spec, problem, limits));
    if (!all.empty()) add(all, resolve_prepare(spec, problem, limits));
  };
  add_run(size);
  for (const VerifyProblem& problem : verify_problems(spec, size, limits)) add_run(problem.size);
  return all;
}

CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, std::vector<std::string> expressions,
                               const Configuration& configuration) {
  CompileRequest result = request(spec, ProgramPart::kernel, size, std::move(architecture), std::move(expressions));
  result.options = compile_options(spec, size, limits, configuration);
  result.macros = macros(spec, size, limits, configuration);
  return result;
}

CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration) {
  return compile_request(spec, size, limits, std::move(architecture),
                         launch_expressions(spec, size, limits, configuration), configuration);
}

CompileRequest call_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            std::string architecture, const Configuration& configuration) {
  return compile_request(spec, size, limits, std::move(architecture),
                         distinct_expressions(resolve_launches(spec, size, limits, configuration)), configuration);
}

CompileRequest reference_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                 std::string architecture) {
  CompileRequest result =
      request(spec, ProgramPart::reference, size, std::move(architecture), reference_expressions(spec, size, limits));
  result.options = reference_options(spec, size, limits);
  result.macros = reference_macros(spec, size, limits);
  return result;
}

std::variant<CompileRequest, Invalid> request_or_reason(const KernelSpec& spec, const ProblemSize& size,
                                                        const DeviceLimits& limits, std::string architecture,
                                                        const Configuration& configuration) try {
  if (auto reason = why_invalid(spec, size, limits, configuration)) return Invalid{std::move(*reason)};
  return compile_request(spec, size, limits, std::move(architecture), configuration);
} catch (const Error& error) {
  return Invalid{error.what()};
}

CompileRequest compile_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                               std::string architecture, const Configuration& configuration, std::string_view device) {
  if (const auto reason = why_invalid(spec, size, limits, configuration))
    throw Error(ErrorCode::invalid_argument,
                configuration.text() + " cannot run on " + std::string(device) + ": " + *reason);
  return compile_request(spec, size, limits, std::move(architecture), configuration);
}

std::optional<std::size_t> find_function(const Image& image, std::string_view expression) {
  for (std::size_t i = 0; i < image.functions.size(); ++i)
    if (image.functions[i].expression == expression) return i;
  return std::nullopt;
}

}  // namespace tuner
