#include <tuner/session/records.hpp>

#include <sys/utsname.h>

#include <cache/sha256.hpp>

#include <tuner/version.hpp>

namespace tuner {
namespace {

std::string operating_system() {
  utsname system{};
  if (uname(&system) != 0) return "unknown";
  return std::string(system.sysname) + ' ' + system.machine;
}

Outcome outcome_of(const cache::TrialRecord& record) {
  if (record.kind == "compile") return CompileError{record.message, record.log};
  if (record.kind == "launch") return LaunchError{record.message};
  if (record.kind == "timeout") return Timeout{record.message};
  if (record.kind == "wrong") return WrongResult{record.message};
  if (record.kind == "invalid") return Invalid{record.message};
  Measurement measured;
  measured.samples_ns = record.samples_ns;
  measured.median_ns = record.median_ns;
  measured.low_ns = record.low_ns;
  measured.high_ns = record.high_ns;
  measured.relative_noise = record.relative_noise;
  measured.cold = record.cold;
  measured.throttled = record.throttled;
  measured.converged = record.converged;
  measured.abandoned = record.abandoned;
  measured.clock_mhz = record.clock_mhz;
  measured.metrics = record.metrics;
  return measured;
}

}  // namespace

cache::DeviceRecord to_record(const Device& device) {
  cache::DeviceRecord record;
  record.key = device.key.text();
  record.name = device.name;
  record.backend = device.key.backend;
  record.compute_capability = device.key.compute_capability;
  record.sm_count = device.key.sm_count;
  record.l2_bytes = device.key.l2_bytes;
  record.memory_bus_bits = device.key.memory_bus_bits;
  record.max_shared_bytes = device.key.max_shared_bytes;
  record.registers_per_sm = device.key.registers_per_sm;
  return record;
}

cache::EnvironmentRecord environment_record(const Device& device) {
  return {device.environment.driver, device.environment.compiler, kVersion, operating_system()};
}

cache::KernelRecord to_record(const KernelSpec& spec, const Objective& objective) {
  if (!spec.includes) return {spec.name, cache::sha256_hex(spec.source), objective.name};
  std::vector<std::string_view> parts{spec.source};
  for (const IncludedFile& file : spec.includes->files) parts.push_back(file.text);
  return {spec.name, cache::sha256_of_parts(parts), objective.name};
}

cache::ProblemRecord to_record(const ProblemSize& size) { return {size.choices_text(), size.sizes}; }

cache::TrialRecord to_record(const Trial& trial) {
  cache::TrialRecord record;
  record.configuration = trial.configuration.text();
  record.kind = kind(trial.outcome);
  record.message = message(trial.outcome);
  if (const auto* failed = std::get_if<CompileError>(&trial.outcome)) record.log = failed->log;
  if (const Measurement* measured = trial.measurement()) {
    record.samples_ns = measured->samples_ns;
    record.median_ns = measured->median_ns;
    record.low_ns = measured->low_ns;
    record.high_ns = measured->high_ns;
    record.relative_noise = measured->relative_noise;
    record.cold = measured->cold;
    record.throttled = measured->throttled;
    record.converged = measured->converged;
    record.abandoned = measured->abandoned;
    record.clock_mhz = measured->clock_mhz;
    record.metrics = measured->metrics;
  }
  record.verified = trial.verified;
  record.times_s = {{"compile", trial.times.compile},
                    {"load", trial.times.load},
                    {"verify", trial.times.verify},
                    {"measure", trial.times.measure},
                    {"wait", trial.times.wait}};
  if (trial.resources) {
    const Resources& used = *trial.resources;
    record.resources =
        cache::ResourceRecord{used.registers,      used.spill_bytes,   used.stack_bytes, used.static_shared_bytes,
                              used.constant_bytes, used.blocks_per_sm, used.occupancy};
  }
  return record;
}

Trial from_record(const cache::TrialRecord& record) {
  Trial trial;
  trial.configuration = Configuration::parse(record.configuration);
  trial.outcome = outcome_of(record);
  trial.verified = record.verified;
  const auto seconds = [&](const char* part) {
    const auto at = record.times_s.find(part);
    return at == record.times_s.end() ? 0 : at->second;
  };
  trial.times = {seconds("compile"), seconds("load"), seconds("verify"), seconds("measure"), seconds("wait")};
  if (record.resources) {
    const cache::ResourceRecord& used = *record.resources;
    trial.resources = Resources{used.registers,      used.spill_bytes,   used.stack_bytes, used.static_shared_bytes,
                                used.constant_bytes, used.blocks_per_sm, used.occupancy};
  }
  return trial;
}

}  // namespace tuner
