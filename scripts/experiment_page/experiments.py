"""The experiments: commands, what is known about them, and the sentences that follow from their numbers."""

import dataclasses
import typing

from experiment_page.tables import labelled, number, read_tables
from experiment_page.words import SAME, by, capital, code, compare, published, same_order, span, times


@dataclasses.dataclass
class Command:
    arguments: list
    """Words; `{large|small}` chooses by whether there is a GPU."""
    keep: tuple = ("rows", "limit")
    """Parts of the output: rows, by, limit; all of `run`: run, or its lines with these labels."""
    only: tuple = ()
    """The blocks whose rows are wanted, besides the first row; empty: all."""
    needs_gpu: bool = False
    metrics: str = ""
    """Hardware counters, for every configuration, where there is a GPU."""


@dataclasses.dataclass
class Experiment:
    title: str
    question: str
    commands: list
    why: str
    """How it works, without a number and without a judgement on one."""
    sentences: typing.Callable = lambda outputs: []
    published: str = ""
    """The key of the published figures."""


def rows(outputs, command=0, table=0):
    return read_tables(outputs[command])[table]


# The shapes of the texts.
FIRST_SHAPES = ("(32,32)", "(32,16)", "(16,32)", "(16,16)")
SHAPES = FIRST_SHAPES + ("(16,8)", "(8,16)", "(64,2)", "(64,4)", "(64,8)", "(128,2)", "(128,4)", "(128,8)", "(256,2)", "(256,4)")


def blocks(outputs):
    all_rows = rows(outputs)
    time = by(all_rows, "block", "median")
    fastest = all_rows[0]
    yield f"The fastest shape is {fastest['block']}."
    yield compare("(32,32)", time["(32,32)"], fastest["block"], time[fastest["block"]])
    yield compare("(1,256)", time["(1,256)"], "(256,1)", time["(256,1)"])
    if "achieved_occupancy" not in fastest:
        return
    yield "Of the text's first four shapes: " + same_order(FIRST_SHAPES, time, {one: published("blocks", one, "time") for one in FIRST_SHAPES})
    for column, what in (("achieved_occupancy", "achieved occupancy"), ("gld_throughput", "load throughput")):
        most = span(all_rows, column)[1]
        yield f"The highest {what} of these has {most['block']}."
        if most is not fastest:
            yield compare("it", number(most["median"]), fastest["block"], number(fastest["median"]))


def swapped(outputs):
    straight, turned = by(rows(outputs, 0), "block", "median"), by(rows(outputs, 1), "block", "median")
    both = [name for name in turned if name in straight]
    ratio = {name: turned[name] / straight[name] for name in both}
    least, most = min(both, key=ratio.get), max(both, key=ratio.get)
    yield f"With the swapped index, (8,16) takes {times(ratio['(8,16)'])} as long; of all these, {least} takes {times(ratio[least])} and {most} {times(ratio[most])} as long."
    if "gld_efficiency" in rows(outputs, 1)[0]:
        yield "Of the text's shapes: " + same_order(SHAPES, turned, {one: published("swapped", one, "time") for one in SHAPES})
        best = rows(outputs, 1)[0]
        yield f"The fastest of them all is {best['block']}, with a load efficiency of {best['gld_efficiency']}."


def cpu(outputs):
    time = fastest_by(rows(outputs, 1), "step")
    kernel = number(labelled(outputs[0], "time"))
    yield compare("one core's recursion", time["recursive"], "its loop", time["loop"])
    yield compare("one core", time["loop"], "the sum by all cores", time["all_cores"])
    yield compare("one core", time["loop"], "the simplest kernel", kernel)
    yield compare("the sum by all cores", time["all_cores"], "the simplest kernel", kernel)


