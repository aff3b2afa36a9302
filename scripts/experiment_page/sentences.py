"""Sentences about the tables: each function yields those of an experiment from the outputs of its commands."""

import math
import re

from experiment_page.published import find, of_text, printed, published, source, subjects
from experiment_page.tables import Missing, number
from experiment_page.words import (SAME, by, capital, code, compare, extremes, fastest_by, least, listed, longer, most, plural, row_with,
                                   same, same_order, share, times, within)

FIRST_SHAPES = ("(32,32)", "(32,16)", "(16,32)", "(16,16)")
SHAPES_OF_BOTH = FIRST_SHAPES + ("(64,2)", "(64,4)", "(64,8)", "(128,2)", "(128,4)", "(128,8)", "(256,2)", "(256,4)")
SHAPES = SHAPES_OF_BOTH + ("(16,8)", "(8,16)")


# Matrix addition

def fastest_shape(outputs):
    rows = outputs[0].rows()
    time = by(rows, "block", "median")
    fastest = min(time, key=time.get)
    yield f"Of these shapes, {fastest} is the fastest."
    if fastest != "(32,32)":
        yield compare("(32,32)", time["(32,32)"], fastest, time[fastest])
    yield compare("(1,256)", time["(1,256)"], "(256,1)", time["(256,1)"])
    outputs.only_on_gpu()
    claim = find("claims", "(256,1) or (1,256)", "faster")
    is_so = time["(256,1)"] < time["(1,256)"] and not same(time["(256,1)"], time["(1,256)"])
    yield f"{capital(source(claim))}, expects {claim['value']} to be faster: here it is{'' if is_so else ' not'}."


def shapes_of_the_text(outputs):
    outputs.only_on_gpu()
    time, names = by(outputs[0].rows(), "block", "median"), subjects("blocks", "time")
    yield f"Text B's {len(names)} shapes: " + lower(same_order(names, time, of_text("blocks", names, "time")))
    yield best_of_text("blocks", "B", "occupancy")
    claim, fastest = find("claims", "four shapes", "fastest"), min(FIRST_SHAPES, key=lambda name: time[name])
    alike = [name for name in FIRST_SHAPES if same(time[name], time[fastest])]
    yield (f"{capital(source(claim))}, has {claim['value']} as the fastest of {listed(FIRST_SHAPES)} on {claim['gpu']}: here it is "
           f"{listed(alike)}{f', within {share(SAME)}' if len(alike) > 1 else ''}.")


def lower(sentence):
    return sentence[0].lower() + sentence[1:]


def best_of_text(experiment, text, *indicators):
    """Whether the shape with the highest occupancy, say, is the fastest in a text."""
    time = of_text(experiment, subjects(experiment, "time"), "time")
    time = {name: value for name, value in time.items() if value is not None}  # one of text D's failed
    fastest = min(time, key=time.get)
    said = []
    for what in indicators:
        found = of_text(experiment, subjects(experiment, what), what)
        said.append(f"the highest {what} to {max(found, key=found.get)}")
    return f"Text {text} gives {listed(said)}, and the shortest time to {fastest}."


def indicators(outputs):
    yield from most_of_metrics(outputs[0].rows())


def most_of_metrics(rows, of=""):
    """Whether the shape with the highest occupancy, or load throughput, is the fastest."""
    fastest = least(rows, "median")
    for column, name in (("achieved_occupancy", "achieved occupancy"), ("gld_throughput", "load throughput")):
        best = most(rows, column)
        said = f"{of}{best['block']} has the highest {name}{'' if of else ' of these'}, {best[column]}"
        if best is fastest:
            yield f"{said}, and is the fastest."
        else:
            yield f"{said}, and {longer(number(best['median']), number(fastest['median']), fastest['block'])}."


def swapped(outputs):
    straight, turned = by(outputs[0].rows(), "block", "median"), by(outputs[1].rows(), "block", "median")
    both = [name for name in turned if name in straight]
    ratio = {name: turned[name] / straight[name] for name in both}
    if not ratio:
        raise Missing("shapes in both tables")
    low, high = min(ratio, key=ratio.get), max(ratio, key=ratio.get)
    yield (f"Of the shapes in both tables, {low} loses least by the swapped index and takes {times(ratio[low])} as long; {high} loses "
           f"most and takes {times(ratio[high])} as long.")
    fastest = least(outputs[1].rows(), "median")
    yield f"Of all shapes shown, {fastest['block']} is then the fastest."
    of_width = {}
    for name, time in turned.items():
        width, height = (int(one) for one in name.strip("()").split(","))
        of_width.setdefault(width, {})[height] = time
    several = [times_of for times_of in of_width.values() if len(times_of) > 1]
    tallest = sum(within(times_of[max(times_of)], min(times_of.values())) for times_of in several)
    yield (f"Of blocks that are equally wide, the tallest is the fastest, or within {share(SAME)} of it, in {tallest} of "
           f"{plural(len(several), 'case')}.")


