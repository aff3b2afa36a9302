#include <tuner/session/wisdom/record_conversion.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <cache/file/disk.hpp>
#include <cache/records/json.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/error.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner {
namespace {

std::string operating_system() {
  utsname system{};
  if (uname(&system) != 0) return "unknown";
  return std::string(system.sysname) + ' ' + system.machine;
}

// The members that a record shares with the type that it stores, in the order of fields() in core.
auto measured(Is<cache::TrialRecord> auto& r) {
  return std::tie(r.samples_ns, r.median_ns, r.low_ns, r.high_ns, r.relative_noise, r.cold, r.throttled, r.converged,
                  r.abandoned, r.clock_mhz, r.metrics, r.message);
}
auto used(Is<cache::ResourceRecord> auto& r) {
  return std::tie(r.registers, r.spill_bytes, r.stack_bytes, r.static_shared_bytes, r.constant_bytes, r.blocks_per_sm,
                  r.occupancy, r.target);
}
/// The best rates that a device has reached, with their names in DeviceRecord::properties and the digits that are
/// stored. The digits are so few that two measurements usually agree.
void visit_ceilings(auto& device, auto&& member) {
  member("copy_bytes_per_s", device.ceilings.copy, 3);
  member("read_bytes_per_s", device.ceilings.read, 3);
  member("write_bytes_per_s", device.ceilings.write, 3);
  member("fp32_flops_per_s", device.peaks.fp32, 2);
  member("fp64_flops_per_s", device.peaks.fp64, 2);
  member("integer_operations_per_s", device.peaks.integer, 2);
  member("latency_ns", device.peaks.latency_ns, 2);
  member("loaded_latency_ns", device.ceilings.loaded_latency_ns, 2);
  member("launch_ns", device.peaks.launch_ns, 2);
  member("block_ns", device.peaks.block_ns, 2);
}

std::string properties_text(const Device& device) {
  std::string text;
  visit_ceilings(device, [&text](const char* name, double rate, int digits) {
    if (rate <= 0) return;
    std::array<char, 64> number{};
    const auto end =
        std::to_chars(number.data(), number.data() + number.size(), rate, std::chars_format::scientific, digits - 1)
            .ptr;
    text += std::string(text.empty() ? "" : ",") + '"' + name + "\":" + std::string(number.data(), end);
  });
  return '{' + text + '}';
}

/// Trial::lane is stored among the metrics of a record.
constexpr const char* kLane = "lane";

constexpr const char* kTimes[] = {"compile", "load", "verify", "measure", "wait"};

/// The SHA-256 of a data file. One that cannot be read has a special hash; no kernel can be measured with it.
std::string hash_of_data(const std::filesystem::path& file) try {
  require_input_file(file, kMaxDataFileBytes, "data file");
  return cache::sha256_file(file);
} catch (const Error&) {
  return "unreadable";
}

/// The SHA-256 of each of \p files as they are now. They may be large: each is read once, until it changes, and several
/// are read side by side. As in cache/records/sha256.cpp, nobody waits for the lock.
std::vector<std::string> hashes_of_data(const std::vector<std::filesystem::path>& files) {
  static auto& mutex = *new std::mutex;  // never destroyed: threads may use it while the process ends
  static auto& known = *new std::map<std::filesystem::path, std::pair<cache::FileStamp, std::string>>;
  std::vector<std::string> hashes(files.size());
  std::vector<cache::FileStamp> stamps;
  for (const std::filesystem::path& file : files) stamps.push_back(cache::real_disk().stamp_of(file));
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock)
    for (std::size_t i = 0; i < files.size(); ++i)
      if (const auto at = known.find(files[i]); at != known.end() && at->second.first == stamps[i])
        hashes[i] = at->second.second;
  std::vector<std::size_t> unread;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (hashes[i].empty()) unread.push_back(i);
  on_all_cores(unread.size(), [&](std::size_t at) { hashes[unread[at]] = hash_of_data(files[unread[at]]); });
  if (const std::unique_lock lock(mutex, std::try_to_lock); lock)
    for (const std::size_t i : unread)
      if (stamps[i].is_settled() && cache::real_disk().stamp_of(files[i]) == stamps[i])
        known.insert_or_assign(files[i], std::pair(stamps[i], hashes[i]));
  return hashes;
}

Outcome outcome_of(const cache::TrialRecord& record) {
  if (const auto kind = outcome_kind(record.kind); kind && *kind != OutcomeKind::ok)
    return failure(*kind, record.message, record.log);
  Measurement measurement;
  fields(measurement) = measured(record);
  return measurement;
}

}  // namespace

cache::DeviceRecord to_record(const Device& device) {
  const DeviceKey& key = device.key;
  return {key.text(),   device.name,         key.backend,          key.compute_capability, key.sm_count,
          key.l2_bytes, key.memory_bus_bits, key.max_shared_bytes, key.registers_per_sm,   properties_text(device)};
}

void take_ceilings(Device& device, const cache::DeviceRecord& record) {
  const auto properties = json_or_discarded(record.properties);
  visit_ceilings(device, [&properties](const char* name, double& rate, int) {
    if (const auto at = properties.find(name); rate == 0 && at != properties.end() && at->is_number())
      rate = std::max(0.0, at->get<double>());
  });
}

