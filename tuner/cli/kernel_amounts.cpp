#include <tuner/cli/kernel_amounts.hpp>

#include <map>
#include <optional>

#include <tuner/cli/stored_verdict.hpp>
#include <tuner/core/error.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

report::Amounts amounts_of(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  constexpr double second = 1e9;
  const Throughput rate = throughput(spec, size, device, second);
  report::Amounts amounts;
  amounts.arithmetic_ceiling = arithmetic_peak(spec, size, device);
  amounts.bytes = rate.bytes_per_second;
  amounts.flops = rate.flops_per_second;
  amounts.written = rate.written;
  if (spec.default_configuration) amounts.default_configuration = spec.default_configuration->text();
  return amounts;
}

}  // namespace

void add_amounts(std::span<report::Tuning> tunings, const std::vector<std::filesystem::path>& folders,
                 const std::string& file) {
  const KernelLibrary library(folders);
  std::map<std::string, std::optional<KernelSpec>> specs;
  const auto find = [&](const std::string& name) -> const std::optional<KernelSpec>& {
    const auto [at, is_new] = specs.try_emplace(name);
    if (is_new) try {
        at->second = library.find(name);
      } catch (const Error&) {
        // Nobody has to keep the file of a kernel that was tuned once.
      }
    return at->second;
  };
  for (report::Tuning& tuning : tunings) {
    const cache::KernelRecord& kernel = tuning.key.kernel;
    // A stored name is data: it is looked up as a name, never opened as a path.
    if (file.empty() && KernelLibrary::is_path(kernel.name)) continue;
    const std::optional<KernelSpec>& spec = find(file.empty() ? kernel.name : file);
    if (!spec || to_record(*spec, {kernel.objective}).source_hash != kernel.source_hash) continue;
    try {
      const Device device = from_record(tuning.key.device);
      tuning.amounts = amounts_of(*spec, from_record(tuning.key.problem), device);
      tuning.verdict = stored_verdict(*spec, tuning, device);
    } catch (const Error&) {
      // Sizes that this source does not take: a stranger's database.
    }
  }
}

}  // namespace tuner::cli
