#include <tests/support/testing.hpp>

#include "sample.hpp"

#include <cstdlib>
#include <variant>

#include <tuner/backend/fill_value.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner::testing {
namespace {

std::string text(const Configuration::Entry& entry) { return entry.first + '=' + entry.second.text(); }

/// What a configuration uses: its values, and the pairs of its words (each warp step with each finish).
std::vector<std::string> used(const Configuration& configuration) {
  std::vector<std::string> uses;
  for (const Configuration::Entry& entry : configuration.entries()) {
    uses.push_back(text(entry));
    if (!entry.second.is_string()) continue;
    for (const Configuration::Entry& other : configuration.entries()) {
      if (other.second.is_string() && entry.first < other.first) uses.push_back(text(entry) + ' ' + text(other));
    }
  }
  return uses;
}

std::size_t number_of(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

/// What one compile gives.
struct Together {
  CompileRequest request;
  std::vector<Configuration> configurations;
  Image image;
};

/// Adds what \p configuration needs to the compile with the same options, if there is one.
void add(std::vector<Together>& all, const Configuration& configuration, CompileRequest request) {
  auto at = std::find_if(all.begin(), all.end(), [&](const Together& one) {
    return one.request.options == request.options && one.request.macros == request.macros;
  });
  if (at == all.end()) return all.push_back({std::move(request), {configuration}, {}});
  std::vector<std::string>& known = at->request.expressions;
  for (std::string& expression : request.expressions)
    if (std::find(known.begin(), known.end(), expression) == known.end()) known.push_back(std::move(expression));
  at->configurations.push_back(configuration);
}

}  // namespace

MeasureOptions verify_only() {
  MeasureOptions options;
#if defined(TUNER_ASAN)
  options.guard_bytes = 0;
#endif
  options.use = Use::hot;
  options.min_samples = options.max_samples = 1;
  options.max_seconds = 0;
  options.batch_below_ns = 0;
  return options;
}

std::size_t sample_size() { return number_of("TUNER_SAMPLES", 50); }

Picker::Picker(std::uint64_t seed) : state_(seed + (std::uint64_t{number_of("TUNER_SAMPLE_SEED", 0)} << 8)) {}

std::uint64_t Picker::next() { return state_ = fill_value::splitmix64(state_); }

std::vector<Configuration> all_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits) {
  const EnumeratedSpace space = enumerate(spec, size, limits);
  std::vector<Configuration> all;
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) all.push_back(space.configuration(i));
  return all;
}

std::vector<Configuration> Picker::pick(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                        std::size_t count) {
  const EnumeratedSpace space = enumerate(spec, size, limits);
  constexpr int candidates = 12;
  std::vector<Configuration> picked;
  std::set<EnumeratedSpace::Index> seen;
  count = std::min(count, space.size());
  while (picked.size() < count) {
    std::optional<EnumeratedSpace::Index> best;
    double fewest = 0;
    for (int i = 0; i < candidates; ++i) {
      const auto index = static_cast<EnumeratedSpace::Index>(next() % space.size());
      if (seen.count(index) != 0) continue;
      double uses = 0;
      for (const std::string& use : used(space.configuration(index)))
        uses += 1.0 / (1.0 + static_cast<double>(uses_[use]));
      if (!best || uses > fewest) {
        best = index;
        fewest = uses;
      }
    }
    if (!best) continue;
    seen.insert(*best);
    picked.push_back(space.configuration(*best));
    for (const std::string& use : used(picked.back())) ++uses_[use];
  }
  return picked;
}

std::vector<std::string> Picker::never_used(const SearchSpace& space) const {
  std::vector<std::string> never;
  for (const TuningParameter& parameter : space.parameters()) {
    for (const Value& value : parameter.values) {
      const std::string use = parameter.name + '=' + value.text();
      const auto at = uses_.find(use);
      if (at == uses_.end() || at->second == 0) never.push_back(use);
    }
  }
  return never;
}

void expect_right(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                  const std::vector<Configuration>& configurations) {
  const DeviceLimits& limits = backend.device().limits;
  const std::string architecture = backend.architecture();
  std::vector<Together> all{{reference_request(spec, size, limits, architecture), {}, {}}};
  for (const Configuration& configuration : configurations)
    add(all, configuration, compile_request(spec, size, limits, architecture, configuration));
  for (Together& together : all) {
    CompileResult compiled = backend.compiler().compile(together.request);
    if (const auto* error = std::get_if<CompileError>(&compiled))
      FAIL() << spec.name << ' ' << size.text() << ": " << error->message << '\n' << error->log;
    together.image = std::get<Image>(std::move(compiled));
  }

  Runner runner(backend, spec, size, verify_only());
  runner.prepare(&all.front().image);
  // Only what may be named best is compiled once more, to let its threads switch at memory accesses: the first here.
  constexpr double nothing_is_faster = 1e-9;
  bool first = true;
  for (const Together& together : all) {
    for (const Configuration& configuration : together.configurations) {
      const Trial trial =
          runner.evaluate(configuration, together.image, std::exchange(first, false) ? 0 : nothing_is_faster);
      EXPECT_TRUE(trial.verified) << spec.name << ' ' << size.text() << '\n'
                                  << configuration.text() << '\n'
                                  << kind(trial.outcome) << ": " << message(trial.outcome);
    }
  }
}

}  // namespace tuner::testing
