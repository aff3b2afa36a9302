#include <tuner/cli/table.hpp>

namespace tuner {

void to_json(Json& json, const Value& value) {
  if (value.is_boolean())
    json = value.boolean();
  else if (value.is_integer())
    json = value.integer();
  else
    json = value.string();
}

void to_json(Json& json, const Configuration& configuration) {
  json = Json::object();
  for (const auto& [name, value] : configuration.entries()) json[name] = value;
}

void to_json(Json& json, const ProblemSize& size) {
  json = {{"choices", size.choices}, {"sizes", size.sizes}, {"text", size.text()}};
}

void to_json(Json& json, const Device& device) {
  const DeviceLimits& limits = device.limits;
  json = {{"name", device.name},
          {"index", device.index},
          {"key", device.key.text()},
          {"backend", device.key.backend},
          {"compute_capability", device.key.compute_capability},
          {"sm_count", device.key.sm_count},
          {"l2_bytes", device.key.l2_bytes},
          {"memory_bus_bits", device.key.memory_bus_bits},
          {"driver", device.environment.driver},
          {"compiler", device.environment.compiler}};
  json["limits"] = {{"warp_size", limits.warp_size},
                    {"max_threads_per_block", limits.max_threads_per_block},
                    {"max_block", limits.max_block},
                    {"max_grid", limits.max_grid},
                    {"shared_bytes_per_block", limits.shared_bytes_per_block},
                    {"max_shared_bytes", limits.max_shared_bytes},
                    {"shared_bytes_per_sm", limits.shared_bytes_per_sm},
                    {"registers_per_block", limits.registers_per_block},
                    {"registers_per_sm", limits.registers_per_sm},
                    {"max_registers_per_thread", limits.max_registers_per_thread},
                    {"max_threads_per_sm", limits.max_threads_per_sm},
                    {"max_blocks_per_sm", limits.max_blocks_per_sm}};
  if (device.ceilings.read > 0) json["read_ceiling_bytes_per_s"] = device.ceilings.read;
  if (device.ceilings.copy > 0) json["copy_ceiling_bytes_per_s"] = device.ceilings.copy;
  if (device.ceilings.write > 0) json["write_ceiling_bytes_per_s"] = device.ceilings.write;
  if (device.ceilings.loaded_latency_ns > 0) json["loaded_latency_ns"] = device.ceilings.loaded_latency_ns;
  if (const DevicePeaks& peaks = device.peaks; peaks.fp32 > 0)
    json["peaks"] = {
        {"fp32_flops_per_s", peaks.fp32}, {"fp64_flops_per_s", peaks.fp64}, {"integer_operations_per_s", peaks.integer},
        {"latency_ns", peaks.latency_ns}, {"launch_ns", peaks.launch_ns},   {"block_ns", peaks.block_ns}};
}

void to_json(Json& json, const Resources& resources) {
  json = {{"registers", resources.registers},
          {"spill_bytes", resources.spill_bytes},
          {"stack_bytes", resources.stack_bytes},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"constant_bytes", resources.constant_bytes},
          {"blocks_per_sm", resources.blocks_per_sm},
          {"occupancy", resources.occupancy}};
}

void to_json(Json& json, const LaunchDetail& launch) {
  json = launch.resources;
  if (launch.occupancy) json["limited_by"] = name(launch.occupancy->limiter);
  json["expression"] = launch.expression;
  json["block"] = launch.shape.block;
  json["grid"] = launch.shape.grid;
  json["dynamic_shared_bytes"] = launch.shape.shared_bytes;
  json["cooperative"] = launch.shape.cooperative;
  json["timed"] = launch.timed;
}

void to_json(Json& json, const Trial& trial) {
  json = {{"configuration", trial.configuration},
          {"configuration_text", trial.configuration.text()},
          {"outcome", kind(trial.outcome)}};
  if (const Measurement* const measured = trial.measurement()) {
    json["median_ns"] = measured->median_ns;
    json["low_ns"] = measured->low_ns;
    json["high_ns"] = measured->high_ns;
    json["relative_noise"] = measured->relative_noise;
    json["samples_ns"] = measured->samples_ns;
    json["cold"] = measured->cold;
    json["throttled"] = measured->throttled;
    json["converged"] = measured->converged;
    json["abandoned"] = measured->abandoned;
    json["clock_mhz"] = measured->clock_mhz;
    if (!measured->metrics.empty()) json["metrics"] = measured->metrics;
    if (!measured->no_metrics.empty()) json["why_no_metrics"] = measured->no_metrics;
  } else {
    json["message"] = message(trial.outcome);
  }
  if (const auto* const failed = std::get_if<CompileError>(&trial.outcome)) json["log"] = failed->log;
  json["verified"] = trial.verified;
  if (trial.lane > 0) json["lane"] = trial.lane;
  if (trial.resources) json["resources"] = *trial.resources;
  json["times_s"] = {{"compile", trial.times.compile},
                     {"load", trial.times.load},
                     {"verify", trial.times.verify},
                     {"measure", trial.times.measure},
                     {"wait", trial.times.wait}};
}

void to_json(Json& json, const Verdict& verdict) {
  json = {{"limit", name(verdict.limit)}, {"reason", verdict.reason},   {"counted", verdict.counted},
          {"busiest", verdict.busiest},   {"numbers", verdict.numbers}, {"remarks", verdict.remarks}};
}

}  // namespace tuner

namespace tuner::cli {

std::string json_text(const Json& document, int indent) { return text_of_json(document, indent, true) + '\n'; }

void print_json(const Json& document) { print(json_text(document, 2)); }

}  // namespace tuner::cli
