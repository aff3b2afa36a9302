#include <tuner/cli/kernel_amounts.hpp>

#include <map>
#include <optional>
#include <sstream>

#include <tuner/core/error.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

ProblemSize problem_of(const cache::ProblemRecord& record) {
  ProblemSize size;
  size.sizes = record.sizes;
  std::istringstream words(record.choices);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) size.choices[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return size;
}

/// As far as a database describes it: traffic and arithmetic hardly ever ask for more. It copies a byte a second and
/// reads in no time, so that its ceiling tells how much of the traffic is copied.
Device device_of(const cache::DeviceRecord& record) {
  Device device;
  device.limits.sm_count = record.sm_count;
  device.limits.compute_capability = record.compute_capability;
  device.limits.max_shared_bytes = record.max_shared_bytes;
  device.limits.registers_per_sm = record.registers_per_sm;
  device.copy_ceiling = 1;
  device.read_ceiling = 1e300;
  return device;
}

report::Amounts amounts_of(const KernelSpec& spec, const cache::SessionKey& key) {
  constexpr double second = 1e9;
  const Throughput rate = throughput(spec, problem_of(key.problem), device_of(key.device), second);
  report::Amounts amounts;
  amounts.bytes = rate.bytes_per_second;
  amounts.flops = rate.flops_per_second;
  if (rate.ceiling_fraction && *rate.bytes_per_second > 0)
    amounts.copied = *rate.ceiling_fraction / *rate.bytes_per_second;
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
    const bool is_path = kernel.name.find('/') != std::string::npos || kernel.name.ends_with(".cu");
    if (file.empty() && is_path) continue;
    const std::optional<KernelSpec>& spec = find(file.empty() ? kernel.name : file);
    if (!spec || to_record(*spec, {kernel.objective}).source_hash != kernel.source_hash) continue;
    try {
      tuning.amounts = amounts_of(*spec, tuning.key);
    } catch (const Error&) {
      // Sizes that this source does not take: a stranger's database.
    }
  }
}

}  // namespace tuner::cli
