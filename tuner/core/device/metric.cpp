#include <tuner/core/device/metric.hpp>

#include <array>

#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Terms = std::array<MetricTerm, 1>;

// Today's names for nvprof's metrics: Nsight Compute documentation, "nvprof Metric Comparison". Blackwell renamed the
// DRAM counters.
constexpr Terms kOccupancy{{{"sm__warps_active.avg.pct_of_peak_sustained_active"}}};
constexpr Terms kLoadEfficiency{{{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"}}};
constexpr Terms kStoreEfficiency{{{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"}}};
constexpr Terms kLoadThroughput{{{"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second"}}};
constexpr Terms kStoreThroughput{{{"l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second"}}};
constexpr Terms kLoadTransactions{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}}};
constexpr Terms kStoreTransactions{{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}}};
constexpr Terms kDramReadThroughput{{{"dram__bytes_read.sum.per_second dram__bytes_op_read.sum.per_second"}}};
constexpr Terms kDramWriteThroughput{{{"dram__bytes_write.sum.per_second dram__bytes_op_write.sum.per_second"}}};
constexpr Terms kDramReadBytes{{{"dram__bytes_read.sum dram__bytes_op_read.sum"}}};
constexpr Terms kDramWriteBytes{{{"dram__bytes_write.sum dram__bytes_op_write.sum"}}};
constexpr Terms kInstructionsPerWarp{{{"smsp__average_inst_executed_per_warp.ratio"}}};
constexpr Terms kBranchEfficiency{{{"smsp__sass_average_branch_targets_threads_uniform.pct"}}};
constexpr Terms kStallSync{{{"smsp__warp_issue_stalled_barrier_per_warp_active.pct"}}};
constexpr Terms kStallMemory{{{"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"}}};
constexpr Terms kBranches{{{"smsp__sass_branch_targets.sum"}}};
constexpr Terms kDivergentBranches{{{"smsp__sass_branch_targets_threads_divergent.sum"}}};
/// Four schedulers on every chip that has these counters.
constexpr Terms kEligibleWarps{{{"smsp__warps_eligible.avg.per_cycle_active", 4}}};
constexpr Terms kIssueSlots{{{"smsp__issue_active.avg.pct_of_peak_sustained_active"}}};
constexpr Terms kStallNotSelected{{{"smsp__warp_issue_stalled_not_selected_per_warp_active.pct"}}};
constexpr Terms kGlobalHitRate{{{"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"}}};
constexpr Terms kL1HitRate{{{"l1tex__t_sector_hit_rate.pct"}}};
constexpr Terms kL2HitRate{{{"lts__t_sector_hit_rate.pct"}}};
constexpr Terms kWarpEfficiency{
    {{"smsp__average_thread_inst_executed_per_inst_executed.ratio "
      "smsp__thread_inst_executed_per_inst_executed.ratio",
      100.0 / 32}}};
constexpr Terms kIpc{{{"sm__inst_executed.avg.per_cycle_active"}}};
constexpr Terms kSmEfficiency{{{"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed"}}};
constexpr Terms kSharedEfficiency{{{"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"}}};
constexpr Terms kSharedLoads{{{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}}};
constexpr Terms kSharedStores{{{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}}};
constexpr Terms kKernelTime{{{"gpu__time_duration.sum"}}};

/// A fused multiply-add is two operations.
constexpr std::array<MetricTerm, 3> kHalfFlops{{{"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"},
                                                {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum"},
                                                {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 2}}};
constexpr std::array<MetricTerm, 3> kSingleFlops{{{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"},
                                                  {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"},
                                                  {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2}}};
constexpr std::array<MetricTerm, 3> kDoubleFlops{{{"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"},
                                                  {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"},
                                                  {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2}}};

constexpr std::span<const MetricTerm> kNoTerms;

constexpr NamedMetric kMetrics[] = {
    {"achieved_occupancy", MetricUnit::percent,
     "resident warps, mean over the active cycles, of what a multiprocessor can hold", kOccupancy, true},
    {"gld_efficiency", MetricUnit::percent, "bytes that global loads use of the bytes that they move", kLoadEfficiency,
     true},
    {"gst_efficiency", MetricUnit::percent, "bytes that global stores use of the bytes that they move",
     kStoreEfficiency, true},
    {"gld_throughput", MetricUnit::bytes_per_second, "bytes that global loads ask L1 for", kLoadThroughput, true},
    {"gst_throughput", MetricUnit::bytes_per_second, "bytes that global stores send to L1", kStoreThroughput, true},
    {"gld_transactions", MetricUnit::count, "32-byte sectors that global loads ask L1 for", kLoadTransactions},
    {"gst_transactions", MetricUnit::count, "32-byte sectors that global stores send to L1", kStoreTransactions},
    {"dram_read_throughput", MetricUnit::bytes_per_second, "bytes read from device memory", kDramReadThroughput, true},
    {"dram_write_throughput", MetricUnit::bytes_per_second, "bytes written to device memory", kDramWriteThroughput,
     true},
    {"dram_read_bytes", MetricUnit::bytes, "bytes read from device memory", kDramReadBytes},
    {"dram_write_bytes", MetricUnit::bytes, "bytes written to device memory", kDramWriteBytes},
    {"inst_per_warp", MetricUnit::ratio, "instructions that a warp executes, mean", kInstructionsPerWarp},
    {"branch_efficiency", MetricUnit::percent, "branches at which all threads of a warp go the same way",
     kBranchEfficiency, true},
    {"branch", MetricUnit::count, "branches that warps reach", kBranches},
    {"divergent_branch", MetricUnit::count, "branches at which the threads of a warp part", kDivergentBranches},
    {"stall_sync", MetricUnit::percent, "time of a warp spent waiting at a barrier", kStallSync},
    {"stall_memory_dependency", MetricUnit::percent, "time of a warp spent waiting for L1, L2 or device memory",
     kStallMemory},
    {"warp_execution_efficiency", MetricUnit::percent, "threads of a warp that are active, mean over instructions",
     kWarpEfficiency, true},
    {"stall_not_selected", MetricUnit::percent, "time of a ready warp while the scheduler issues another",
     kStallNotSelected},
    {"eligible_warps_per_cycle", MetricUnit::ratio, "ready warps of a multiprocessor, mean over its cycles",
     kEligibleWarps, true},
    {"issue_slot_utilization", MetricUnit::percent, "cycles in which a scheduler issues an instruction", kIssueSlots,
     true},
    {"ipc", MetricUnit::ratio, "instructions a cycle of one multiprocessor", kIpc, true},
    {"sm_efficiency", MetricUnit::percent, "time during which a multiprocessor has a warp", kSmEfficiency, true},
    {"global_hit_rate", MetricUnit::percent, "sectors of global loads found in L1", kGlobalHitRate, true},
    {"tex_cache_hit_rate", MetricUnit::percent, "sectors of all accesses found in L1", kL1HitRate, true},
    {"l2_tex_hit_rate", MetricUnit::percent, "sectors found in L2", kL2HitRate, true},
    {"shared_efficiency", MetricUnit::percent, "bytes of shared memory used of the bytes that its accesses could move",
     kSharedEfficiency, true},
    {"shared_load_transactions", MetricUnit::count,
     "passes that loads of shared memory take; bank conflicts add to them", kSharedLoads},
    {"shared_store_transactions", MetricUnit::count,
     "passes that stores to shared memory take; bank conflicts add to them", kSharedStores},
    {"flop_count_hp", MetricUnit::count, "half-precision operations; a multiply-add is two", kHalfFlops},
    {"flop_count_sp", MetricUnit::count, "single-precision operations; a multiply-add is two", kSingleFlops},
    {"flop_count_dp", MetricUnit::count, "double-precision operations; a multiply-add is two", kDoubleFlops},
    {"kernel_time", MetricUnit::nanoseconds, "time of the run that was counted, slower than one that is only timed",
     kKernelTime},
    {"energy", MetricUnit::joules, "energy of one run, the whole card's, while it runs over and over", kNoTerms, false,
     MetricSource::sensor},
    {"power", MetricUnit::watts, "power of the card while it runs over and over", kNoTerms, false,
     MetricSource::sensor},
    {"edp", MetricUnit::joule_seconds, "energy of one run times its time", kNoTerms, false, MetricSource::sensor},
    {"error", MetricUnit::ratio,
     "largest distance of an element of an output from what is expected, relative to the largest of its output",
     kNoTerms, false, MetricSource::outputs},
};

constexpr std::string_view kTextbook[] = {"achieved_occupancy", "gld_efficiency",    "gst_efficiency",
                                          "gld_throughput",     "gst_throughput",    "dram_read_throughput",
                                          "inst_per_warp",      "branch_efficiency", "stall_sync"};
constexpr std::string_view kRoofline[] = {"kernel_time",   "dram_read_bytes", "dram_write_bytes",
                                          "flop_count_hp", "flop_count_sp",   "flop_count_dp"};
// The metrics that explain() reads (tuner/explain/verdict.hpp).
constexpr std::string_view kVerdict[] = {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                         "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                                         "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
                                         "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
                                         "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
                                         "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
                                         "sm__inst_issued.avg.pct_of_peak_sustained_active",
                                         "stall_sync",
                                         "stall_memory_dependency",
                                         "warp_execution_efficiency"};
constexpr MetricSet kSets[] = {
    {"textbook", "what the textbooks look at first", kTextbook},
    {"roofline", "time, bytes of device memory and operations: where a kernel stands under the roofline", kRoofline},
    {"verdict", "how busy memory, caches and pipes are and what warps wait for: what the verdict is drawn from",
     kVerdict},
};

}  // namespace

std::string_view symbol(MetricUnit unit) {
  constexpr std::string_view symbols[] = {"%", "", "", "B", "B/s", "ns", "J", "W", "J s"};
  return symbols[static_cast<std::size_t>(unit)];
}

std::span<const NamedMetric> named_metrics() { return kMetrics; }

const NamedMetric* find_metric(std::string_view name) { return find_named(kMetrics, name); }

MetricSource source_of(std::string_view name) {
  const NamedMetric* const metric = find_metric(name);
  return metric != nullptr ? metric->source : MetricSource::counters;
}

std::span<const MetricSet> metric_sets() { return kSets; }

const MetricSet* find_metric_set(std::string_view name) { return find_named(kSets, name); }

std::vector<std::string> expand_metrics(std::span<const std::string> names) {
  std::vector<std::string> expanded;
  const auto add = [&expanded](std::string_view name) {
    if (!contains(expanded, name)) expanded.emplace_back(name);
  };
  for (const std::string& name : names) {
    if (const MetricSet* const set = find_metric_set(name))
      for (const std::string_view metric : set->metrics) add(metric);
    else
      add(name);
  }
  return expanded;
}

}  // namespace tuner
