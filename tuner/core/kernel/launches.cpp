#include <tuner/core/kernel/launches.hpp>

#include <cstddef>
#include <string_view>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

LaunchShape shape_of(const LaunchSpec& launch, const Bindings& bindings) {
  LaunchShape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    shape.grid[i] = launch.grid[i].evaluate_integer(bindings);
    shape.block[i] = launch.block[i].evaluate_integer(bindings);
  }
  shape.shared_bytes = launch.shared_bytes.evaluate_integer(bindings);
  shape.cooperative = launch.cooperative && launch.cooperative->evaluate_boolean(bindings);
  shape.dependent = launch.dependent && launch.dependent->evaluate_boolean(bindings);
  if (launch.cluster)
    for (std::size_t i = 0; i < 3; ++i) shape.cluster[i] = (*launch.cluster)[i].evaluate_integer(bindings);
  if (launch.carveout) shape.carveout = launch.carveout->evaluate_integer(bindings);
  return shape;
}

std::string resolved_name(const LaunchSpec& launch, const Bindings& bindings, const Replacements& values) {
  Replacements all = values;
  for (const ComputedText& computed : launch.computed_texts)
    if (!computed.text.starts_with('{')) all[computed.text] = cpp_text(computed.value.evaluate(bindings));
  std::string text;
  std::size_t end = 0;
  const std::string_view whole = launch.instantiate;
  for (const ComputedText& computed : launch.computed_texts) {
    if (!computed.text.starts_with('{')) continue;
    text += substitute_words(whole.substr(end, computed.at - end), all) + cpp_text(computed.value.evaluate(bindings));
    end = computed.at + computed.text.size();
  }
  return text + substitute_words(whole.substr(end), all);
}

std::vector<ResolvedLaunch> resolve(const std::vector<LaunchSpec>& launches, const Bindings& bindings,
                                    const Replacements& values) {
  std::vector<ResolvedLaunch> result;
  for (const LaunchSpec& launch : launches) {
    if (launch.when && !launch.when->evaluate_boolean(bindings)) continue;
    const bool timed = !launch.untimed || !launch.untimed->evaluate_boolean(bindings);
    result.push_back({&launch, resolved_name(launch, bindings, values), shape_of(launch, bindings), timed});
  }
  return result;
}

std::vector<ResolvedLaunch> resolve_launches(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits, const Configuration& configuration) {
  return resolve(spec.launches, bindings(spec, size, limits, configuration), replacements(spec, size, configuration));
}

std::vector<ResolvedLaunch> resolve_prepare(const KernelSpec& spec, const ProblemSize& size,
                                            const DeviceLimits& limits) {
  return resolve(spec.prepare, bindings(spec, size, limits), replacements(spec, size, {}));
}

}  // namespace tuner