def printed(outputs):
    for output in outputs:
        name = labelled(output, "problem").split("kernel=")[1].split()[0]
        efficiency = labelled(output, "metrics").split()[1]
        branches, parted = (labelled(output, one).split()[0] for one in ("branch", "divergent_branch"))
        sentence = f"{code(name)}: {efficiency} of {branches} branches, {parted} of them divergent"
        for gpu in ("RTX 4070", "GTX 1060"):
            try:
                there = published("printed", name, "branch_efficiency", gpu)
            except KeyError:
                continue
            is_same = abs(there - number(efficiency)) < 0.1
            sentence += f", as on {gpu}" if is_same else f" ({there:.1f}% on {gpu})"
        yield sentence + "."


def divergence(outputs):
    time = by(rows(outputs), "variant", "median")
    for name in ("by_thread", "predicated", "two_conditions"):
        yield compare(code(name), time[name], code("by_warp"), time["by_warp"])
    row = {one["variant"]: one for one in rows(outputs)}["by_thread"]
    yield f"Branch efficiency of {code('by_thread')} is {row['branch_efficiency']}, and its warp execution efficiency {row['warp_execution_efficiency']}."


def trips(outputs):
    time = by(rows(outputs), "variant", "median")
    yield compare(code("by_thread"), time["by_thread"], code("by_warp"), time["by_warp"])


