#pragma once
/// For tests that compile kernel files with NVRTC for a GPU that need not be here.

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>
#include <tuner/core/error.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner::testing {

/// What NVRTC makes of \p request. Throws Error with its log where that is nothing.
inline Image compiled(const CompileRequest& request) {
  CompileResult result = cuda::make_nvrtc_compiler(cuda::nvrtc())->compile(request);
  if (const auto* const error = std::get_if<CompileError>(&result)) throw Error(error->message + '\n' + error->log);
  return std::get<Image>(std::move(result));
}

/// Compiles \p configurations, and the reference, in one program.
inline CompileRequest request_of_all(const KernelSpec& spec, const ProblemSize& size, const char* architecture,
                                     const std::vector<Configuration>& configurations) {
  const DeviceLimits limits = cuda::limits_of_architecture(architecture);
  std::vector<std::string> expressions = reference_expressions(spec, size, limits);
  for (const Configuration& configuration : configurations)
    for (std::string& expression : launch_expressions(spec, size, limits, configuration))
      if (std::find(expressions.begin(), expressions.end(), expression) == expressions.end())
        expressions.push_back(std::move(expression));
  return compile_request(spec, size, limits, architecture, std::move(expressions), configurations.at(0));
}

inline std::vector<Configuration> all_configurations(const KernelSpec& spec, const ProblemSize& size,
                                                     const char* architecture) {
  const EnumeratedSpace space = enumerate(spec, size, cuda::limits_of_architecture(architecture));
  std::vector<Configuration> all;
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) all.push_back(space.configuration(i));
  return all;
}

}  // namespace tuner::testing