def swapped_against_text(outputs):
    outputs.only_on_gpu()
    rows = outputs[1].rows()
    yield "Text D's shapes: " + lower(same_order(SHAPES, by(rows, "block", "median"), of_text("swapped", SHAPES, "time")))
    efficiency = by(rows, "block", "gld_efficiency")
    known = [name for name in subjects("swapped", "load efficiency") if name in efficiency]
    equal = [name for name in known if abs(efficiency[name] - published("swapped", name, "load efficiency")) < 0.1]
    if known:
        yield f"Load efficiency is the published one for {len(equal)} of {plural(len(known), 'shape')}."
    yield from most_of_metrics([row for row in rows if row["block"] in SHAPES], "Of text D's shapes, ")
    yield best_of_text("swapped", "D", "occupancy", "load rate")


def impossible(outputs):
    found = outputs[0].found(r"= (\d+) threads exceeds the limit of (\d+) threads")
    there = find("swapped", "(256,8)", "time")
    yield f"The block has {found[1]} threads, and the limit is {found[2]}; {source(there)}, prints \"{there['value']}\"."


# The CPU

def cpu(outputs):
    time = fastest_by(outputs[1].rows(), "step")
    kernel = number(outputs[0].line("time"))
    plain = number(row_with(outputs[1].rows(), step="loop", lanes="1")["median"])
    yield compare("one core's recursion", time["recursive"], "one core's plain loop", plain)
    yield compare("one core's plain loop", plain, "its loop with several sums at once", time["loop"])
    yield compare("the loop with several sums at once", time["loop"], "the sum by all cores", time["all_cores"])
    yield compare("the sum by all cores", time["all_cores"], "the simplest kernel", kernel)
    beside = compare("one core's plain loop", plain, "the simplest kernel", kernel)
    if outputs.on_gpu:
        ratios = {what: sorted(published("cpu", run, what, gpu) / published("cpu", run, "neighbored", gpu)
                               for run in subjects("cpu", what, gpu))
                  for what, gpu in (("one core", "RTX 4070"), ("plain loop", "GTX 1060"))}
        low, *_, high = ratios["one core"]
        yield beside
        yield (f"In text B, one core takes {low:.0f} to {high:.0f} times as long. In text D, a plain loop takes "
               f"{times(*ratios['plain loop'])} as long.")
    else:
        yield beside


def sums(outputs):
    """The sum beside that of the text, whose values are of the same distribution."""
    outputs.only_on_gpu()
    here, there = number(outputs[0].found(r"^result .*= (\d+)")[1]), published("cpu", "run 1", "sum")
    yield (f"The sum of 2^24 values from 0 to 255 is {here:.0f} here and {there:.0f} in text D; they differ by "
           f"{share(abs(here / there - 1))}.")


# Divergence

def printed_kernels(outputs):
    for output in outputs:
        name = output.asked("kernel")
        efficiency = output.found(r"branch_efficiency +(\S+)")[1]
        branches, parted = (output.found(rf"^\S* +{one} +(\S+)")[1] for one in ("branch", "divergent_branch"))
        there = []
        for gpu in ("RTX 4070", "GTX 1060"):
            try:
                there.append(f"{printed(find('printed', name, 'branch_efficiency', gpu))} on {gpu}")
            except Missing:
                continue
        also = f" (published: {listed(there)})" if there else ""
        yield f"{code(name)}: {parted} of {branches} branches diverge, and branch efficiency is {efficiency}{also}."


def divergence(outputs):
    rows = outputs[0].rows()
    time = by(rows, "variant", "median")
    for name in ("by_thread", "predicated", "two_conditions"):
        yield compare(code(name), time[name], code("by_warp"), time["by_warp"])
    row = row_with(rows, variant="by_thread")
    yield (f"Branch efficiency of {code('by_thread')} is {row['branch_efficiency']}, and its warp execution efficiency "
           f"{row['warp_execution_efficiency']}.")


def unoptimised(outputs):
    rows = outputs[0].rows()
    for column, name in (("branch_efficiency", "Branch efficiency"), ("warp_execution_efficiency", "Warp execution efficiency")):
        low, high = least(rows, column), most(rows, column)
        yield f"{name} is lowest for {code(low['variant'])}, {low[column]}, and highest for {code(high['variant'])}, {high[column]}."


