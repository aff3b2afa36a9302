// `tune occupancy`: the occupancy of a configuration, or of a block that is described by hand.
#include <tuner/cli/commands/program.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/ranges.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/cuda/compile/compiled_cluster.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/machine_code.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/replay/svg.hpp>

namespace tuner::cli {
namespace {

struct BlockNeed {
  std::int64_t threads = 0;
  std::int64_t registers = 0;     ///< a thread
  std::int64_t shared_bytes = 0;  ///< a block, static and dynamic
};

struct PlotRow {
  std::string title;
  BlockNeed need;
};

Occupancy occupancy_of(const DeviceLimits& limits, const BlockNeed& need) {
  return occupancy(limits, need.threads, static_cast<int>(need.registers), need.shared_bytes);
}

std::vector<int> best_sizes(const DeviceLimits& limits, const BlockNeed& need) {
  return best_block_sizes(limits, static_cast<int>(need.registers), need.shared_bytes);
}

/// Amounts of one resource that give the same occupancy with the same limit.
struct Step {
  std::int64_t first = 0, last = 0;
  Occupancy occupancy;
};

/// Occupancy by one resource of a block, up to the most that a block may have. The other resources stay the same.
struct Curve {
  std::string title, key;   ///< for people and for programs
  std::vector<Step> steps;  ///< ascending
  std::int64_t here;        ///< the amount in the need
  std::vector<std::int64_t> ticks;
  std::string (*show)(std::int64_t);
};

std::string number(std::int64_t amount) { return std::to_string(amount); }

/// The steps of \p resource of the block \p need, for the amounts first, first + step, … up to \p last.
std::vector<Step> steps_of(const DeviceLimits& limits, BlockNeed need, std::int64_t BlockNeed::*resource,
                           std::int64_t first, std::int64_t last, std::int64_t step) {
  std::vector<Step> out;
  for (std::int64_t amount = first; amount <= last; amount += step) {
    need.*resource = amount;
    const Occupancy here = occupancy_of(limits, need);
    if (!out.empty() && out.back().occupancy.blocks_per_sm == here.blocks_per_sm &&
        out.back().occupancy.fraction == here.fraction && out.back().occupancy.limiter == here.limiter)
      out.back().last = amount;
    else
      out.push_back({amount, amount, here});
  }
  return out;
}

/// Powers of two apart, at most five.
std::vector<std::int64_t> shared_ticks(std::int64_t largest) {
  std::int64_t step = 1024;
  while (largest / step > 4) step *= 2;
  std::vector<std::int64_t> ticks;
  for (std::int64_t bytes = 0; bytes <= largest; bytes += step) ticks.push_back(bytes);
  return ticks;
}

std::vector<Curve> curves(const DeviceLimits& limits, const BlockNeed& need) {
  constexpr std::int64_t kSharedUnit = 128;  // bytes; every architecture gives it in multiples of this
  const auto by = [&](std::int64_t BlockNeed::*resource, std::int64_t first, std::int64_t last, std::int64_t step) {
    return steps_of(limits, need, resource, first, last, step);
  };
  return {{"threads a block",
           "by_threads",
           by(&BlockNeed::threads, limits.warp_size, limits.max_threads_per_block, limits.warp_size),
           need.threads,
           {128, 256, 512, 768, 1024},
           number},
          {"registers a thread",
           "by_registers",
           by(&BlockNeed::registers, 1, limits.max_registers_per_thread, 1),
           need.registers,
           {32, 64, 96, 128, 168, 255},
           number},
          {"shared memory a block", "by_shared_bytes",
           by(&BlockNeed::shared_bytes, 0, limits.max_shared_bytes, kSharedUnit), need.shared_bytes,
           shared_ticks(limits.max_shared_bytes), format_bytes}};
}

int warps_on(const DeviceLimits& limits) { return limits.max_threads_per_sm / limits.warp_size; }

Table table_of(const DeviceLimits& limits, const Curve& curve) {
  Table table({people(curve.title), data("from"), data("to"), named("blocks", "blocks_per_multiprocessor"),
               people("warps"), "occupancy", named("limited by", "limited_by"), people("")});
  std::int64_t below = -1;
  for (const Step& step : curve.steps) {
    const bool is_here = below < curve.here && curve.here <= step.last;
    const std::string first = curve.show(step.first);
    table.add({Cell::right(step.first == step.last ? first : fmt::format("{} to {}", first, curve.show(step.last))),
               step.first, step.last, step.occupancy.blocks_per_sm,
               Cell::right(fmt::format("{:.0f}", step.occupancy.fraction * warps_on(limits))),
               Cell::percent(step.occupancy.fraction), name(step.occupancy.limiter),
               is_here ? "<- this configuration" : ""});
    below = step.last;
  }
  return table;
}

/// `32`, or `any` for a limit that admits any number.
std::string admitted(int blocks) { return blocks == std::numeric_limits<int>::max() ? "any" : std::to_string(blocks); }

/// Resident blocks, warps and occupancy, and the blocks that each limit alone would admit.
std::string occupancy_facts(const DeviceLimits& limits, const BlockNeed& need) {
  const Occupancy got = occupancy_of(limits, need);
  const std::int64_t warps = (need.threads + limits.warp_size - 1) / limits.warp_size;
  std::string each;
  for (const auto limiter : {OccupancyLimiter::threads, OccupancyLimiter::blocks, OccupancyLimiter::registers,
                             OccupancyLimiter::shared_memory})
    each += fmt::format("{}{} by {}", each.empty() ? "" : ", ",
                        admitted(got.blocks_by[static_cast<std::size_t>(limiter)]), name(limiter));
  Facts lines{{"blocks per multiprocessor", fmt::format("{}: {}", got.blocks_per_sm, each)},
              {"limited by", std::string(name(got.limiter))},
              {"theoretical occupancy", fmt::format("{}, {} of {} warps", format_percent(got.fraction),
                                                    got.blocks_per_sm * warps, warps_on(limits))}};
  if (const std::int64_t idle = warps * limits.warp_size - need.threads; idle > 0)
    lines.emplace_back("idle lanes",
                       fmt::format("{} of {}: a block is not a whole number of warps", idle, warps * limits.warp_size));
  if (const std::vector<int> best = best_sizes(limits, need); !best.empty())
    lines.emplace_back(
        "best block sizes",
        fmt::format("{} threads: {}", fmt::join(best, " "),
                    format_percent(occupancy_of(limits, {best.front(), need.registers, need.shared_bytes}).fraction)));
  return facts(lines, "  ");
}

/// A table for each resource. Block sizes have a line each, other amounts one for all that have the same result.
std::string occupancy_tables(const DeviceLimits& limits, const BlockNeed& need) {
  std::vector<Curve> all = curves(limits, need);
  std::set<std::int64_t> sizes{need.threads};
  for (int threads = limits.warp_size; threads <= limits.max_threads_per_block; threads += threads < 256 ? 32 : 64)
    sizes.insert(threads);
  all[0].steps.clear();
  for (const std::int64_t threads : sizes)
    all[0].steps.push_back({threads, threads, occupancy_of(limits, {threads, need.registers, need.shared_bytes})});
  std::string text;
  for (const Curve& curve : all) text += (text.empty() ? "" : "\n") + table_of(limits, curve).text();
  return text;
}

Table architectures_table() {
  Table table({"architecture", named("threads", "max_threads_per_sm"), people("warps"),
               named("blocks", "max_blocks_per_sm"), named("registers", "registers_per_sm"),
               named("of a block", "registers_per_block"), named("shared memory", "shared_bytes_per_sm"),
               named("of a block", "max_shared_bytes"), named("FP32 lanes", "fp32_lanes_per_sm"),
               named("multiprocessors", "sm_count"), named("of a", "for_example")});
  for (const std::string& name : cuda::known_architectures()) {
    const DeviceLimits limits = cuda::limits_of_architecture(name);
    const auto usual = cuda::usual_product(limits.compute_capability).value();
    table.add({name, limits.max_threads_per_sm, warps_on(limits), limits.max_blocks_per_sm, limits.registers_per_sm,
               limits.registers_per_block, Cell::bytes(limits.shared_bytes_per_sm),
               Cell::bytes(limits.max_shared_bytes), cuda::cores_per_sm(limits.compute_capability), usual.sm_count,
               usual.name});
  }
  return table;
}

constexpr double kPanelWidth = 340, kPanelHeight = 232, kLeft = 48, kRight = 28, kTop = 36, kBottom = 44;
constexpr double kPlotRight = kPanelWidth - kRight, kPlotBottom = kPanelHeight - kBottom;
constexpr double kHeadingHeight = 44, kTitleHeight = 26;
constexpr std::string_view kCurve = "stroke=\"#0072B2\" stroke-width=\"1.6\"";

std::string draw(const Curve& curve, double most_warps, double fraction_here) {
  const auto largest = static_cast<double>(std::max(curve.steps.back().last, curve.here));
  const auto x = [&](std::int64_t amount) {
    return kLeft + static_cast<double>(amount) / largest * (kPlotRight - kLeft);
  };
  const auto y = [](double fraction) { return kPlotBottom - fraction * (kPlotBottom - kTop); };

  std::string out = svg::text(kLeft, 22, "start", "by " + curve.title, svg::kBold);
  for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += svg::line(kLeft, kPlotRight, y(fraction), fraction > 0 ? svg::kGridStroke : svg::kAxisStroke);
    out += svg::text(kLeft - 8, y(fraction) + 4, "end", fmt::format("{:g}", fraction * most_warps));
  }
  for (const std::int64_t amount : curve.ticks)
    out += svg::tick(x(amount), kPlotBottom) + svg::text(x(amount), kPlotBottom + 18, "middle", curve.show(amount));
  // A step begins right after the step before it, as a demand is rounded up.
  std::string points;
  std::int64_t from = 0;
  for (const Step& step : curve.steps) {
    for (const std::int64_t end : {from, step.last})
      points += fmt::format("{:.1f},{:.1f} ", x(end), y(step.occupancy.fraction));
    from = step.last;
  }
  out += svg::polyline(points, kCurve);
  return out + fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"#D55E00\">{}</circle>\n",
                           x(curve.here), y(fraction_here),
                           svg::title(fmt::format("{}: {:g} warps, {}", curve.show(curve.here),
                                                  fraction_here * most_warps, format_percent(fraction_here))));
}

