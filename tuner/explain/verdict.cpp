#include <tuner/explain/verdict.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tuner/core/values/format.hpp>
#include <tuner/measure/numbers/throughput.hpp>

namespace tuner {
namespace {

/// A resource limits the kernel from this share of its ceiling on; below it, waiting does.
constexpr double kBusy = 0.6;
/// Device memory limits the kernel if it is nearly as busy as L2, by this factor.
constexpr double kAsBusy = 0.85;
/// If a kernel takes less time than this many empty kernels, launching takes most of it.
constexpr double kMostlyLaunch = 1.6;
/// Guidelines of the textbooks.
constexpr std::int64_t kFewThreads = 128;
constexpr double kManyBlocks = 4;  ///< blocks for each multiprocessor
/// A rate is that which the bytes in flight allow if it reaches this share of it.
constexpr double kNearAllowed = 0.6;

/// Clocks until the result of an addition, multiplication or multiply-add can be used. CUDA C++ Programming Guide,
/// "Multiprocessor Level", for Volta and later; Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
/// Microbenchmarking" (2018), for Maxwell and Pascal.
int arithmetic_clocks(const DeviceLimits& limits) { return limits.compute_capability >= 70 ? 4 : 6; }

std::string percent(double share) { return format_percent(share, 0); }
std::string amount(double bytes) { return format_bytes(std::llround(bytes)); }

std::optional<double> counted_share(const VerdictInput& input, std::initializer_list<const char*> names) {
  std::optional<double> most;
  for (const char* one : names)
    if (const auto at = input.metrics.find(one); at != input.metrics.end())
      most = std::max(most.value_or(0), at->second / 100);
  return most;
}

/// How much of a resource the kernel uses.
struct LimitUse {
  Limit limit = Limit::unknown;
  double share = 0;
  std::string reason;
  bool counted = false;
};

std::optional<LimitUse> memory_use(const VerdictInput& input) {
  if (const auto share = counted_share(input, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}))
    return LimitUse{Limit::dram, *share, fmt::format("device memory is {} busy by its counters", percent(*share)),
                    true};
  if (!input.bytes || input.memory_rate <= 0) return std::nullopt;
  const double moved = *input.bytes / input.ns * 1e9;
  const double share = moved / input.memory_rate;
  // Data that fits into L2 and was not flushed may come from there instead of memory.
  const bool cached = !input.cold && *input.bytes < 0.8 * static_cast<double>(input.device.key.l2_bytes);
  const Limit limit = cached || share > 1.05 ? Limit::l2 : Limit::dram;
  return LimitUse{limit, share,
                  fmt::format("it moves {}, {} of the {} that this device streams in that mix{}", format_rate(moved),
                              percent(share), format_rate(input.memory_rate),
                              limit == Limit::l2 ? ": more than memory gives, so the L2 cache serves it" : "")};
}

std::vector<LimitUse> uses(const VerdictInput& input) {
  std::vector<LimitUse> all;
  if (auto memory = memory_use(input)) all.push_back(std::move(*memory));
  if (const auto share = counted_share(input, {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                                               "lts__throughput.avg.pct_of_peak_sustained_elapsed"}))
    all.push_back({Limit::l2, *share, fmt::format("the L2 cache is {} busy by its counters", percent(*share)), true});
  if (const auto share =
          counted_share(input, {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"}))
    all.push_back(
        {Limit::shared_memory, *share, fmt::format("shared memory is {} busy by its counters", percent(*share)), true});
  if (const auto share = counted_share(input, {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
                                               "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
                                               "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
                                               "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"})) {
    all.push_back(
        {Limit::arithmetic, *share, fmt::format("the busiest arithmetic pipe is {} busy", percent(*share)), true});
  } else if (input.flops && input.arithmetic_rate > 0) {
    const double done = *input.flops / input.ns * 1e9, part = done / input.arithmetic_rate;
    all.push_back({Limit::arithmetic, part,
                   fmt::format("it computes {}, {} of the {} that this device reached", format_flops(done),
                               percent(part), format_flops(input.arithmetic_rate))});
  }
  // A busy pipe also explains many issued instructions.
  const bool pipe_is_busy = std::any_of(
      all.begin(), all.end(), [](const LimitUse& use) { return use.limit == Limit::arithmetic && use.share >= kBusy; });
  if (const auto share = counted_share(input, {"sm__inst_issued.avg.pct_of_peak_sustained_active"});
      share && !pipe_is_busy)
    all.push_back({Limit::issue, *share,
                   fmt::format("instructions are issued in {} of the cycles in which one could be", percent(*share)),
                   true});
  return all;
}

/// How much of the time starting blocks takes.
std::optional<LimitUse> start_of_blocks(const VerdictInput& input) {
  if (input.device.peaks.block_ns <= 0) return std::nullopt;
  std::int64_t blocks = 0;
  for (const LaunchDetail& launch : input.launches) blocks += launch.shape.blocks();
  const double ns = static_cast<double>(blocks) * input.device.peaks.block_ns;
  return LimitUse{
      Limit::launch, ns / input.ns,
      fmt::format("starting its {} blocks takes about {} of its {}", blocks, format_ns(ns), format_ns(input.ns))};
}

/// How many threads of one launch the whole device holds at a time.
double resident_threads(const LaunchDetail& launch, const DeviceLimits& limits) {
  const double blocks = static_cast<double>(launch.shape.blocks());
  const double fit = launch.occupancy ? launch.occupancy->blocks_per_sm
                                      : std::max<double>(1, static_cast<double>(limits.max_threads_per_sm) /
                                                                static_cast<double>(launch.shape.threads_per_block()));
  return std::min(blocks, fit * limits.sm_count) * static_cast<double>(launch.shape.threads_per_block());
}

const LaunchDetail* largest(const VerdictInput& input) {
  const auto threads = [](const LaunchDetail& one) { return one.shape.blocks() * one.shape.threads_per_block(); };
  const auto at =
      std::max_element(input.launches.begin(), input.launches.end(),
                       [&](const LaunchDetail& a, const LaunchDetail& b) { return threads(a) < threads(b); });
  return at == input.launches.end() ? nullptr : &*at;
}

bool on_host(const VerdictInput& input) { return input.limits().compute_capability == 0; }
std::string_view processors(const VerdictInput& input) { return on_host(input) ? "cores" : "multiprocessors"; }

/// Little's law for device memory.
struct InFlight {
  double latency_ns = 0;
  double needed = 0;     ///< bytes, for the rate that the device reaches
  double of_thread = 0;  ///< bytes that one thread has in flight; without a declaration all that it moves
  double had = 0;        ///< bytes that the resident threads have in flight
  bool is_declared = false;

  /// The share of the device's rate that `had` allows.
  double allowed() const { return std::min(1.0, had / needed); }
};

std::optional<InFlight> in_flight(const VerdictInput& input, const LaunchDetail& launch) {
  InFlight result;
  result.latency_ns = input.device.ceilings.loaded_latency_ns > 0 ? input.device.ceilings.loaded_latency_ns
                                                                  : input.device.peaks.latency_ns;
  if (!input.bytes || *input.bytes <= 0 || input.memory_rate <= 0 || result.latency_ns <= 0) return std::nullopt;
  const double threads =
      static_cast<double>(launch.shape.blocks()) * static_cast<double>(launch.shape.threads_per_block());
  result.needed = bytes_in_flight(input.memory_rate, result.latency_ns);
  result.of_thread = std::min(input.thread_bytes.value_or(*input.bytes), *input.bytes / threads);
  result.had = result.of_thread * resident_threads(launch, input.limits());
  result.is_declared = input.thread_bytes.has_value();
  return result.of_thread > 0 ? std::optional(result) : std::nullopt;
}

void add_bytes_in_flight(const VerdictInput& input, const LaunchDetail& launch, Verdict& verdict) {
  const auto bytes = in_flight(input, launch);
  if (!bytes) return;
  std::string text = fmt::format("bytes in flight: {} are needed to keep {} going, as a load then takes {:.0f} ns",
                                 amount(bytes->needed), format_rate(input.memory_rate), bytes->latency_ns);
  if (input.device.ceilings.loaded_latency_ns > 0 && input.device.peaks.latency_ns > 0)
    text += fmt::format(" ({:.0f} ns if memory is idle)", input.device.peaks.latency_ns);
  text += fmt::format("; resident threads have {}{}", bytes->is_declared ? "" : "at most ", amount(bytes->had));
  verdict.numbers.push_back(std::move(text));
  if (on_host(input)) return;
  const double threads = bytes->needed / bytes->of_thread, warps = std::ceil(threads / input.limits().warp_size);
  verdict.numbers.push_back(fmt::format(
      "threads: {:.0f} with {}{} each have them in flight: {:.0f} warps, {:.3g} a multiprocessor, which holds {}",
      std::ceil(threads), bytes->is_declared ? "" : "at most ", amount(bytes->of_thread), warps,
      warps / input.limits().sm_count, input.limits().max_threads_per_sm / input.limits().warp_size));
}

void add_warps_for_arithmetic(const VerdictInput& input, const LaunchDetail& launch, Verdict& verdict) {
  const double warps = warps_for_arithmetic(input.limits());
  if (warps <= 0 || !input.flops) return;
  verdict.numbers.push_back(fmt::format(
      "arithmetic: {:.0f} warps keep a multiprocessor's {} lanes busy, if every result takes {} clocks and is needed "
      "next; {:.3g} are there",
      warps, input.limits().fp32_lanes_per_sm, arithmetic_clocks(input.limits()),
      resident_threads(launch, input.limits()) / input.limits().warp_size / input.limits().sm_count));
}

void add_numbers(const VerdictInput& input, const LaunchDetail& launch, Verdict& verdict) {
  add_bytes_in_flight(input, launch, verdict);
  add_warps_for_arithmetic(input, launch, verdict);
  if (launch.occupancy && launch.occupancy->blocks_per_sm > 0) {
    const Waves of = waves(launch.shape.blocks(), launch.occupancy->blocks_per_sm, input.limits().sm_count);
    verdict.numbers.push_back(
        fmt::format("waves: {} blocks in {:.2f} waves of {}, the last {} idle", launch.shape.blocks(), of.count,
                    launch.occupancy->blocks_per_sm * input.limits().sm_count, percent(of.idle_last)));
  }
  if (input.device.peaks.launch_ns > 0)
    verdict.numbers.push_back(fmt::format("launch: a kernel that does nothing takes {}, {} of this one's time",
                                          format_ns(input.device.peaks.launch_ns),
                                          percent(input.device.peaks.launch_ns / input.ns)));
}

/// After the limit is known: sizes are advised only where something waits.
void add_remarks(const VerdictInput& input, const LaunchDetail& launch, Verdict& verdict) {
  const std::int64_t threads = launch.shape.threads_per_block(), blocks = launch.shape.blocks();
  const bool waits =
      verdict.limit == Limit::latency || verdict.limit == Limit::launch || verdict.limit == Limit::unknown;
  const bool is_advised = waits && !input.is_best && !on_host(input);
  const auto say = [&](std::string text) { verdict.remarks.push_back(std::move(text)); };
  if (!on_host(input) && threads % input.limits().warp_size != 0)
    say(fmt::format("a block of {} threads is not a multiple of the warp's {}: {} lanes of its last warp never work",
                    threads, input.limits().warp_size, input.limits().warp_size - threads % input.limits().warp_size));
  else if (is_advised && threads < kFewThreads)
    say(fmt::format("a block of {} threads is small: at least {} are advised", threads, kFewThreads));
  if (blocks < input.limits().sm_count)
    say(fmt::format("its grid leaves {} of {} {} without work", input.limits().sm_count - blocks,
                    input.limits().sm_count, processors(input)));
  else if (is_advised && static_cast<double>(blocks) < kManyBlocks * input.limits().sm_count)
    say(fmt::format("{} blocks are few for {} multiprocessors: many more are advised", blocks,
                    input.limits().sm_count));
  if (launch.resources.spill_bytes > 0)
    say(fmt::format("{} bytes a thread are spilled from registers to memory", launch.resources.spill_bytes));
  std::optional<double> lanes;
  if (const auto at = input.metrics.find("smsp__thread_inst_executed_per_inst_executed.ratio");
      at != input.metrics.end())
    lanes = at->second;
  else if (const auto share = counted_share(input, {"warp_execution_efficiency"}))
    lanes = *share * input.limits().warp_size;
  if (lanes && *lanes < 0.75 * input.limits().warp_size)
    say(fmt::format("branches split its warps: {:.1f} of {} lanes work at a time", *lanes, input.limits().warp_size));
}

/// Shares of their time that warps wait, according to counters.
struct Stalls {
  std::optional<double> barrier, loads;
};

Stalls stalls(const VerdictInput& input) {
  return {counted_share(input, {"stall_sync", "smsp__warp_issue_stalled_barrier_per_warp_active.pct"}),
          counted_share(input,
                        {"stall_memory_dependency", "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"})};
}

/// Empty if it is known, or cannot be: the host has no counters.
std::string_view how_to_know(const VerdictInput& input) {
  return on_host(input) || stalls(input).barrier ? "" : " (`--metrics verdict` counts which)";
}

/// For when nothing is busy: finds what waits, as far as the model and the counters show it.
std::string waiting_reason(const VerdictInput& input, const LaunchDetail* launch, const std::vector<LimitUse>& all,
                           const Stalls& stalls) {
  std::string reason = "nothing is busy";
  if (!all.empty()) {
    const auto busiest = std::max_element(all.begin(), all.end(),
                                          [](const LimitUse& a, const LimitUse& b) { return a.share < b.share; });
    reason = fmt::format("the busiest resource, {}, is at {}", name(busiest->limit), percent(busiest->share));
  }
  const double barrier = stalls.barrier.value_or(0), loads = stalls.loads.value_or(0);
  if (barrier > 0.3 && barrier > loads)
    return reason + fmt::format("; warps wait at barriers for {} of their time", percent(barrier));
  if (loads > 0.3) return reason + fmt::format("; warps wait for loads for {} of their time", percent(loads));
  if (!launch) return reason;
  if (launch->shape.blocks() < input.limits().sm_count)
    return reason + fmt::format("; its blocks occupy {} of {} {}", launch->shape.blocks(), input.limits().sm_count,
                                processors(input));
  // Too few bytes in flight are the cause only of about the rate that they allow. What is slower waits for more.
  if (const auto bytes = in_flight(input, *launch); bytes && bytes->had < bytes->needed) {
    const double moved = *input.bytes / input.ns * 1e9 / input.memory_rate;
    if (moved >= kNearAllowed * bytes->allowed())
      return reason + fmt::format("; {}{} are in flight where {} are needed", bytes->is_declared ? "" : "at most ",
                                  amount(bytes->had), amount(bytes->needed));
    return reason + fmt::format(
                        "; instructions, barriers or results hold it back, as its bytes in flight would allow {} of "
                        "memory's rate{}",
                        percent(bytes->allowed()), how_to_know(input));
  }
  return reason + fmt::format("; instructions, barriers, loads or results hold it back{}", how_to_know(input));
}

}  // namespace

std::string_view name(Limit limit) {
  constexpr std::array<std::string_view, 8> names{"device memory",     "L2 cache", "shared memory", "arithmetic",
                                                  "instruction issue", "latency",  "launch",        "unknown"};
  return names[static_cast<std::size_t>(limit)];
}

Waves waves(std::int64_t blocks, int blocks_per_sm, int sm_count) {
  const std::int64_t resident = std::int64_t{blocks_per_sm} * sm_count;
  if (blocks <= 0 || resident <= 0) return {};
  const std::int64_t in_last = blocks % resident;
  return {static_cast<double>(blocks) / static_cast<double>(resident),
          in_last == 0 ? 0 : 1 - static_cast<double>(in_last) / static_cast<double>(resident)};
}

double warps_for_arithmetic(const DeviceLimits& limits) {
  return static_cast<double>(arithmetic_clocks(limits)) * limits.fp32_lanes_per_sm / limits.warp_size;
}

double bytes_in_flight(double rate, double latency_ns) { return rate * latency_ns / 1e9; }

Verdict explain(const VerdictInput& input) {
  Verdict verdict;
  if (!(input.ns > 0)) return verdict;
  const LaunchDetail* const launch = largest(input);
  const std::vector<LimitUse> all = uses(input);
  verdict.counted = std::any_of(all.begin(), all.end(), [](const LimitUse& use) { return use.counted; });
  if (launch) add_numbers(input, *launch, verdict);

  const double launches = static_cast<double>(std::max<std::size_t>(input.launches.size(), 1));
  auto busiest =
      std::max_element(all.begin(), all.end(), [](const LimitUse& a, const LimitUse& b) { return a.share < b.share; });
  if (busiest != all.end() && busiest->limit == Limit::l2) {
    // All memory traffic passes through L2. If both are about as busy, memory is the limit.
    const auto memory =
        std::find_if(all.begin(), all.end(), [](const LimitUse& use) { return use.limit == Limit::dram; });
    if (memory != all.end() && memory->share >= kBusy && memory->share > kAsBusy * busiest->share) busiest = memory;
  }
  const double most = busiest != all.end() ? busiest->share : 0;
  if (const auto start = start_of_blocks(input); start && start->share >= kBusy && start->share > most) {
    verdict.limit = start->limit;
    verdict.reason = start->reason;
  } else if (most >= kBusy) {
    verdict.limit = busiest->limit;
    verdict.reason = busiest->reason;
    verdict.busiest = std::min(busiest->share, 1.0);
  } else if (input.device.peaks.launch_ns > 0 && input.ns < kMostlyLaunch * launches * input.device.peaks.launch_ns) {
    verdict.limit = Limit::launch;
    verdict.reason = fmt::format("{} empty launches would take {} of its {}", launches,
                                 format_ns(launches * input.device.peaks.launch_ns), format_ns(input.ns));
  } else if (!verdict.counted && input.arithmetic_rate <= 0 && input.flops &&
             *input.flops > kRidge * input.bytes.value_or(0)) {
    verdict.reason = "it computes much for each byte, but the arithmetic rate of this device was not measured";
  } else if (const Stalls waits = stalls(input); !all.empty() || waits.barrier || waits.loads) {
    verdict.limit = Limit::latency;
    verdict.reason = waiting_reason(input, launch, all, waits);
    verdict.counted = verdict.counted || waits.barrier || waits.loads;
  } else {
    verdict.reason = "declare bytes or flops in the kernel file, or collect counters, to learn the limit";
  }
  if (launch) add_remarks(input, *launch, verdict);
  return verdict;
}

}  // namespace tuner