def trips(outputs):
    time = by(outputs[0].rows(), "variant", "median")
    yield compare(code("by_thread"), time["by_thread"], code("by_warp"), time["by_warp"])
    yield compare(code("predicated"), time["predicated"], code("by_thread"), time["by_thread"])


def partial(outputs):
    time = by(outputs[0].rows(), "block", "median")
    for name, lanes in (("(80,1)", 80), ("(40,1)", 40)):
        used = lanes / (math.ceil(lanes / 32) * 32)
        yield f"A block of {lanes} threads uses {share(used)} of its lanes, which alone would take {times(1 / used)} as long."
        yield compare("it", time[name], "one of 128", time["(128,1)"])
    yield compare("a block of 40 x 2", time["(40,2)"], "one of 80", time["(80,1)"])


def registers(outputs):
    rows = outputs[0].rows()
    best, plain = least(rows, "median"), row_with(rows, registers="0", min_blocks="0")
    if best is plain:
        yield "The compiler's own choice is the fastest."
    else:
        named = code(f"registers={best['registers']}", f"min_blocks={best['min_blocks']}")
        yield compare("the compiler's own choice", number(plain["median"]), f"the best limit ({named})", number(best["median"]))
        if "registers (2)" in best and "registers (2)" in plain:
            yield f"With that limit a thread has {best['registers (2)']} registers, and with the compiler's choice {plain['registers (2)']}."
    spilling = [row for row in rows if "spill" in row]
    if spilling:
        quick = least(spilling, "median")
        yield compare("the best of those that spill", number(quick["median"]), "the best of all", number(best["median"]))
    if "achieved_occupancy" in best:
        full = most(rows, "achieved_occupancy")
        named = code(f"registers={full['registers']}", f"min_blocks={full['min_blocks']}")
        yield (f"The highest achieved occupancy is {full['achieved_occupancy']} ({named}), and that of the fastest is "
               f"{best['achieved_occupancy']}.")


def fast_division(outputs):
    time = fastest_by(outputs[1].rows(), "fast")
    yield compare("exact division", time["false"], "fast division", time["true"])


# Warp functions

def warp_steps(outputs):
    time = fastest_by(outputs[0].rows(), "warp_step")
    fastest = min(time, key=time.get)
    yield f"{code(fastest)} is the fastest."
    slower = [name for name in time if not same(time[name], time[fastest])]
    for name in slower:
        yield compare(code(name), time[name], code(fastest), time[fastest])
    if len(slower) + 1 < len(time):
        yield f"The others take as long as {code(fastest)}, within {share(SAME)}."


def trees(outputs):
    yield "With one element a thread: " + extremes(fastest_by(outputs[0].rows(), "tail"), "tails")
    yield f"With {int(outputs[1].asked('grid_blocks')):,} blocks: " + extremes(fastest_by(outputs[1].rows(), "tail"), "tails")
    one, several = (number(least(output.rows(), "median")["median"]) for output in (outputs[0], outputs[1]))
    yield compare("the fastest with one element a thread", one, "the fastest with the fixed grid", several)


def finishes(outputs):
    yield capital(extremes(fastest_by(outputs[2].rows(), "finish"), "finishes"))


def races(outputs):
    for row in outputs[0].rows():
        if row.get("tail") == "tree" and row["mistake"] != "none":
            yield f"{code(row['mistake'])}: " + ("the sum was wrong." if "why not" in row else "the sum was right, by luck.")


def scans(outputs):
    time = fastest_by(outputs[0].rows(), "step")
    for name in ("hillis_steele", "blelloch"):
        yield compare(code(name), time[name], code("shuffle_up"), time["shuffle_up"])
    yield "The best of each kind of offsets: " + extremes(fastest_by(outputs[0].rows(), "offsets"), "kinds")


def arrangements(outputs):
    yield capital(extremes(fastest_by(outputs[1].rows(), "arrangement"), "arrangements"))


def compaction(outputs):
    for output in outputs:
        rows = output.rows()
        yield f"With {output.asked('density')} kept, the best of each way to rank: " + extremes(fastest_by(rows, "rank"), "ways")
        yield "The best of each shortcut: " + extremes(fastest_by(rows, "shortcut"), "shortcuts")
        for rank in fastest_by(rows, "rank"):
            time = fastest_by([row for row in rows if row["rank"] == rank], "shortcut")
            for name in time:
                if not within(time["none"], time[name]):
                    yield compare(code(rank) + " without a shortcut", time["none"], "with " + code(name), time[name])


