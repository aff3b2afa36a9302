"""Sentences about the tables of reductions: each function yields those of an experiment from the outputs of its commands."""

import math

from experiment_page.published import find, of_text, printed, published, source, subjects
from experiment_page.tables import number
from experiment_page.words import by, capital, code, compare, least, listed, most, of_all, row_with, same_order, times, within

LADDER = ("neighbored", "neighbored_less_divergent", "interleaved", "unroll2", "unroll4", "unroll8", "unroll_warps8",
          "complete_unroll8", "template8")
FLOAT_STEPS = ("neighbored", "interleaved", "unroll2", "unroll4", "unroll8", "unroll16", "template8")


def ladder(outputs):
    time = by(outputs[0].rows(), "step", "median")
    if outputs.on_gpu:
        there = of_text("ladder", LADDER, "time")
        yield same_order(LADDER, time, there)
        yield (f"From end to end, the published steps gain a factor of {time['neighbored'] / time['template8']:.1f} here, and "
               f"{there['neighbored'] / there['template8']:.1f} there.")
        first, second, third = LADDER[:3]
        gains = {step: row_with(outputs[0].rows(-1), step=step) for step in (second, third)}
        before = find("ladder", second, "time when first shown")
        ratio = published("cpu", "run 2", first, before["gpu"]) / number(printed(before))  # of the same run
        yield (f"{code(second)} gains a factor of {gains[second]['gain']} over {code(first)} (text B: {ratio:.2f} in line "
               f"{before['line']}, {there[first] / there[second]:.2f} in its table).")
        for name, gain in ((first, gains[third]["speed-up"]), (second, gains[third]["gain"])):
            claim = published("claims", f"{third} over {name}", "speed-up")
            yield (f"{code(third)} gains a factor of {gain} over {code(name)} (text A: {claim:.2f}, text B: "
                   f"{there[name] / there[third]:.2f}).")
        claim = find("claims", "unroll16 beside unroll8", "speed")
        yield (compare(code("unroll16"), time["unroll16"], code("unroll8"), time["unroll8"])[:-1] +
               f" ({source(claim)}: {claim['value']} on {claim['gpu']}).")
    for row in outputs[0].rows(-1):
        step, before = row.get("step"), row.get("over")
        if step in LADDER and before and not within(time[step], time[before]):
            yield compare(code(step), time[step], code(before), time[before])[:-1] + ", the step that it was made from."
    for name, other in (("unroll8_rolled", "unroll8"), ("unroll_warps8", "barrier_warps8"), ("complete_unroll8", "barrier_complete8")):
        yield compare(code(name), time[name], code(other), time[other])


def most_gain(outputs):
    """Which of the unrolled steps gains most over the one that it was made from."""
    outputs.only_on_gpu()
    rows = [row for row in outputs[0].rows(-1) if row.get("step") in LADDER and "unroll" in row["step"]]
    claim, best = find("claims", "unrolled steps", "most gain"), most(rows, "gain")
    yield (f"{capital(source(claim))}, says that of the unrolled steps {code(claim['value'])} gains most: over the step that it was made "
           f"from, {'it does here as well' if claim['value'] == best['step'] else 'that is ' + code(best['step']) + ' here'}.")


def ladder_counters(outputs):
    rows = {row["step"]: row for row in outputs[0].rows()}
    changes = []
    for column, what in (("inst_per_warp", "instructions a warp"), ("gld_throughput", "load rate")):
        here = number(rows[LADDER[1]][column]) / number(rows[LADDER[0]][column])
        there = published("ladder", LADDER[1], what) / published("ladder", LADDER[0], what)
        changes.append(f"{code(column)} changes by a factor of {here:.2f} (published: {there:.2f})")
    yield f"From {code(LADDER[0])} to {code(LADDER[1])}, {listed(changes)}."
    stalls = [printed(find("ladder", step, "stall_sync")) for step in ("unroll8", "unroll_warps8")]
    yield (f"Stalls at barriers: {rows['unroll8']['stall_sync']} in {code('unroll8')} and {rows['unroll_warps8']['stall_sync']} in "
           f"{code('unroll_warps8')} (published: {stalls[0]} and {stalls[1]}).")
    hits = {name: rows[name]["global_hit_rate"] for name in ("complete_unroll8", "barrier_complete8")}
    more = number(hits["barrier_complete8"]) > number(hits["complete_unroll8"])
    yield (f"Text A expects more hits of the L1 with barriers than with {code('volatile')}: here there are "
           f"{'more' if more else 'not more'}, {hits['barrier_complete8']} and {hits['complete_unroll8']}.")


def efficiencies(outputs, experiment):
    outputs.only_on_gpu()
    rows = outputs[0].rows()
    for column, what in (("gld_efficiency", "load efficiency"), ("gst_efficiency", "store efficiency")):
        here, names = by(rows, "step", column), subjects(experiment, what)
        there = of_text(experiment, names, what)
        difference = math.ceil(10 * max(abs(here[name] - there[name]) for name in names) - 1e-9) / 10
        yield f"{capital(what)} is the published one within {difference:.1f} percentage points in all {len(names)} steps."