/// For each of \p rows, the resident warps of a multiprocessor by each resource, with a mark at its need.
std::string occupancy_plot(const DeviceLimits& limits, const std::string& heading, const std::vector<PlotRow>& rows) {
  std::string out = svg::text(kLeft, 28, "start", heading, svg::kHeading);
  double top = kHeadingHeight;
  for (const PlotRow& row : rows) {
    std::string panels = svg::text(kLeft, 16, "start", row.title);
    double left = 0;
    for (const Curve& curve : curves(limits, row.need)) {
      panels += svg::group(left, kTitleHeight, draw(curve, warps_on(limits), occupancy_of(limits, row.need).fraction));
      left += kPanelWidth;
    }
    out += svg::group(0, top, panels);
    top += kTitleHeight + kPanelHeight;
  }
  return svg::document(3 * kPanelWidth, top, out);
}

BlockNeed block_need(const LaunchDetail& launch) {
  return {launch.shape.threads_per_block(), launch.resources.registers, launch.shared_bytes()};
}

/// A GPU of this machine that has \p capability; null if there is none that can be used.
std::unique_ptr<Backend> open_gpu(int capability) try {
  const std::vector<int> all = compute_capabilities();
  const auto at = std::ranges::find(all, capability);
  if (at == all.end()) return nullptr;
  return open_backend(tuner::find_device(kCudaBackend, static_cast<int>(at - all.begin()), false));
} catch (const Error&) {
  return nullptr;
}

