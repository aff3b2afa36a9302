#include <tuner/cli/occupancy_command.hpp>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>
#include <tuner/cli/format.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/occupancy.hpp>
#include <tuner/measure/expressions.hpp>

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

/// The default with what \p text names replaced. Throws UsageError for a name the kernel does not have.
Configuration read_configuration(const KernelSpec& spec, const std::string& text) {
  Configuration configuration = spec.default_configuration.value_or(Configuration{});
  std::vector<std::string> known;
  for (const TuningParameter& one : spec.space.parameters()) known.push_back(one.name);
  try {
    const Configuration given = Configuration::parse(text);
    for (const auto& [name, value] : given.entries()) {
      if (!spec.space.find(name)) throw UsageError(unknown_name("parameter", name, known));
      configuration.set(name, value);
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--config: {}", error.what()));
  }
  std::string missing;
  for (const std::string& name : known)
    if (configuration.find(name) == nullptr) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty())
    throw UsageError(fmt::format("--config: kernel {} has no default, so each parameter needs a value; missing: {}",
                                 spec.name, missing));
  return configuration;
}

/// One launch of the kernel and what it needs.
struct Need {
  std::string expression;
  LaunchShape shape;
  Resources resources;
  std::int64_t shared_bytes() const { return resources.static_shared_bytes + shape.shared_bytes; }
};

std::vector<Need> compile(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                          const std::string& arch, const Configuration& configuration) {
  if (const auto reason = why_invalid(spec, size, limits, configuration))
    throw Error(fmt::format("{} cannot run on {}: {}", configuration.text(), arch, *reason));
  std::vector<Need> needs;
  std::vector<std::string> expressions;
  for (const ResolvedLaunch& launch : resolve_launches(spec, size, limits, configuration)) {
    needs.push_back({launch.expression, launch.shape, {}});
    if (std::find(expressions.begin(), expressions.end(), launch.expression) == expressions.end())
      expressions.push_back(launch.expression);
  }
  const cuda::Nvrtc& nvrtc = cuda::nvrtc();
  if (const auto& known = nvrtc.architectures;
      std::find(known.begin(), known.end(), limits.compute_capability) == known.end())
    throw Error(
        fmt::format("{} does not compile for {}; set TUNER_NVRTC to one that does", nvrtc.library.string(), arch));
  const auto compiler = cuda::make_nvrtc_compiler(nvrtc);
  const CompileResult result = compiler->compile(compile_request(spec, size, arch, expressions));
  if (const auto* const failed = std::get_if<CompileError>(&result))
    throw Error(fmt::format("{}\n{}", failed->message, failed->log));
  const Image& image = std::get<Image>(result);
  for (Need& need : needs)
    if (const auto at = find_function(image, need.expression)) need.resources = image.functions[*at].resources;
  return needs;
}

/// Occupancy by block size with the same registers and shared memory, as the occupancy calculator draws it.
std::string block_size_table(const DeviceLimits& limits, const Need& need) {
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

std::string need_text(const DeviceLimits& limits, const Need& need) {
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

Json need_json(const DeviceLimits& limits, const Need& need) {
  const Occupancy at = occupancy(limits, need.shape.threads_per_block(), need.resources.registers, need.shared_bytes());
  Json object = to_json(need.resources);
  object["blocks_per_sm"] = at.blocks_per_sm;
  object["occupancy"] = at.fraction;
  object["limited_by"] = name(at.limiter);
  object["expression"] = need.expression;
  object["block"] = need.shape.block;
  object["grid"] = need.shape.grid;
  object["dynamic_shared_bytes"] = need.shape.shared_bytes;
  return object;
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
  const Configuration configuration = read_configuration(spec, text_of(given, "config"));
  Device device;  // stands for any device of that architecture
  device.key.backend = "cuda";
  device.name = text_of(given, "arch");
  device.limits = cuda::limits_of_architecture(device.name);
  const std::vector<ProblemSize> problems = select_problems(spec, problem_options(given), device).list;
  if (problems.size() > 1) throw UsageError("occupancy looks at one problem: give one --size, --type and --choice");
  const ProblemSize& size = problems.front();

  const std::vector<Need> needs = compile(spec, size, device.limits, device.name, configuration);
  if (given["json"].as<bool>()) {
    Json launches = Json::array();
    for (const Need& need : needs) launches.push_back(need_json(device.limits, need));
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
  for (const Need& need : needs)
    print(fmt::format("{}\n{}\n", need_text(device.limits, need), block_size_table(device.limits, need)));
  return kDone;
}

}  // namespace tuner::cli