def ladder_efficiency(outputs):
    yield from efficiencies(outputs, "ladder")


def large_efficiency(outputs):
    yield from efficiencies(outputs, "large_ladder")


def ladder_reads(outputs):
    """How the rate at which memory is read changes: the counter if it was asked for, else the rate of the table."""
    outputs.only_on_gpu()
    rows = outputs[0].rows()
    ends = ("interleaved", "unroll8")
    here = by(rows, "step", "dram_read_throughput" if any("dram_read_throughput" in row for row in rows) else "rate")
    there = of_text("ladder", ends, "DRAM read rate")
    yield (f"From {code(ends[0])} to {code(ends[1])}, the rate of reads changes by a factor of {here[ends[1]] / here[ends[0]]:.1f} "
           f"(published, for device memory: {there[ends[1]] / there[ends[0]]:.1f}).")


def large_ladder(outputs):
    outputs.only_on_gpu()
    time, there = by(outputs[0].rows(), "step", "median"), of_text("large_ladder", LADDER, "time")
    yield same_order(LADDER, time, there)
    yield (f"From end to end, the steps gain a factor of {time['neighbored'] / time['template8']:.1f} here, and "
           f"{there['neighbored'] / there['template8']:.1f} there.")


def large_counters(outputs):
    rows = outputs[0].rows()
    first = LADDER[:3]
    for column, what in (("inst_per_warp", "instructions a warp"), ("gld_throughput", "load rate")):
        here, there = by(rows, "step", column), of_text("large_ladder", first, what)
        yield (f"Of the first three steps, {code(max(first, key=there.get))} has the highest {code(column)} and "
               f"{code(min(first, key=there.get))} the lowest in the text; here {code(max(first, key=lambda one: here[one]))} and "
               f"{code(min(first, key=lambda one: here[one]))}.")
    here, there = by(rows, "step", "stall_sync"), of_text("large_ladder", LADDER[3:], "stall_sync")
    low, high = min(there, key=there.get), max(there, key=there.get)
    yield (f"From {code(high)} to {code(low)}, stalls at barriers fall from {there[high]:.1f}% to {there[low]:.1f}% in the text; here "
           f"they are {here[high]:.1f}% and {here[low]:.1f}%.")
    here, ends = by(rows, "step", "dram_read_throughput"), (LADDER[3], LADDER[-1])
    there = of_text("large_ladder", ends, "DRAM read rate")
    yield (f"From {code(ends[0])} to {code(ends[1])}, the rate at which memory is read changes by a factor of "
           f"{here[ends[1]] / here[ends[0]]:.1f} (published: {there[ends[1]] / there[ends[0]]:.1f}).")


def loop(outputs):
    first, second = outputs[0].rows()[0], outputs[1].rows()[0]
    yield compare(code("unroll8_loop"), number(second["median"]), code("unroll8"), number(first["median"]))
    yield (f"{code('unroll8_loop')} needs {second['registers']} registers a thread in place of {first['registers']} (published: "
           f"{published('loop', 'unroll8_loop', 'registers'):.0f} in place of {published('loop', 'unroll8', 'registers'):.0f}).")
    pairs = [(row[column], published("loop", name, what)) for name, row in (("unroll8", first), ("unroll8_loop", second))
             for column, what in (("gld_transactions", "load transactions"), ("gst_transactions", "store transactions"))]
    equal = sum(number(here) == there for here, there in pairs)
    yield f"Of {len(pairs)} numbers of transactions, {equal} are exactly the published ones."
    gain = number(second["gld_throughput"]) / number(first["gld_throughput"])
    there = published("loop", "unroll8_loop", "load rate") / published("loop", "unroll8", "load rate")
    yield f"The load throughput of {code('unroll8_loop')} is {gain:.2f} times that of {code('unroll8')} (published: {there:.2f})."


def types(outputs):
    time = by(outputs[0].rows(-1), "T", "best")
    yield compare(code("float"), time["float"], code("int"), time["int"])
    yield compare(code("double"), time["double"], code("float"), time["float"])


def float_errors(outputs):
    for output, where in ((outputs[1], "in these steps"), (outputs[2], "on the CPU")):
        rows = [row for row in output.rows() if "error" in row]
        low, high = least(rows, "error"), most(rows, "error")
        if number(high["error"]) == number(low["error"]):
            yield f"The error of a sum of floats {where} is always {high['error']}."
            continue
        worst, best = (of_all([row["step"] for row in rows if row["error"] == end["error"]], len(rows)) for end in (high, low))
        yield (f"The error of a sum of floats {where} is largest in {worst}, {high['error']}, and smallest in {best}, {low['error']}: "
               "the sums differ.")