def keys(outputs):
    for output in outputs:
        for memory in ("global", "shared"):
            rows = [row for row in output.rows() if row.get("counters") == memory]
            yield f"{capital(output.asked('keys'))} keys in {memory} memory: " + extremes(fastest_by(rows, "equal_keys"), "ways")


def equal_keys(outputs):
    """How much longer equal keys take than uniform ones, without a search for equal keys."""
    for memory in ("global", "shared"):
        equal, uniform = (number(row_with(outputs[at].rows(), counters=memory, equal_keys="each")["median"]) for at in (2, 0))
        yield f"In {memory} memory, " + lower(compare("a histogram of equal keys", equal, "a histogram of uniform keys", uniform))


# Launches from the device

def greetings(outputs):
    depths = [int(one) for one in re.findall(r"^depth (\d+):", outputs[0].text, re.MULTILINE)]
    if not depths:
        raise Missing("depths")
    elements = int(outputs[0].asked("elements"))
    there = [find("greetings", str(n), "deepest grid") for n in (8, 64)]
    quoted = " and ".join(f"{row['value']} for {row['subject']} ({source(row)})" for row in there)
    is_half = all(int(deepest) == int(math.log2(int(n))) for n, deepest in
                  [(elements, max(depths))] + [(row["subject"], row["value"]) for row in there])
    yield f"The deepest grid is at depth {max(depths)} for {elements} elements; published are {quoted}."
    if is_half:
        yield "Each is the number of times that the elements can be halved."


def nested(outputs):
    time = fastest_by(outputs[0].rows(), "step")
    names = ("nested", "nested_nosync", "nested2", "flat")
    there = of_text("nested", names, "time")
    yield same_order(names, time, there)
    for name, other in (("nested", "flat"), ("nested", "nested_nosync"), ("nested2", "flat")):
        yield compare(code(name), time[name], code(other), time[other])[:-1] + f" (published: {times(there[name] / there[other])})."


def nested_on_the_cpu(outputs):
    time, cpu_time = fastest_by(outputs[0].rows(), "step"), number(outputs[2].rows()[0]["median"])
    there = [published("nested", name, "time") for name in ("nested", "one core")]
    yield (compare(code("nested"), time["nested"], "a sum by one core of this machine's CPU", cpu_time)[:-1] +
           f" (published: {times(there[0] / there[1])}).")


def at_once(outputs):
    time = fastest_by(outputs[0].rows(), "step")
    n, threads = int(outputs[0].asked("n")), int(outputs[0].asked("threads"))
    launches = math.ceil(n / threads) * int(math.log2(threads) - 1)  # each block halves its threads down to two
    each = [clock(one / launches) for one in (time["nested"], number(outputs[1].line("time")))]
    yield f"{launches:,} launches take {each[0]} each, one after the other, and {each[1]} each if they are started at once."
    yield compare("one grid after the other", time["nested"], "the same grids started at once", number(outputs[1].line("time")))


def clock(seconds):
    """`12 us`, `0.56 us`."""
    return f"{seconds * 1e6:.0f} us" if seconds >= 1e-5 else f"{seconds * 1e6:.2f} us"


def dropped(outputs):
    output = outputs[0]
    wrong = re.search(r"^failed .*is (\S+), expected (\S+)", output.text, re.MULTILINE)
    if wrong:
        yield f"The sum is {wrong[1]}, {share(number(wrong[1]) / number(wrong[2]))} of {wrong[2]}."
    elif output.line("verified").startswith("yes"):
        yield "All launches found room, and the sum is right."


def whole_greetings(outputs):
    """The run of text D, which is too long to be printed."""
    output = outputs[1]
    if output.line("verified").startswith("yes"):
        yield (f"Text D's own run, {output.asked('blocks')} blocks of {output.asked('threads')} threads and {output.asked('elements')} "
               "elements, greets as often as it should at each depth.")


# Resources and latency

# Loads of a thread that the sums of floats have in flight, at most: see `in_flight` in templates/warpReduce.cu.
LOADS = 4


def occupancy(outputs):
    for output in outputs:
        blocks, each = output.found(r"blocks per multiprocessor +(\d+): (.*)").groups()
        limits = [limit for admitted, limit in re.findall(r"(\d+) by ([^,]+)", each) if admitted == blocks]
        reached = output.found(r"theoretical occupancy +(\S+?),")[1]
        yield (f"{code(output.asked('arch'))}: {plural(int(blocks), 'block')} fit, limited by {listed(limits)}; occupancy is "
               f"{reached}.")


