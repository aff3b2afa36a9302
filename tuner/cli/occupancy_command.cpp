#include <tuner/cli/occupancy_command.hpp>

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/machine_code.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/occupancy.hpp>
#include <tuner/measure/single_run.hpp>

namespace tuner::cli {
namespace {

po::options_description occupancy_options() {
  po::options_description options("Options", 110);
  add_kernel_options(options);
  auto add = options.add_options();
  add("config,c", po::value<std::string>()->value_name("\"block_x=32 vector=4\""),
      "the configuration; parameters that are not named keep their default");
  add("arch", po::value<std::string>()->default_value("sm_90")->value_name("sm_90"), "the architecture");
  add("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  return options;
}

/// Occupancy by block size with the same registers and shared memory, as the occupancy calculator draws it.
std::string block_size_table(const DeviceLimits& limits, const LaunchDetail& need) {
  using enum Table::Align;
  Table table(
      {{"threads per block", right}, {"blocks", right}, {"warps", right}, {"occupancy", right}, {"limited by"}, {""}});
  for (int threads = limits.warp_size; threads <= limits.max_threads_per_block; threads += threads < 256 ? 32 : 64) {
    const Occupancy at = occupancy(limits, threads, need.resources.registers, need.shared_bytes());
    const int warps = at.blocks_per_sm * ((threads + limits.warp_size - 1) / limits.warp_size);
    table.add({std::to_string(threads), std::to_string(at.blocks_per_sm), std::to_string(warps),
               format_percent(at.fraction), std::string(name(at.limiter)),
               threads == need.shape.threads_per_block() ? "<- this configuration" : ""});
  }
  return table.text();
}

std::string need_text(const DeviceLimits& limits, const LaunchDetail& need) {
  const Resources& used = need.resources;
  const Occupancy at = occupancy(limits, need.shape.threads_per_block(), used.registers, need.shared_bytes());
  const auto& block = need.shape.block;
  return fmt::format("{}\n", need.expression) +
         facts(
             {{"block",
               fmt::format("{} x {} x {} = {} threads", block[0], block[1], block[2], need.shape.threads_per_block())},
              {"registers", fmt::format("{} per thread", used.registers)},
              {"spills", fmt::format("{} bytes per thread", used.spill_bytes)},
              {"stack", fmt::format("{} bytes per thread", used.stack_bytes)},
              {"shared memory", fmt::format("{} static, {} dynamic, per block", format_bytes(used.static_shared_bytes),
                                            format_bytes(need.shape.shared_bytes))},
              {"blocks per multiprocessor", std::to_string(at.blocks_per_sm)},
              {"limited by", std::string(name(at.limiter))},
              {"theoretical occupancy", format_percent(at.fraction)}},
             "  ");
}

}  // namespace

int occupancy_command(int argc, char** argv) {
  const po::options_description options = occupancy_options();
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help(
        "Usage: tune occupancy --kernel NAME [options]\n"
        "Registers, spills, shared memory and occupancy of a configuration. Needs NVRTC, but no GPU.",
        options, "  tune occupancy --kernel reduce --arch sm_90 --config \"threads=256\"\n");

  const KernelSpec spec = chosen_kernel(given);
  const Configuration configuration =
      read_configuration(spec, text_of(given, "config"), spec.default_configuration.value_or(Configuration{}));
  Device device;  // stands for any device of that architecture
  device.key.backend = kCudaBackend;
  device.name = text_of(given, "arch");
  device.limits = cuda::limits_of_architecture(device.name);
  const std::vector<ProblemSize> problems = select_problems(spec, problem_options(given), device).list;
  if (problems.size() > 1) throw UsageError("occupancy looks at one problem: give one --size, --type and --choice");
  const ProblemSize& size = problems.front();

  const std::vector<LaunchDetail> needs = launch_details(
      spec, size, device.limits, configuration, machine_code(spec, size, device.limits, device.name, configuration));
  if (given["json"].as<bool>()) {
    Json launches = Json::array();
    for (const LaunchDetail& need : needs) launches.push_back(to_json(need));
    print_json({{"kernel", spec.name},
                {"architecture", device.name},
                {"sm_count", device.limits.sm_count},
                {"problem", to_json(size)},
                {"configuration", to_json(configuration)},
                {"launches", launches}});
    return kDone;
  }
  const cuda::UsualProduct like = cuda::usual_product(device.limits.compute_capability).value();
  print(fmt::format("{}  {}  on {}, with the {} multiprocessors of a {}\n{}\n\n", spec.name, size.text(), device.name,
                    device.limits.sm_count, like.name, configuration.text()));
  for (const LaunchDetail& need : needs)
    print(fmt::format("{}\n{}\n", need_text(device.limits, need), block_size_table(device.limits, need)));
  return kDone;
}

}  // namespace tuner::cli
