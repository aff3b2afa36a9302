#include <tuner/cli/commands.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/machine_code.hpp>
#include <tuner/cli/occupancy_plot.hpp>
#include <tuner/cli/occupancy_tables.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/measure/single_run.hpp>

namespace tuner::cli {
namespace {

BlockNeed block_need(const LaunchDetail& launch) {
  return {launch.shape.threads_per_block(), launch.resources.registers, launch.shared_bytes()};
}

std::string need_text(const DeviceLimits& limits, const LaunchDetail& launch) {
  const Resources& used = launch.resources;
  const auto& block = launch.shape.block;
  return fmt::format("{}\n", launch.expression) +
         facts(
             {{"block", fmt::format("{} x {} x {} = {} threads", block[0], block[1], block[2],
                                    launch.shape.threads_per_block())},
              {"registers", fmt::format("{} per thread", used.registers)},
              {"spills", fmt::format("{} bytes per thread", used.spill_bytes)},
              {"stack", fmt::format("{} bytes per thread", used.stack_bytes)},
              {"shared memory", fmt::format("{} static, {} dynamic, per block", format_bytes(used.static_shared_bytes),
                                            format_bytes(launch.shape.shared_bytes))}},
             "  ") +
         occupancy_facts(limits, block_need(launch));
}

/// What `--threads`, `--registers` and `--shared` say. Throws UsageError for what no architecture can mean.
BlockNeed read_need(const Given& given) {
  BlockNeed need{parse_count(given.text("threads"), "--threads"), 0, 0};
  const std::int64_t registers = parse_count(given.text("registers"), "--registers");
  need.shared_bytes = parse_count(given.text("shared"), "--shared");
  if (need.threads < 1 || need.threads > 1024)
    throw UsageError(fmt::format("--threads: a block has 1 to 1024 threads, not {}", need.threads));
  if (registers < 1 || registers > 255)
    throw UsageError(fmt::format("--registers: a thread has 1 to 255 registers, not {}", registers));
  constexpr std::int64_t kMostShared = 1 << 20;  // far more than any multiprocessor has
  if (need.shared_bytes < 0 || need.shared_bytes > kMostShared)
    throw UsageError(fmt::format("--shared: a block has 0 to {} of shared memory, not {} bytes",
                                 format_bytes(kMostShared), need.shared_bytes));
  need.registers = static_cast<int>(registers);
  return need;
}

std::string block_text(const BlockNeed& need) {
  return fmt::format("blocks of {} threads, {} registers a thread, {} of shared memory a block", need.threads,
                     need.registers, format_bytes(need.shared_bytes));
}

/// Whether the picture is on standard output, where nothing else may be then.
bool plotted_there(const Given& given, const std::string& architecture, const DeviceLimits& limits,
                   const std::vector<OccupancySubject>& subjects) {
  if (!given.has("plot")) return false;
  const std::string path = given.text("plot");
  if (path == "-") given.refuse({"json"}, "with --plot -");
  require_output_or_stdout(given, path, OutputKind::picture, "--plot");
  return !write_or_print(path, occupancy_plot(limits, "Warps on a multiprocessor of " + architecture, subjects));
}

int calculate(const Given& given, const std::string& architecture, const DeviceLimits& limits) {
  const BlockNeed need = read_need(given);
  if (plotted_there(given, architecture, limits, {{block_text(need), need}})) return kDone;
  Json out = occupancy_json(limits, need);
  out["architecture"] = architecture;
  return answer(given, out,
                fmt::format("{}: {}\n{}\n{}", architecture, block_text(need), occupancy_facts(limits, need),
                            occupancy_tables(limits, need)));
}

int list_architectures(const Given& given) {
  const Table table = architectures_table();
  return answer(
      given, {{"architectures", table.json()}},
      "Of one multiprocessor, and what one block may have of it; all have 32 threads a warp, and at most 1024\n"
      "threads a block and 255 registers a thread.\n\n" +
          table.text(""));
}

int run_occupancy(const Given& given) {
  const std::string architecture = given.has("arch") ? given.only("arch") : "sm_90";
  if (!given.has("plot")) given.refuse({"force"}, "without --plot");
  if (architecture == "list")
    given.refuse({"kernel", "config", "size", "type", "choice", "threads", "registers", "shared", "plot"},
                 "with --arch list");
  if (architecture == "list") return list_architectures(given);
  const bool by_hand = given.has("threads");
  for (const char* const option : {"kernel", "config", "size", "type", "choice"})
    if (by_hand && given.has(option))
      throw UsageError(fmt::format("--threads stands for what a kernel would say: give it without --{}", option));
  if (by_hand) return calculate(given, architecture, cuda::limits_of_architecture(architecture));
  for (const char* const option : {"registers", "shared"})
    if (given.has(option)) throw UsageError(fmt::format("--{} belongs to --threads", option));
  const KernelSpec spec = chosen_kernel(given);
  const Configuration configuration =
      read_configuration(spec, given.text("config"), spec.default_configuration.value_or(Configuration{}));
  Device device;  // stands for any device of that architecture
  device.key.backend = kCudaBackend;
  device.name = architecture;
  device.limits = cuda::limits_of_architecture(device.name);
  const ProblemSize size = select_problem(spec, problem_options(given), device, "occupancy");

  const std::vector<LaunchDetail> needs =
      launch_details(spec, size, device.limits, configuration,
                     machine_code(code_request(spec, size, device.limits, device.name, configuration)));
  std::vector<OccupancySubject> subjects;
  for (const LaunchDetail& need : needs) {
    const BlockNeed block = block_need(need);
    subjects.push_back({fmt::format("{}: {}", need.expression, block_text(block)), block});
  }
  if (plotted_there(given, device.name, device.limits, subjects)) return kDone;
  const cuda::UsualProduct like = cuda::usual_product(device.limits.compute_capability).value();
  std::string text = fmt::format("{}  {}  on {}, with the {} multiprocessors of a {}\n{}\n\n", spec.name, size.text(),
                                 device.name, device.limits.sm_count, like.name, configuration.text());
  Json launches = Json::array();
  for (const LaunchDetail& need : needs) {
    launches.push_back(to_json(need));
    text += fmt::format("{}\n{}\n", need_text(device.limits, need), occupancy_tables(device.limits, block_need(need)));
  }
  return answer(given,
                {{"kernel", spec.name},
                 {"architecture", device.name},
                 {"sm_count", device.limits.sm_count},
                 {"problem", to_json(size)},
                 {"configuration", to_json(configuration)},
                 {"launches", launches}},
                text);
}

}  // namespace

Command occupancy_command() {
  Options options(
      "Usage: tune occupancy KERNEL [options]\n"
      "       tune occupancy --threads N [--registers N] [--shared BYTES] [--arch A]\n"
      "       tune occupancy --arch list\n"
      "Registers, spills, shared memory and occupancy of a configuration, or occupancy\n"
      "of a block that is described by hand, or the limits of all architectures.\n"
      "The first needs NVRTC; none needs a GPU. The default is sm_90.",
      "  tune occupancy reduce --arch sm_90 --config \"threads=256\"\n"
      "  tune occupancy --threads 256 --registers 32 --shared 4k --arch sm_86\n"
      "  tune occupancy --threads 256 --registers 40 --plot occupancy.svg\n"
      "  tune occupancy --arch list\n");
  options.add("size type choice config arch");
  options.text("threads", "256", "without a kernel: threads of a block");
  options.text("registers", "32", "registers of a thread", "32");
  options.text("shared", "4k", "bytes of shared memory of a block, static and dynamic", "0");
  options.add("plot kernel force json").arguments({"kernel"});
  return {options, run_occupancy};
}

}  // namespace tuner::cli