def little(outputs):
    for gpu, text in (("Fermi", "E"), ("RTX 4070", "B")):
        bandwidth, clock, latency, there = (published("little", one, "value", gpu)
                                            for one in ("bandwidth", "memory clock", "latency", "warps"))
        needed = bandwidth / clock * latency
        so = ", as in the text" if f"{needed / 128:.0f}" == f"{there:.0f}" else f"; the text rounds on the way and has {there:.0f}"
        yield (f"Text {text}'s example: {bandwidth / clock:.0f} bytes a clock for {latency:.0f} clocks are {needed / 1000:.0f} kB in "
               f"flight. With a float each, {needed / 4:,.0f} threads or {needed / 128:.0f} warps have so many{so}.")
    warps = published("little", "warps", "value", "Fermi") / published("little", "multiprocessors", "value")
    busy = published("little", "arithmetic latency", "value") * published("little", "lanes", "value") / 32
    total = published("little", "warps", "value", "Fermi")
    yield f"Text E's {total:.0f} warps are {warps:.0f} a multiprocessor; to keep its arithmetic busy, {busy:.0f} are enough."


def hiding(outputs):
    rows = outputs[0].rows()
    fastest, slowest = least(rows, "median"), most(rows, "median")
    named = [code(f"unroll={row['unroll']}", f"blocks_per_sm={row['blocks_per_sm']}") for row in (slowest, fastest)]
    yield compare(named[0], number(slowest["median"]), named[1], number(fastest["median"]))
    for parameter, other in (("unroll", "blocks_per_sm"), ("blocks_per_sm", "unroll")):
        row = row_with(rows, **{parameter: most(rows, parameter)[parameter], other: least(rows, other)[other]})
        named = code(f"unroll={row['unroll']}", f"blocks_per_sm={row['blocks_per_sm']}")
        yield f"{named} reaches {row['rate']}, {row['of reads']} of the rate of reads."
    outputs.only_on_gpu()
    threads = int(outputs[0].asked("threads"))
    shares = {}
    for row in rows:
        grid, block = (re.match(r"\((\d+),", row[name])[1] for name in ("grid", "block"))
        if int(row["blocks_per_sm"]) * threads <= 2048:  # all blocks are resident
            resident = int(grid) * int(block)
            of_size = shares.setdefault(resident * 4 * min(int(row["unroll"]), LOADS), [])
            of_size.append((resident, number(row["of reads"])))
    if len(shares) < 2:
        raise Missing("resident blocks")
    steps = [f"{size / 2**20:.2f} MiB: {spread([share for _, share in shares[size]])}" for size in sorted(shares)]
    yield "Bytes in flight, and the share of the rate of reads: " + "; ".join(steps) + "."
    yield f"No more than {LOADS} loads of a thread count: on Hopper, the compiler adds the first {LOADS} before it issues others."
    several = [one for one in shares.values() if len({resident for resident, _ in one}) > 1]
    threads_win = sum(max(one, key=lambda row: row[1])[0] == max(one)[0] for one in several)
    yield (f"Where rows with different numbers of threads have the same bytes in flight, one with the most threads is the fastest in "
           f"{threads_win} of {plural(len(several), 'case')}.")
    needed = outputs[1].found(r"bytes in flight: ([\d.]+) MiB are needed")[1]
    enough = [size for size in shares if size >= float(needed) * 2**20]
    if enough:
        yield (f"Under load, the law asks for {needed} MiB: the rows with {min(enough) / 2**20:.2f} MiB reach "
               f"{spread([share for _, share in shares[min(enough)]])} of the rate of reads.")


def spread(numbers):
    low, high = f"{min(numbers):.0f}", f"{max(numbers):.0f}"
    return f"{low}%" if low == high else f"{low} to {high}%"


def scaling(outputs):
    threads = int(outputs[0].asked("threads"))
    time = by(outputs[0].rows(), "n", "best")
    sizes = sorted(time, key=int)
    for a, b in zip(sizes, sizes[1:]):
        yield compare(f"a grid of {math.ceil(int(b) / threads)} blocks", time[b], f"one of {math.ceil(int(a) / threads)}", time[a])


def device(outputs):
    bandwidth = outputs[0].line("theoretical bandwidth")
    yield f"Reads reach {share(number(outputs[0].line('reads measured')) / number(bandwidth))} of the theoretical bandwidth."
    balance = number(outputs[0].line("FP32 peak")) / number(bandwidth)
    yield f"Peak and theoretical bandwidth balance at {balance:.0f} operations a byte; a kernel with fewer cannot reach the peak."
    beside = [(find("device", gpu, "multiprocessors"), gpu) for gpu in subjects("device", "multiprocessors")]
    yield (f"This device has {outputs[0].line('multiprocessors')} multiprocessors; " +
           listed(f"text {row['text']}'s {gpu} has {row['value']}" for row, gpu in beside) + ".")
