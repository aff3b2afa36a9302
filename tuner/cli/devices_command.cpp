#include <tuner/cli/commands.hpp>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/session/backends.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/device_report.hpp>
#endif

namespace tuner::cli {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts gpu_facts(const Device& device) {
#ifdef TUNER_HAS_CUDA
  return cuda::device_report(device.index);
#else
  return {{"name", device.name}};  // not reached: without the CUDA headers no GPU is listed
#endif
}

Facts host_facts(const Device& device) {
  return {{"CPU", device.key.cpu},
          {"cores", std::to_string(device.key.sm_count)},
          {"last-level cache", format_bytes(device.key.l2_bytes)},
          {"system", device.environment.driver},
          {"compiler", device.environment.compiler}};
}

void add_ceilings(const Device& device, Facts& facts) {
  if (device.ceilings.read > 0) facts.emplace_back("reads measured", format_rate(device.ceilings.read));
  if (device.ceilings.write > 0) facts.emplace_back("writes measured", format_rate(device.ceilings.write));
  if (device.ceilings.copy > 0)
    facts.emplace_back("copies measured", format_rate(device.ceilings.copy) + " (read plus written)");
}

int run_devices(const Given& given) {
  if (given.flag("metrics")) {
    given.refuse({"measure"}, "with --metrics");
    return list_metrics(given);
  }
  given.refuse({"device", "chip", "all"}, "without --metrics");
  const std::string no_gpu = why_no_gpu();
  Json all = Json::array();
  std::string text;
  for (Device& device : list_devices()) {
    if (given.flag("measure")) measure_ceilings(device);
    const bool is_gpu = traits(device.key).is_gpu;
    text += fmt::format("{}  {}\n", is_gpu ? std::to_string(device.index) : device.key.backend, device.name);
    auto about = is_gpu ? gpu_facts(device) : host_facts(device);
    add_ceilings(device, about);
    about.emplace_back("key", device.key.text());
    text += facts(about, "  ") + '\n';
    all.push_back(to_json(device));
  }
  if (!no_gpu.empty()) text += fmt::format("No GPU: {}\n", no_gpu);
  return answer(given, {{"devices", all}, {"why_no_gpu", no_gpu}}, text.c_str());
}

}  // namespace

Command devices_command() {
  Options options(
      "Usage: tune devices [--measure] [--json]\n"
      "       tune devices --metrics [options]\n"
      "The devices that can run kernels here, with their limits, or the metrics that a\n"
      "GPU counts: the text-books' names with today's, and with --all the chip's own,\n"
      "some thousands. A pass is one more run of the kernel. Metrics need CUPTI (the\n"
      "CUDA toolkit). --chip needs no GPU.",
      "  tune devices --metrics --chip GH100\n"
      "  tune devices --metrics --chip GA102 --all | grep dram\n"
      "  tune devices --metrics --chip GH100 --json\n");
  options.flag("measure", "also measure what each device streams (takes a moment)");
  options.flag("metrics", "hardware counters and energy, with their sets");
  options.text("chip", "GH100", "a chip by its name");
  options.add("device all json");
  return {options, run_devices};
}

}  // namespace tuner::cli
