#!/usr/bin/env python3
"""Does tuner count what Nsight Compute counts? Runs both over the same configurations, and compares.

    bench/against_ncu.py [--count-metrics build/release/bin/count_metrics] [--ncu ncu] [--repeat 5]

Medians of several counts, since no two runs of a kernel take the same time. Kernels of several launches are compared by
their first. Prints a line for each metric with the configuration that
differs most. Exit status 0: counts are equal and all else is within 1%; 1: something is not; 2: nothing was counted.
"""

import argparse
import csv
import statistics
import subprocess
import sys

# The name in the textbooks and that of the chip, or a pair of which the first is a part of the second, in percent:
# docs/measuring.md. Counts must be equal.
METRICS = {
    "achieved_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "gld_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "gst_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "gld_throughput": "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second",
    "gst_throughput": "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second",
    "dram_read_throughput": "dram__bytes_read.sum.per_second",
    "inst_per_warp": "smsp__average_inst_executed_per_warp.ratio",
    "branch_efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "stall_sync": "smsp__warp_issue_stalled_barrier_per_warp_active.pct",
    "gld_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "gst_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "branch": "smsp__sass_branch_targets.sum",
    "divergent_branch": "smsp__sass_branch_targets_threads_divergent.sum",
    "global_hit_rate": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
}
COUNTS = ("gld_transactions", "gst_transactions", "branch", "divergent_branch")
CHIPS_OWN = list(dict.fromkeys(name for own in METRICS.values() for name in ([own] if isinstance(own, str) else own)))
STEPS = ("neighbored neighbored_less_divergent interleaved unroll2 unroll4 unroll8 unroll16 unroll8_loop unroll8_rolled "
         "unroll_warps8 barrier_warps8 shrinking_warps8 complete_unroll8 barrier_complete8 template8").split()


def cases():
    for x, y in ((32, 32), (32, 16), (16, 32), (16, 16)):
        yield f"sumMatrix2D|nx=16384 ny=16384|vector=1 rows=1 unroll=1 block_x={x} block_y={y}"
    for variant in ("by_thread", "by_warp", "predicated", "two_conditions"):
        yield f"warpDivergence|n=16777216 work=64|threads=256 block_y=1 unroll=1 items=1 variant={variant}"
    for step in STEPS:
        yield f"reduceClassic|n=268435456|step={step} threads=512 final_threads=1024"


def output_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")
    if done.returncode != 0:
        fail(f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def fail(why):
    print(f"against_ncu: {why}", file=sys.stderr)
    sys.exit(2)


def medians(values, names):
    """Of the lists in the dictionary `values`."""
    for name in names:
        if not values.get(name):
            fail(f"{name} was not counted")
    return {name: statistics.median(values[name]) for name in names}


def counted_by_tuner(program, wanted, repeat):
    """Each case's metrics, in the order of the cases: of its first launch where it has several."""
    rows = {case: {"all": {}, "1": {}} for case in wanted}
    command = [program, "--metrics", ",".join(METRICS), "--repeat", str(repeat), *wanted]
    for line in output_of(command).splitlines():
        if line.startswith("#"):
            continue
        case, launch, metric, value = line.split("\t")
        if launch in rows[case]:
            rows[case][launch].setdefault(metric, []).append(float(value))
    return [medians(rows[case]["1"] or rows[case]["all"], METRICS) for case in wanted]


def counted_by_ncu(ncu, program, wanted, repeat):
    text = output_of([ncu, "--csv", "--print-units", "base", "--clock-control", "none",
                      "--kernel-name", "regex:^(sumMatrix2D|warpDivergence|reduceClassic)$",
                      "--metrics", ",".join(CHIPS_OWN), program, "--once",
                      "--repeat", str(repeat), *wanted])
    rows = {}
    table = csv.DictReader(line for line in text.splitlines() if line.startswith('"'))
    for row in table:
        rows.setdefault(int(row["ID"]), {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    if len(rows) != repeat * len(wanted):
        fail(f"ncu counted {len(rows)} launches, expected {repeat * len(wanted)}")
    launches = [rows[launch] for launch in sorted(rows)]  # all cases, then all again
    return [medians({name: [row[name] for row in launches[i::len(wanted)] if name in row] for name in CHIPS_OWN}, CHIPS_OWN)
            for i in range(len(wanted))]


def value(counted, own):
    """The metric of a case by the chip's own names."""
    if isinstance(own, str):
        return counted[own]
    part, whole = own
    return 100 * counted[part] / counted[whole]


def difference(ours, theirs):
    """In percent of theirs."""
    if ours == theirs:
        return 0.0
    return 100 * (ours - theirs) / theirs if theirs else float("inf")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count-metrics", default="build/release/bin/count_metrics", metavar="PROGRAM")
    options.add_argument("--ncu", default="ncu", metavar="PROGRAM")
    options.add_argument("--repeat", type=int, default=5, metavar="N", help="counts of each configuration")
    given = options.parse_args()
    wanted = list(cases())
    ours = counted_by_tuner(given.count_metrics, wanted, given.repeat)
    theirs = counted_by_ncu(given.ncu, given.count_metrics, wanted, given.repeat)
    good = True
    for name, chips_own in METRICS.items():
        expected = [value(their, chips_own) for their in theirs]
        apart = [abs(difference(our[name], there)) for our, there in zip(ours, expected)]
        worst = max(apart)
        at = apart.index(worst)
        good = good and worst <= (0 if name in COUNTS else 1)
        print(f"{name:21} at most {worst:.2f}%: {ours[at][name]:.6g} here, {expected[at]:.6g} by ncu; "
              f"{wanted[at]}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