/// Gives \p launches of \p image the clusters that are compiled into their kernels. Throws Error if one contradicts its
/// launch.
void adopt_clusters(std::vector<LaunchDetail>& launches, const Image& image) {
  for (LaunchDetail& launch : launches) {
    const auto at = find_function(image, launch.expression);
    if (!at) continue;
    if (const auto why = adopt_cluster(launch.shape, cuda::compiled_cluster(image.code, image.functions[*at].symbol)))
      throw Error(launch.expression + ": " + *why);
  }
}

/// How many clusters of \p launch fit.
std::string cluster_text(const LaunchDetail& launch) {
  const auto& cluster = launch.shape.cluster;
  const std::string fit =
      launch.clusters == 0 ? "none of them fits on the device"
      : launch.clusters
          ? fmt::format("the device holds {} at once, with an occupancy of {}", *launch.clusters,
                        format_percent(launch.resources.occupancy))
          : "how many fit is not counted, because only a GPU of this architecture knows it; below are single blocks";
  return fmt::format("{} x {} x {} = {} blocks; {}", cluster[0], cluster[1], cluster[2],
                     launch.shape.blocks_per_cluster(), fit);
}

std::string need_text(const DeviceLimits& limits, const LaunchDetail& launch) {
  const Resources& used = launch.resources;
  const auto& block = launch.shape.block;
  Facts lines{{"block", fmt::format("{} x {} x {} = {} threads", block[0], block[1], block[2],
                                    launch.shape.threads_per_block())},
              {"registers", fmt::format("{} per thread", used.registers)},
              {"spills", fmt::format("{} bytes per thread", used.spill_bytes)},
              {"stack", fmt::format("{} bytes per thread", used.stack_bytes)},
              {"shared memory", fmt::format("{} static, {} dynamic, per block", format_bytes(used.static_shared_bytes),
                                            format_bytes(launch.shape.shared_bytes))}};
  if (launch.shape.blocks_per_cluster() != 1) lines.emplace_back("cluster", cluster_text(launch));
  return launch.expression + '\n' + facts(lines, "  ") + occupancy_facts(limits, block_need(launch));
}

