#include <tuner/cli/json.hpp>

#include <tuner/cli/terminal.hpp>

namespace tuner::cli {

Json to_json(const Value& value) {
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  return value.string();
}

Json to_json(const Configuration& configuration) {
  Json object = Json::object();
  for (const auto& [name, value] : configuration.entries()) object[name] = to_json(value);
  return object;
}

Json to_json(const ProblemSize& size) {
  Json choices = Json::object(), sizes = Json::object();
  for (const auto& [name, value] : size.choices) choices[name] = value;
  for (const auto& [name, value] : size.sizes) sizes[name] = value;
  return {{"choices", choices}, {"sizes", sizes}, {"text", size.text()}};
}

Json to_json(const Device& device) {
  const DeviceLimits& limits = device.limits;
  Json object{{"name", device.name},
              {"index", device.index},
              {"key", device.key.text()},
              {"backend", device.key.backend},
              {"compute_capability", device.key.compute_capability},
              {"sm_count", device.key.sm_count},
              {"l2_bytes", device.key.l2_bytes},
              {"memory_bus_bits", device.key.memory_bus_bits},
              {"driver", device.environment.driver},
              {"compiler", device.environment.compiler}};
  object["limits"] = {{"warp_size", limits.warp_size},
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
  if (device.ceilings.read > 0) object["read_ceiling_bytes_per_s"] = device.ceilings.read;
  if (device.ceilings.copy > 0) object["copy_ceiling_bytes_per_s"] = device.ceilings.copy;
  if (device.ceilings.write > 0) object["write_ceiling_bytes_per_s"] = device.ceilings.write;
  if (device.ceilings.loaded_latency_ns > 0) object["loaded_latency_ns"] = device.ceilings.loaded_latency_ns;
  if (const DevicePeaks& peaks = device.peaks; peaks.fp32 > 0)
    object["peaks"] = {
        {"fp32_flops_per_s", peaks.fp32}, {"fp64_flops_per_s", peaks.fp64}, {"integer_operations_per_s", peaks.integer},
        {"latency_ns", peaks.latency_ns}, {"launch_ns", peaks.launch_ns},   {"block_ns", peaks.block_ns}};
  return object;
}

Json to_json(const Resources& resources) {
  return {{"registers", resources.registers},
          {"spill_bytes", resources.spill_bytes},
          {"stack_bytes", resources.stack_bytes},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"constant_bytes", resources.constant_bytes},
          {"blocks_per_sm", resources.blocks_per_sm},
          {"occupancy", resources.occupancy}};
}

Json to_json(const LaunchDetail& launch) {
  Json object = to_json(launch.resources);
  if (launch.occupancy) object["limited_by"] = name(launch.occupancy->limiter);
  object["expression"] = launch.expression;
  object["block"] = launch.shape.block;
  object["grid"] = launch.shape.grid;
  object["dynamic_shared_bytes"] = launch.shape.shared_bytes;
  object["cooperative"] = launch.shape.cooperative;
  object["timed"] = launch.timed;
  return object;
}

Json to_json(const Trial& trial) {
  Json object{{"configuration", to_json(trial.configuration)},
              {"configuration_text", trial.configuration.text()},
              {"outcome", kind(trial.outcome)}};
  if (const Measurement* const measured = trial.measurement()) {
    object["median_ns"] = measured->median_ns;
    object["low_ns"] = measured->low_ns;
    object["high_ns"] = measured->high_ns;
    object["relative_noise"] = measured->relative_noise;
    object["samples_ns"] = measured->samples_ns;
    object["cold"] = measured->cold;
    object["throttled"] = measured->throttled;
    object["converged"] = measured->converged;
    object["abandoned"] = measured->abandoned;
    object["clock_mhz"] = measured->clock_mhz;
    if (!measured->metrics.empty()) object["metrics"] = measured->metrics;
    if (!measured->no_metrics.empty()) object["why_no_metrics"] = measured->no_metrics;
  } else {
    object["message"] = message(trial.outcome);
  }
  if (const auto* const failed = std::get_if<CompileError>(&trial.outcome)) object["log"] = failed->log;
  object["verified"] = trial.verified;
  if (trial.lane > 0) object["lane"] = trial.lane;
  if (trial.resources) object["resources"] = to_json(*trial.resources);
  object["times_s"] = {{"compile", trial.times.compile},
                       {"load", trial.times.load},
                       {"verify", trial.times.verify},
                       {"measure", trial.times.measure},
                       {"wait", trial.times.wait}};
  return object;
}

Json to_json(const Verdict& verdict) {
  return {{"limit", name(verdict.limit)}, {"reason", verdict.reason},   {"counted", verdict.counted},
          {"busiest", verdict.busiest},   {"numbers", verdict.numbers}, {"remarks", verdict.remarks}};
}

void add_reference(Json& object, const std::string& reference) {
  if (!reference.empty()) object["reference"] = reference;
}

std::string json_text(const Json& document, int indent) { return text_of_json(document, indent, true) + '\n'; }

void print_json(const Json& document) { print(json_text(document, 2)); }

}  // namespace tuner::cli