def partial(outputs):
    time = by(rows(outputs), "block", "median")
    for name, lanes in (("(80,1)", 80), ("(40,1)", 40)):
        used = lanes / (-(-lanes // 32) * 32)
        yield f"A block of {lanes} threads uses {used * 100:.0f}% of its lanes, which alone would take {times(1 / used)} as long."
        yield compare("it", time[name], "one of 128", time["(128,1)"])


def registers(outputs):
    best, plain = rows(outputs)[0], [row for row in rows(outputs) if row["registers"] == "0" and row["min_blocks"] == "0"][0]
    yield compare("the compiler's own choice", number(plain["median"]), "the best limit", number(best["median"]))
    fast = fastest_by(rows(outputs, 1), "fast")
    yield compare("exact division", fast["false"], "fast division", fast["true"])


LADDER = ("neighbored", "neighbored_less_divergent", "interleaved", "unroll2", "unroll4", "unroll8", "unroll_warps8", "complete_unroll8", "template8")


def ladder(outputs):
    time = by(rows(outputs), "step", "median")
    yield same_order(LADDER, time, {one: published("ladder", one, "time") for one in LADDER})
    yield (f"The whole ladder gains a factor of {time['neighbored'] / time['template8']:.1f}; "
           f"the published one gains {published('ladder', 'neighbored', 'time') / published('ladder', 'template8', 'time'):.1f}.")
    for name, other in (("unroll8_loop", "unroll8"), ("unroll8_rolled", "unroll8"), ("unroll_warps8", "barrier_warps8"), ("complete_unroll8", "barrier_complete8")):
        yield compare(code(name), time[name], code(other), time[other])


def loop(outputs):
    both = {"unroll8": rows(outputs, 0)[0], "unroll8_loop": rows(outputs, 1)[0]}
    yield compare(code("unroll8_loop"), number(both["unroll8_loop"]["median"]), code("unroll8"), number(both["unroll8"]["median"]))
    if "gld_transactions" in both["unroll8"]:
        is_same = all(number(row["gld_transactions"]) == published("loop", name, "load transactions") and
                      number(row["gst_transactions"]) == published("loop", name, "store transactions") for name, row in both.items())
        yield "Transactions are " + ("exactly" if is_same else "not") + " the published ones."


def types(outputs):
    time = by(read_tables(outputs[0])[-1], "T", "best")
    yield compare(code("float"), time["float"], code("int"), time["int"])
    yield compare(code("double"), time["double"], code("float"), time["float"])


def fastest_by(table, column):
    """The shortest time for each value of a column."""
    time = {}
    for row in table:
        if column in row and number(row.get("median", "")) is not None:
            time[row[column]] = min(time.get(row[column], float("inf")), number(row["median"]))
    return time


def extremes(table, column):
    """The slowest value of a column beside the fastest."""
    time = fastest_by(table, column)
    slowest, fastest = max(time, key=time.get), min(time, key=time.get)
    if time[slowest] / time[fastest] - 1 < SAME:
        return f"all {column}s take the same time, within {SAME * 100:.0f}%."
    return compare(code(slowest), time[slowest], code(fastest), time[fastest])


def warp_steps(outputs):
    yield capital(extremes(rows(outputs), "warp_step"))


def trees(outputs):
    yield "With one element a thread: " + extremes(rows(outputs), "tail")
    yield "With the fixed grid: " + extremes(rows(outputs, 1), "tail")
    yield compare("one element a thread", number(rows(outputs)[0]["median"]), "the fixed grid", number(rows(outputs, 1)[0]["median"]))
    yield capital(extremes(rows(outputs, 2), "finish"))


def races(outputs):
    for row in rows(outputs):
        if row["tail"] == "tree" and row["mistake"] != "none":
            yield f"{code(row['mistake'])}: " + ("the sum was wrong." if "why not" in row else "the sum was right, by luck.")


def scans(outputs):
    yield capital(extremes(rows(outputs), "step"))
    yield capital(extremes(rows(outputs, 1), "arrangement"))


def compaction(outputs):
    for i, output in enumerate(outputs):
        yield f"With {output.split('density=')[1].split()[0]} kept: " + extremes(rows(outputs, i), "rank")


def keys(outputs):
    for i, output in enumerate(outputs):
        for memory in ("global", "shared"):
            table = [row for row in rows(outputs, i) if row["counters"] == memory]
            yield f"{capital(output.split('keys=')[1].split()[0])} keys in {memory} memory: " + extremes(table, "equal_keys")


def nested(outputs):
    time = fastest_by(rows(outputs), "step")
    names = ("nested", "nested_nosync", "nested2", "flat")
    yield same_order(names, time, {one: published("nested", one, "time") for one in names})
    yield compare(code("nested"), time["nested"], code("flat"), time["flat"])
    yield f"Published were {times(published('nested', 'nested', 'time') / published('nested', 'flat', 'time'))}."
    yield compare("one grid after the other", time["nested"], "the same grids started at once", number(labelled(outputs[1], "time")))


def dropped(outputs):
    yield "The sum is wrong, because launches were dropped." if "\nfailed  " in outputs[0] else "All launches found room."


def hiding(outputs):
    little = {one: published("little", one, "value") for one in ("bandwidth", "memory clock", "latency", "multiprocessors", "arithmetic latency", "lanes")}
    bytes_a_clock = little["bandwidth"] / little["memory clock"]
    needed = bytes_a_clock * little["latency"]
    warps = needed / 4 / 32
    yield (f"The text's example: {bytes_a_clock:.0f} bytes a clock for {little['latency']:.0f} clocks are {needed / 1000:.0f} kB in flight, {needed / 4:.0f} threads with a float "
           f"each, {warps:.0f} warps, {warps / little['multiprocessors']:.0f} a multiprocessor; its arithmetic needs {little['arithmetic latency'] * little['lanes'] / 32:.0f} warps a multiprocessor.")
    fastest, slowest = span(rows(outputs), "median")
    named = [code(f"loads={row['loads']}", f"blocks_per_sm={row['blocks_per_sm']}") for row in (slowest, fastest)]
    yield compare(named[0], number(slowest["median"]), named[1], number(fastest["median"]))


def scaling(outputs):
    time = by(read_tables(outputs[0])[-1], "n", "best")
    sizes = sorted(time, key=int)
    for a, b in zip(sizes, sizes[1:]):
        yield compare(f"a grid of {int(b) // 1024} blocks", time[b], f"one of {int(a) // 1024}", time[a])


def device(outputs):
    read, bandwidth = labelled(outputs[0], "reads measured"), labelled(outputs[0], "theoretical bandwidth")
    yield f"Reads reach {100 * number(read) / number(bandwidth):.0f}% of the theoretical bandwidth."


DEVICE = ("compute capability", "multiprocessors", "FP32 cores", "SM clock", "FP32 peak", "global memory", "memory clock", "memory bus", "theoretical bandwidth",
          "bytes a memory clock", "bytes an SM clock", "L2 cache", "warp size", "registers per SM", "threads per block", "threads per SM", "reads measured",
          "writes measured", "copies measured", "cores")
SQUARE = "nx={16384|128},ny={16384|128}"
N = "n={2^24|4096}"
DIVERGENCE = ["--fix", "threads=256 block_y=1 unroll=1 items=1", "--by", "variant", "--rows", "all"]
PRINTED = [Command(["run", "--kernel", "mathKernel", "--choice", f"kernel={name}", "--choice", "optimised=no", "--size", "n=64", "--config", "threads=64"],
                   ("problem", "metrics"), metrics="branch_efficiency,branch,divergent_branch")
           for name in ("mathKernel1", "mathKernel2", "mathKernel3", "mathKernel3_two_ifs")]

EXPERIMENTS = [
    Experiment("Block shapes: matrix addition", "Is the fastest shape of a block the one with the highest occupancy, or with the highest load throughput?",
               [Command(["--kernel", "sumMatrix2D", "--size", SQUARE, "--fix", "vector=1 unroll=1 rows=1 cache=plain transposed=false", "--vary", "block_x,block_y", "--rows", "60"],
                        only=SHAPES + ("(256,1)", "(4,32)", "(2,128)", "(1,256)"), metrics="achieved_occupancy,gld_efficiency,gld_throughput")],
               "Neighbouring threads of a wide block access neighbouring addresses. A block that is a few threads wide wastes a part of each sector of 32 bytes that it loads, so its load throughput counts bytes that nobody uses.",
               blocks, "blocks"),
    Experiment("A swapped index", "How much slower is a walk along the columns of the matrix, with the text's shapes?",
               [Command(["--kernel", "sumMatrix2D", "--size", SQUARE, "--fix", "transposed=false vector=1 unroll=1 rows=1 cache=plain", "--vary", "block_x,block_y", "--rows", "60"], ("rows",), FIRST_SHAPES + ("(8,16)", "(64,2)", "(256,4)")),
                Command(["--kernel", "sumMatrix2D", "--size", SQUARE, "--fix", "transposed=true vector=1 unroll=1 rows=1 cache=plain", "--vary", "block_x,block_y", "--rows", "60"],
                        ("rows",), SHAPES, metrics="achieved_occupancy,gld_throughput,gld_efficiency,gst_efficiency")],
               "Neighbouring threads then access addresses that are a row apart. A block that is tall uses more of each sector, because its rows are neighbours in memory.",
               swapped, "swapped"),
    Experiment("A block that cannot be", "Why does (256,8) fail?",
               [Command(["run", "--kernel", "sumMatrix2D", "--size", SQUARE, "--config", "block_x=256 block_y=8 vector=1 unroll=1 rows=1 cache=plain"], ("run",))],
               "A block has at most as many threads as the message says. The text names the limit, and warns that its program went on with wrong results; here nothing starts."),
    Experiment("The CPU beside it", "How much faster than this machine's CPU is a simple kernel?",
               [Command(["run", "--kernel", "reduceClassic", "--size", N, "--type", "int", "--choice", "partials=left", "--config", "step=neighbored threads={512|128} final_threads=1024"], ("time", "verified", "result")),
                Command(["--kernel", "serialSum", "--device", "host", "--size", N, "--type", "int", "--by", "step", "--rows", "all"], ("rows",))],
               "A sum of one core is bound by what one core reads from memory, a sum of all cores by what they read together. The text times the recursion, on one core.",
               cpu, "cpu"),
    Experiment("The printed kernels", "How many branches do the text's short kernels take, and how many of them part a warp?", PRINTED,
               "They are compiled without optimisation, as in the texts, because compilers replace such short branches by instructions with predicates.", printed, "printed"),
    Experiment("Warp divergence", "How much slower is a branch that splits warps than a branch between warps, computing both sides, or two conditions?",
               [Command(["--kernel", "warpDivergence", "--size", N + ",work={256|8}"] + DIVERGENCE, metrics="branch_efficiency,warp_execution_efficiency"),
                Command(["run", "--kernel", "warpDivergence", "--size", N + ",work={256|8}", "--config", "variant=by_warp threads=256 block_y=1 unroll=1 items=1"], ("limit",), metrics="verdict")],
               "The loops of both sides are branches too, which all lanes take alike. They raise branch efficiency; warp execution efficiency shows the idle lanes.", divergence),
    Experiment("Unoptimised code", "What are the branch efficiencies of code in which every condition is a branch?",
               [Command(["--kernel", "warpDivergence", "--size", N + ",work=1", "--choice", "optimised=no"] + DIVERGENCE, ("rows",), metrics="branch_efficiency,warp_execution_efficiency")],
               "Times of unoptimised code say nothing about optimised code."),
    Experiment("Trip counts", "How much slower is a loop whose lanes leave it one by one?",
               [Command(["--kernel", "warpDivergence", "--size", N + ",work={256|8}", "--choice", "cause=trip_count"] + DIVERGENCE, ("rows",), metrics="warp_execution_efficiency")],
               "A warp waits for its longest lane.", trips),
    Experiment("Blocks that end in part of a warp", "How much do blocks of 80, 40 x 2 and 40 threads waste?",
               [Command(["--kernel", "warpDivergence", "--size", N + ",work={256|8}", "--fix", "variant=by_thread unroll=1 items=1", "--vary", "threads,block_y", "--rows", "13"],
                        ("rows",), metrics="warp_execution_efficiency,achieved_occupancy")],
               "The lanes of a warp that has no threads for them idle for the whole life of the block.", partial),
    Experiment("Registers a thread", "How many registers are best: the compiler's choice, a limit, or what a number of resident blocks leaves? How slow is exact division?",
               [Command(["--kernel", "examples/gallery/coulomb.cu", "--size", "n={2^22|512},m={1024|16}", "--fix", "threads=256 points=8 unroll=4 fast=false", "--vary", "registers,min_blocks", "--rows", "14"],
                        ("rows",), metrics="achieved_occupancy"),
                Command(["--kernel", "examples/gallery/coulomb.cu", "--size", "n={2^22|512},m={1024|16}", "--fix", "threads=256 unroll=4 registers=0 min_blocks=0", "--by", "points", "--by", "fast", "--rows", "7"], ("rows",))],
               "A limit on registers lets more blocks be resident, and makes the compiler spill what does not fit.", registers),
    Experiment("The reduction ladder", "How much does each step gain?",
               [Command(["--kernel", "reduceClassic", "--size", N, "--type", "int", "--choice", "partials=left", "--fix", "threads={512|128} final_threads=1024", "--by", "step", "--rows", "all"],
                        ("rows", "by"), metrics="gld_efficiency,gst_efficiency,inst_per_warp,stall_sync,global_hit_rate,gld_throughput")],
               "The gain of a step is over the step that it was made from. The tail of unroll_warps8 lets lanes read what others have written, which needs a meeting of the warp since Volta.",
               ladder, "ladder"),
    Experiment("A loop in place of eight additions", "What does the exercise's loop change?",
               [Command(["--kernel", "reduceClassic", "--size", N, "--type", "int", "--choice", "partials=left", "--fix", "threads={512|128} final_threads=1024 step=unroll8", "--rows", "all"], ("rows",),
                        metrics="achieved_occupancy,gld_transactions,gst_transactions,gld_efficiency,gst_efficiency,gld_throughput,gst_throughput"),
                Command(["--kernel", "reduceClassic", "--size", N, "--type", "int", "--choice", "partials=left", "--fix", "threads={512|128} final_threads=1024 step=unroll8_loop", "--rows", "all"], ("rows",),
                        metrics="achieved_occupancy,gld_transactions,gst_transactions,gld_efficiency,gst_efficiency,gld_throughput,gst_throughput")],
               "The compiler unrolls the loop, so that both have eight loads in flight.",
               loop, "loop"),
    Experiment("int, float and double", "Does the type matter, and how wrong are sums of floats?",
               [Command(["--kernel", "reduceClassic", "--size", N, "--type", "int,float,double", "--fix", "threads={512|128} final_threads=1024", "--by", "T", "--metrics", "error", "--metrics-for", "all", "--rows", "4"],
                        ("rows", "by"))],
               "Each step adds in another order, so sums of floats differ between them; the column `error` is the distance from a sum in double.", types, "data"),
    Experiment("Warp steps", "Shared memory, shuffles, cooperative groups or a vote: which is fastest for the last 32 values?",
               [Command(["--kernel", "warpReduce", "--size", N, "--choice", "operation=count", "--fix", "threads={256|64} blocks_per_sm=8 finish=one_launch unroll={8|1}", "--by", "warp_step", "--rows", "all"], ("rows",))],
               "The steps run once for all elements of a thread; the vote runs for each of them.", warp_steps),
    Experiment("Trees in shared memory", "How much do the tails of a tree differ: with one element a thread, as first written, and with 10240 blocks of 128 threads?",
               [Command(["--kernel", "blockReduce", "--size", "n={100000000|4096}", "--fix", "width=32 threads=128 grid_blocks=0 final_threads=1024 finish=atomic", "--by", "tail", "--rows", "all"], ("rows",)),
                Command(["--kernel", "blockReduce", "--size", "n={100000000|4096}", "--fix", "width=32 threads=128 grid_blocks=10240 final_threads=1024 finish=atomic", "--by", "tail", "--rows", "all"], ("rows",)),
                Command(["--kernel", "blockReduce", "--size", "n={100000000|4096}", "--fix", "tail=tile width=32 threads=128 grid_blocks={2048|256} final_threads=1024", "--by", "finish", "--rows", "all"], ("rows",))],
               "With one element a thread every block adds to one number by an atomic, one after the other. A barrier of the grid needs all blocks to be resident.", trees),
    Experiment("Races", "Do missing barriers show in the results?",
               [Command(["--kernel", "examples/races.cu", "--size", "rows={8192|16}", "--fix", "threads={256|64}", "--by", "mistake", "--rows", "all"], ("rows",))],
               "A result that is right by luck stays undefined. The host backend lets lanes switch in orders that CUDA allows, and compute-sanitizer finds such races on a GPU.", races),
    Experiment("Prefix sums", "How much faster is `__shfl_up_sync` than shared memory, and one pass than two?",
               [Command(["--kernel", "prefixSum", "--size", N, "--type", "int", "--fix", "arrangement=runs threads={256|64} items={4|16}", "--by", "step", "--by", "offsets", "--rows", "all"], ("rows",)),
                Command(["--kernel", "prefixSum", "--size", N, "--type", "int", "--fix", "step=shuffle_up threads={256|64} items={8|16} offsets=sum_scan", "--by", "arrangement", "--rows", "all"], ("rows",))],
               "Neighbouring lanes should load neighbouring elements. In one pass, a tile waits for the tiles before it.", scans),
    Experiment("Stream compaction", "How much do a ballot and the votes any and all gain if half or few of the elements are kept?",
               [Command(["--kernel", "compact", "--size", N, "--choice", f"density={one}", "--fix", "threads={256|64} items={8|16} offsets=count_scan", "--by", "rank", "--by", "shortcut", "--rows", "all"], ("rows",))
                for one in ("half", "few")],
               "A ballot ranks 32 lanes in one instruction. The shortcuts are for warps that keep all elements or none.", compaction),
    Experiment("Equal keys", "Does it pay that lanes with the same key find each other?",
               [Command(["--kernel", "histogram", "--size", N, "--choice", f"keys={one}", "--fix", "threads=256 copies=1 loads=4 blocks_per_sm=8", "--by", "equal_keys", "--by", "counters", "--rows", "all"], ("rows",))
                for one in ("uniform", "skewed", "equal")],
               "Atomics on one address wait for each other, in global memory for longer than in shared memory.", keys),
    Experiment("Greetings from nested grids", "Who launches whom?",
               [Command(["run", "--kernel", "nestedHello", "--once", "--size", "blocks=2,threads=2,elements=4"], ("launch", "depth", "----->"), needs_gpu=True)],
               "With `blocks=32,threads=2,elements=64` it is the published run; fewer are printed here. Lines within a depth come in any order, which CUDA does not define."),
    Experiment("Nested reductions", "How long does a launch from the device take?",
               [Command(["--kernel", "nestedReduce", "--size", "n=524288", "--type", "int", "--fix", "stream=tail threads=512 final_threads=1024", "--by", "step", "--rows", "all"], ("rows",), needs_gpu=True),
                Command(["run", "--kernel", "nestedReduce", "--size", "n=524288", "--type", "int", "--config", "step=nested stream=fire_and_forget threads=512 final_threads=1024"], ("time", "verified"), needs_gpu=True)],
               "A parent may no longer wait for its child. Tail launches run one after the other; what is fired and forgotten runs beside the others.", nested, "nested"),
    Experiment("Dropped launches", "What do launches beyond the limit of pending ones do to a sum?",
               [Command(["run", "--kernel", "nestedReduce", "--choice", "pending=default", "--config", "step=nested stream=tail threads=32 final_threads=1024"], ("problem", "failed"), needs_gpu=True)],
               "A context holds so many launches that wait. One too many is dropped, and the host sees no error.", dropped),
    Experiment("Occupancy by hand", "How many blocks of 256 threads and 32 registers fit, on a Hopper and on a Fermi?",
               [Command(["occupancy", "--threads", "256", "--registers", "32", "--shared", "4k", "--arch", "sm_90"], ("head",)),
                Command(["occupancy", "--threads", "256", "--registers", "32", "--shared", "4k", "--arch", "sm_20"], ("head",))],
               "The text uses the occupancy calculator, a spreadsheet of its day."),
    Experiment("Hiding latency", "More loads in flight in a thread, or more threads?",
               [Command(["--kernel", "reduce", "--size", "n={2^28|4096}", "--type", "float", "--vary", "loads,blocks_per_sm", "--rows", "{20|12}"], ("rows",), metrics="achieved_occupancy"),
                Command(["run", "--kernel", "reduce", "--size", "n={2^28|4096}", "--type", "float"], ("time", "limit"))],
               "Little's law: the bytes in flight are the latency times the rate. Both kinds of parallelism supply them.", hiding, "little"),
    Experiment("More multiprocessors", "Does a kernel gain from every multiprocessor that its grid reaches?",
               [Command(["--kernel", "warpDivergence", "--size", "n={16384|1024},work={4096|8}", "--size", "n={65536|2048},work={4096|8}", "--size", "n={131072|4096},work={4096|8}", "--size", "n={1048576|8192},work={4096|8}",
                         "--fix", "variant=by_warp threads=1024 block_y=1 unroll=1 items=1", "--by", "n"], ("last",))],
               "As long as each block has a multiprocessor of its own, more blocks take no more time.", scaling),
    Experiment("The device", "What are its properties?", [Command(["devices", "--measure"], DEVICE)],
               "A kernel with fewer operations for each byte than peak and bandwidth allow waits for memory.", device),
]