/// `--threads`, `--registers` and `--shared`. Throws UsageError for values that no architecture has.
BlockNeed read_need(const Given& given) {
  const BlockNeed need{parse_count(given.text("threads"), "--threads"),
                       parse_count(given.text("registers"), "--registers"),
                       parse_count(given.text("shared"), "--shared")};
  if (need.threads < 1 || need.threads > 1024)
    throw UsageError("--threads: a block has 1 to 1024 threads, not {}", need.threads);
  if (need.registers < 1 || need.registers > 255)
    throw UsageError("--registers: a thread has 1 to 255 registers, not {}", need.registers);
  constexpr std::int64_t kMostShared = 1 << 20;  // far more than any multiprocessor has
  if (need.shared_bytes > kMostShared)
    throw UsageError("--shared: a block has 0 to {} of shared memory, not {} bytes", format_bytes(kMostShared),
                     need.shared_bytes);
  return need;
}

std::string block_text(const BlockNeed& need) {
  return fmt::format("blocks of {} threads, {} registers a thread, {} of shared memory a block", need.threads,
                     need.registers, format_bytes(need.shared_bytes));
}

/// Whether the picture is on standard output, where nothing else may be then.
bool plotted_there(const Given& given, const std::string& architecture, const DeviceLimits& limits,
                   const std::vector<PlotRow>& rows) {
  if (!given.has("plot")) return false;
  const std::string path = given.text("plot");
  if (path == "-") given.refuse({"json"}, "with --plot -");
  require_output_or_stdout(given, path, OutputKind::picture, "--plot");
  return !write_or_print(path, occupancy_plot(limits, "Warps on a multiprocessor of " + architecture, rows));
}