Device from_record(const cache::DeviceRecord& record) {
  Device device;
  device.name = record.name;
  device.key = {record.backend,         record.compute_capability, record.sm_count,         record.l2_bytes,
                record.memory_bus_bits, record.max_shared_bytes,   record.registers_per_sm, {}};
  device.limits.sm_count = record.sm_count;
  device.limits.compute_capability = record.compute_capability;
  device.limits.max_shared_bytes = record.max_shared_bytes;
  // Since compute capability 8.0, a multiprocessor has 1 KiB more than a block may take. The host backend acts as 9.0.
  device.limits.shared_bytes_per_sm =
      std::max(device.limits.shared_bytes_per_sm, record.max_shared_bytes + std::int64_t{1024});
  device.limits.registers_per_sm = record.registers_per_sm;
  take_ceilings(device, record);
  return device;
}

std::string counted_text(std::string_view text) {
  constexpr std::string_view kUncounted[] = {
#include <tuner/session/wisdom/uncounted_directives.inc>
  };
  std::string counted(text);
  for (const std::string_view name : kUncounted) {
    const std::string line = "\n#pragma tuner " + std::string(name);
    for (std::size_t at = 0; (at = counted.find(line, at)) != std::string::npos;) {
      std::size_t end = at;
      do end = counted.find('\n', end + 1);
      while (end != std::string::npos && counted[end - 1] == '\\');
      counted.erase(at, end == std::string::npos ? end : end - at);
    }
  }
  return counted;
}

cache::KernelRecord to_record(const KernelSpec& spec, const Objective& objective) {
  const std::vector<std::filesystem::path> data = data_files(spec);
  if (!spec.program.includes && spec.program.sources.empty() && data.empty())
    return {spec.name, cache::sha256_of_text(spec.program.text, &counted_text), objective.name};
  const std::string text = counted_text(spec.program.text);
  std::vector<std::string_view> parts{text};
  for (const SourceFile& file : spec.program.sources) parts.push_back(file.text);
  if (spec.program.includes)
    for (const IncludedFile& file : spec.program.includes->files) parts.push_back(file.text);
  if (spec.program.reference_includes)
    for (const IncludedFile& file : spec.program.reference_includes->files) parts.push_back(file.text);
  const std::vector<std::string> hashes = hashes_of_data(data);
  parts.insert(parts.end(), hashes.begin(), hashes.end());
  return {spec.name, cache::sha256_of_parts(parts), objective.name};
}

cache::ProblemRecord to_record(const ProblemSize& size) { return {size.choices_text(), size.sizes}; }

ProblemSize from_record(const cache::ProblemRecord& record) {
  return {record.sizes, ProblemSize::parse_choices(record.choices)};
}

cache::Context context_of(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                          const Objective& objective) {
  return {to_record(spec, objective),
          to_record(device),
          {device.environment.driver, device.environment.compiler, kVersion, operating_system()},
          to_record(size)};
}

cache::TrialRecord to_record(const Trial& trial) {
  cache::TrialRecord record;
  record.configuration = trial.configuration.text();
  record.kind = kind(trial.outcome);
  record.message = message(trial.outcome);
  if (const auto* failed = std::get_if<CompileError>(&trial.outcome)) record.log = failed->log;
  if (const Measurement* measurement = trial.measurement()) measured(record) = fields(*measurement);
  if (trial.lane > 0) record.metrics[kLane] = trial.lane;
  if (const auto& search = trial.search) {
    const double times[] = {search->median_ns, search->low_ns, search->high_ns};
    for (std::size_t i = 0; i < std::size(times); ++i) record.metrics[cache::kSearchTimes[i]] = times[i];
  }
  record.verified = trial.verified;
  std::apply([&, i = 0](const auto&... seconds) mutable { ((record.times_s[kTimes[i++]] = seconds), ...); },
             fields(trial.times));
  if (trial.resources) used(record.resources.emplace()) = fields(*trial.resources);
  return record;
}

std::optional<Trial> from_record(const cache::TrialRecord& record) try {
  Trial trial;
  trial.configuration = Configuration::parse(record.configuration);
  trial.outcome = outcome_of(record);
  if (auto* const measurement = std::get_if<Measurement>(&trial.outcome)) {
    if (const auto lane = measurement->metrics.extract(kLane); !lane.empty())
      trial.lane = static_cast<int>(lane.mapped());
    SearchTime search;
    double* const times[] = {&search.median_ns, &search.low_ns, &search.high_ns};
    for (std::size_t i = 0; i < std::size(times); ++i)
      if (const auto stored = measurement->metrics.extract(cache::kSearchTimes[i]); !stored.empty())
        *times[i] = stored.mapped();
    if (search.median_ns > 0) trial.search = search;
  }
  trial.verified = record.verified;
  const auto seconds = [&](const char* part) {
    const auto at = record.times_s.find(part);
    return at == record.times_s.end() ? 0 : at->second;
  };
  std::apply([&, i = 0](auto&... each) mutable { ((each = seconds(kTimes[i++])), ...); }, fields(trial.times));
  if (record.resources) fields(trial.resources.emplace()) = used(*record.resources);
  return trial;
} catch (const std::invalid_argument&) {
  return std::nullopt;
}

}  // namespace tuner
