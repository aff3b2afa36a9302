#include <tuner/core/kernel/reference.hpp>

#include <utility>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

std::string_view reference_name(const KernelSpec& spec) {
  return spec.reference_kind() == ReferenceKind::default_configuration
             ? "the default configuration, which is the reference,"
             : "the reference";
}

std::string weaker_reference(const KernelSpec& spec) {
  const ReferenceKind kind = spec.reference_kind();
  return kind == ReferenceKind::kernel ? std::string() : std::string(text(kind));
}

Configuration reference_configuration(const KernelSpec& spec) {
  return spec.reference_kind() == ReferenceKind::default_configuration ? spec.default_configuration.value()
                                                                       : Configuration{};
}

std::vector<ResolvedLaunch> resolve_reference(const KernelSpec& spec, const ProblemSize& size,
                                              const DeviceLimits& limits) {
  if (spec.reference_kind() == ReferenceKind::default_configuration) {
    const Configuration configuration = reference_configuration(spec);
    KernelSpec alone = spec;  // the space of `spec` may be a part without the default configuration
    std::vector<TuningParameter> parameters = spec.space.parameters();
    for (TuningParameter& parameter : parameters) parameter.values = {*configuration.find(parameter.name)};
    alone.space = SearchSpace(std::move(parameters), spec.space.constraints());
    if (const auto reason = why_invalid(alone, size, limits, configuration))
      throw Error(ErrorCode::invalid_argument, spec.program.file + ": " + std::string(reference_name(spec)) +
                                                   " cannot run for " + size.text() + ": " + *reason);
    return resolve_launches(spec, size, limits, configuration);
  }
  return resolve(spec.verification.reference, bindings(spec, size, limits), replacements(spec, size, {}));
}

}  // namespace tuner