int calculate(const Given& given, const std::string& architecture, const DeviceLimits& limits) {
  const BlockNeed need = read_need(given);
  if (plotted_there(given, architecture, limits, {{block_text(need), need}})) return kDone;
  const Occupancy got = occupancy_of(limits, need);
  Answer answer;
  answer.data("threads", need.threads)
      .data("registers", need.registers)
      .data("shared_bytes", need.shared_bytes)
      .data("blocks_per_multiprocessor", got.blocks_per_sm)
      .data("occupancy", got.fraction)
      .data("limited_by", name(got.limiter))
      .data("best_block_sizes", best_sizes(limits, need))
      .data("architecture", architecture);
  for (const Curve& curve : curves(limits, need)) answer.data(curve.key, table_of(limits, curve).json());
  return answer
      .text("{}: {}\n{}\n{}", architecture, block_text(need), occupancy_facts(limits, need),
            occupancy_tables(limits, need))
      .print(given);
}

int list_architectures(const Given& given) {
  return Answer()
      .text(
          "Limits of one multiprocessor, and of one block. All have 32 threads a warp, at most 1024 threads a block\n"
          "and 255 registers a thread (63 before sm_35).\n\n")
      .rows("architectures", architectures_table(), "")
      .print(given);
}

int run_occupancy(const Given& given) {
  const std::string architecture = given.has("arch") ? given.only("arch") : "sm_90";
  if (!given.has("plot")) given.refuse({"force"}, "without --plot");
  if (architecture == "list")
    given.refuse({"kernel", "config", "size", "type", "choice", "threads", "registers", "shared", "plot"},
                 "with --arch list");
  if (architecture == "list") return list_architectures(given);
  if (given.has("threads")) {
    for (const char* const option : {"kernel", "config", "size", "type", "choice"})
      if (given.has(option))
        throw UsageError("--threads stands for what a kernel would say: give it without --{}", option);
    return calculate(given, architecture, cuda::limits_of_architecture(architecture));
  }
  for (const char* const option : {"registers", "shared"})
    if (given.has(option)) throw UsageError("--{} belongs to --threads", option);
  const KernelSpec spec = chosen_kernel(given);
  const Configuration configuration =
      read_configuration(spec, given.text("config"), spec.default_configuration.value_or(Configuration{}));
  const Device device = device_of(architecture);
  const ProblemSize size = select_problem(spec, problem_options(given), device, "occupancy");

  const Image image = machine_code(code_request(spec, size, device.limits, device.name, configuration));
  std::vector<LaunchDetail> needs = launch_details(spec, size, device.limits, configuration, image);
  adopt_clusters(needs, image);
  if (std::ranges::any_of(needs, [](const LaunchDetail& one) { return one.shape.blocks_per_cluster() != 1; }))
    if (const std::unique_ptr<Backend> gpu = open_gpu(device.limits.compute_capability))
      count_clusters(needs, image, *gpu);
  std::vector<PlotRow> rows;
  for (const LaunchDetail& need : needs) {
    const BlockNeed block = block_need(need);
    rows.push_back({fmt::format("{}: {}", need.expression, block_text(block)), block});
  }
  if (plotted_there(given, device.name, device.limits, rows)) return kDone;
  const cuda::UsualProduct like = cuda::usual_product(device.limits.compute_capability).value();
  Answer answer;
  answer.text("{}  {}  on {}, with the {} multiprocessors of a {}\n{}\n\n", spec.name, size.text(), device.name,
              device.limits.sm_count, like.name, configuration.text());
  for (const LaunchDetail& need : needs)
    answer.text("{}\n{}\n", need_text(device.limits, need), occupancy_tables(device.limits, block_need(need)));
  return answer.data("kernel", spec.name)
      .data("architecture", device.name)
      .data("sm_count", device.limits.sm_count)
      .data("problem", size)
      .data("configuration", configuration)
      .data("launches", needs)
      .print(given);
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
