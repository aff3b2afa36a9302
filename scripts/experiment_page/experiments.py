"""The experiments as data: commands, how it works without a number or a judgement, and the functions of their sentences."""

import dataclasses

from experiment_page import reductions, sentences as say


@dataclasses.dataclass
class Command:
    words: str
    """After `tune`, quoted as in a shell; `{large|small}` chooses by whether there is a GPU."""
    keep: tuple = ("rows",)
    """Parts of the output: rows (the table), by (the summary), limit; head (the first part); or lines with these labels and the lines
    that continue them (`first limit`: the first line alone)."""
    only: dict = dataclasses.field(default_factory=dict)
    """The cells of these columns whose rows are wanted."""
    metrics: str = ""
    """Hardware counters, for every configuration, where there is a GPU."""
    needs_gpu: bool = False
    """The kernel launches kernels, which the host backend cannot, nor every installation of CUDA."""
    expected_to_fail: bool = False

    @property
    def may_fail(self):
        """A refusal is then a part of the output, and does not end the page. A command with a mistake always does."""
        return self.needs_gpu or self.expected_to_fail


@dataclasses.dataclass
class Experiment:
    title: str
    question: str
    commands: list
    how: str
    """How it works."""
    sentences: tuple = ()
    """Functions of the outputs; each yields sentences until it misses a row."""
    published: str = ""
    """The key of the published figures that are shown."""


SQUARE = "--size nx={16384|128},ny={16384|128}"
N = "--size n={2^24|4096}"
PLAIN = "vector=1 unroll=1 rows=1 cache=plain"
ALL_SHAPES = "--vary block_x,block_y --rows 60"
WORK = "--size n={2^24|4096},work={256|8}"
VARIANTS = '--fix "threads=256 block_y=1 unroll=1 items=1" --by variant --rows all'
SUM = f"--kernel reduceClassic {N} --type int --choice partials=left"
LAUNCH = "threads={512|128} final_threads=1024"
LOOP = "achieved_occupancy,gld_transactions,gst_transactions,gld_efficiency,gst_efficiency,gld_throughput,gst_throughput"
COULOMB = "--kernel examples/gallery/coulomb.cu --size n={2^22|512},m={1024|16}"
TREE = "--kernel blockReduce --size n={100000000|4096}"
OCCUPANCY = "occupancy --threads 256 --registers 32 --shared 4k --arch"
LATENCY = "warpReduce --size n={2^28|4096} --type float --choice operation=sum"
SCALING = " ".join(f"--size n={{{large}|{small}}},work={{4096|8}}" for large, small in
                   ((16384, 1024), (65536, 2048), (131072, 4096), (1048576, 8192)))
DEVICE = ("compute capability", "multiprocessors", "FP32 cores", "SM clock", "FP32 peak", "global memory", "memory clock", "memory bus",
          "theoretical bandwidth", "bytes a memory clock", "bytes an SM clock", "L2 cache", "warp size", "registers per SM", "registers per block", "shared memory per block", "constant memory",
          "threads per block", "threads per SM", "reads measured", "writes measured", "copies measured", "cores")

MATRICES = [
    Experiment(
        "Block shapes: matrix addition",
        "Is the fastest shape of a block the one with the highest occupancy, or with the highest load throughput?",
        [Command(f'--kernel sumMatrix2D {SQUARE} --fix "{PLAIN} transposed=false" {ALL_SHAPES}', ("rows", "limit"),
                 {"block": say.SHAPES_OF_BOTH + ("(256,1)", "(4,32)", "(2,128)", "(1,256)")}, "achieved_occupancy,gld_efficiency,gld_throughput")],
        "Neighbouring threads of a wide block access neighbouring addresses. A block that is less than eight floats wide wastes a part of each "
        "sector that it loads, and load throughput counts the bytes that nobody uses as well.",
        (say.fastest_shape, say.shapes_of_the_text, say.indicators), "blocks"),
    Experiment(
        "A swapped index", "How much does a walk along the columns of the matrix cost, with the text's shapes?",
        [Command(f'--kernel sumMatrix2D {SQUARE} --fix "transposed=false {PLAIN}" {ALL_SHAPES}', ("rows",),
                 {"block": say.FIRST_SHAPES + ("(64,2)", "(256,4)")}),
         Command(f'--kernel sumMatrix2D {SQUARE} --fix "transposed=true {PLAIN}" {ALL_SHAPES}', ("rows",), {"block": say.SHAPES + ("(1,256)",)},
                 "achieved_occupancy,gld_throughput,gld_efficiency,gst_efficiency")],
        "Threads that are neighbours along x then access addresses that are a row apart. Threads that are neighbours along y access "
        "neighbouring addresses. A narrow block therefore uses more of each sector in one load, and a tall one finds the rest in a "
        "cache.",
        (say.swapped, say.swapped_against_text), "swapped"),
    Experiment(
        "A block that cannot be", "Why does (256,8) fail?",
        [Command(f'run --kernel sumMatrix2D {SQUARE} --config "block_x=256 block_y=8 {PLAIN}"', (), expected_to_fail=True)],
        "Text D names the limit, and warns that its program went on with wrong results; `tune` starts nothing.",
        (say.impossible,)),
    Experiment(
        "The CPU beside it", "How does a simple kernel compare with this machine's CPU?",
        [Command(f'run {SUM} --config "step=neighbored {LAUNCH}"', ("time", "verified", "result")),
         Command(f"--kernel serialSum --device host {N} --type int --by step --rows all")],
        "Text B times one core; text D prints a recursion and times a plain loop. The sum by all cores gives each core a contiguous part.",
        (say.cpu, say.sums), "cpu"),
]

DIVERGENCE = [
    Experiment(
        "The printed kernels", "How many branches do the text's short kernels take, and how many of them part a warp?",
        [Command(f"run --kernel mathKernel --choice kernel={name} --choice optimised=no --size n=64 --config threads=64",
                 ("metrics",), metrics="branch_efficiency,branch,divergent_branch")
         for name in ("mathKernel1", "mathKernel2", "mathKernel3", "mathKernel3_two_ifs")],
        "They are compiled without optimisation, as in the texts, because compilers replace such short branches by instructions with "
        "predicates.",
        (say.printed_kernels,), "printed"),
    Experiment(
        "Warp divergence",
        "How much does a branch that splits warps cost? Beside it: a branch between warps, computing both sides, and two conditions.",
        [Command(f"--kernel warpDivergence {WORK} {VARIANTS}", metrics="branch_efficiency,warp_execution_efficiency"),
         Command(f'run --kernel warpDivergence {WORK} --config "variant=by_warp threads=256 block_y=1 unroll=1 items=1"',
                 ("first limit",), metrics="verdict")],
        "The loops of both sides are branches too, which all lanes take alike. They raise branch efficiency; warp execution efficiency "
        "shows the idle lanes.",
        (say.divergence,)),
    Experiment(
        "Unoptimised code", "How high is the branch efficiency of code in which every condition is a branch?",
        [Command(f"--kernel warpDivergence {N},work=1 --choice optimised=no {VARIANTS}",
                 metrics="branch_efficiency,warp_execution_efficiency")],
        "Times of unoptimised code say nothing about optimised code.",
        (say.unoptimised,)),
    Experiment(
        "Trip counts", "How much does a loop cost if its lanes leave it one by one?",
        [Command(f"--kernel warpDivergence {WORK} --choice cause=trip_count {VARIANTS}", only={"variant": ("by_warp", "by_thread", "predicated")},
                 metrics="warp_execution_efficiency")],
        "A warp waits for its longest lane.",
        (say.trips,)),
    Experiment(
        "Blocks that end in part of a warp", "How much do blocks cost if their last warp is not full?",
        [Command(f'--kernel warpDivergence {WORK} --fix "variant=by_thread unroll=1 items=1" --vary threads,block_y --rows 13',
                 only={"block": ("(32,1)", "(40,1)", "(40,2)", "(80,1)", "(128,1)")},
                 metrics="warp_execution_efficiency,achieved_occupancy")],
        "The lanes of a warp that has no threads for them idle for the whole life of the block.",
        (say.partial,)),
    Experiment(
        "Registers a thread",
        "How many registers are best: the compiler's choice, a limit, or what a number of resident blocks leaves? What does exact "
        "division cost?",
        [Command(f'{COULOMB} --fix "threads=256 points=8 unroll=4 fast=false" --vary registers,min_blocks --rows 14',
                 only={"min_blocks": ("0", "4", "6", "8")}, metrics="achieved_occupancy"),
         Command(f'{COULOMB} --fix "threads=256 unroll=4 registers=0 min_blocks=0" --by points --by fast --rows 6')],
        "A limit on registers lets more blocks be resident, and makes the compiler spill what does not fit.",
        (say.registers, say.fast_division)),
]

REDUCTIONS = [
    Experiment(
        "The reduction ladder", "How much does each step gain?",
        [Command(f'{SUM} --fix "{LAUNCH}" --by step --rows all', ("rows", "by"),
                 metrics="gld_efficiency,gst_efficiency,inst_per_warp,stall_sync,global_hit_rate,gld_throughput,dram_read_throughput")],
        "The gain of a step is over the step that it was made from. The tail of `unroll_warps8` lets lanes read what others have "
        "written, which needs a meeting of the warp since Volta.",
        (reductions.ladder, reductions.most_gain, reductions.ladder_counters, reductions.ladder_efficiency, reductions.ladder_reads),
        "ladder"),
    Experiment(
        "The ladder in larger blocks", "How much do the same steps gain in blocks as large as those of text D?",
        [Command(f'{SUM} --fix "threads=1024 final_threads=1024" --by step --rows all', only={"step": reductions.LADDER},
                 metrics="gld_efficiency,gst_efficiency,inst_per_warp,stall_sync,gld_throughput,dram_read_throughput")],
        "Text D times two programs with the host's clock, each kernel once, and prints the seconds as \"ms\". Its first program has the "
        "first three steps.",
        (reductions.large_ladder, reductions.large_counters, reductions.large_efficiency), "large_ladder"),
    Experiment(
        "A loop in place of eight additions", "How much does the exercise's loop change?",
        [Command(f'{SUM} --fix "{LAUNCH} step={step}" --rows all', metrics=LOOP) for step in ("unroll8", "unroll8_loop")],
        "A compiler may unroll the loop; the ladder has the same loop kept rolled as well, `unroll8_rolled`.",
        (reductions.loop,), "loop"),
    Experiment(
        "int, float and double", "Does the type matter, and how wrong are sums of floats?",
        [Command(f'--kernel reduceClassic {N} --type int,float,double --fix "{LAUNCH}" --by T --rows 4', ("by",), metrics="error"),
         Command(f'--kernel reduceClassic --size n={{10000000|40960}} --type float --fix "{LAUNCH}" --by step --rows all',
                 only={"step": reductions.FLOAT_STEPS}, metrics="error"),
         Command(f"--kernel serialSum --device host {N} --type float --fix lanes=1 --by step --rows all", metrics="error")],
        "Each step adds in another order, and floats are rounded after each addition. The column `error` is the relative distance from a "
        "sum in double.",
        (reductions.types, reductions.float_errors)),
]

WARP_FUNCTIONS = [
    Experiment(
        "Warp steps", "Shared memory, shuffles, cooperative groups or a vote: which is fastest for the last values of a warp?",
        [Command(f'--kernel warpReduce {N} --choice operation=count --fix "threads={{256|64}} blocks_per_sm=8 finish=one_launch '
                 'unroll={8|1}" --by warp_step --rows all')],
        "The steps run once for all elements of a thread; the vote runs for each of them.",
        (say.warp_steps,)),
    Experiment(
        "Trees in shared memory",
        "How much do the tails of a tree differ: with one element a thread, as first written, and with a fixed grid?",
        [Command(f'{TREE} --fix "width=32 threads=128 grid_blocks={blocks} final_threads=1024 finish=atomic" --by tail --rows all')
         for blocks in (0, 10240)] +
        [Command(f'{TREE} --fix "tail=tile width=32 threads=128 grid_blocks={{2048|256}} final_threads=1024" --by finish --rows all')],
        "With one element a thread there are as many blocks as that needs, and each adds to one number by an atomic. A barrier of the "
        "grid needs all blocks to be resident.",
        (say.trees, say.finishes)),
    Experiment(
        "Races", "Do missing barriers show in the results?",
        [Command('--kernel examples/races.cu --size rows={8192|16} --fix "threads={256|64}" --by mistake --rows all')],
        "A result that is right by luck stays undefined. The host backend lets lanes switch in orders that CUDA allows, and "
        "compute-sanitizer finds such races on a GPU.",
        (say.races,)),
    Experiment(
        "Prefix sums", "How do `__shfl_up_sync` and shared memory compare, and one pass and two?",
        [Command(f'--kernel prefixSum {N} --type int --fix "arrangement=runs threads={{256|64}} items={{4|16}}" --by step --by offsets '
                 "--rows all"),
         Command(f'--kernel prefixSum {N} --type int --fix "step=shuffle_up threads={{256|64}} items={{8|16}} offsets=sum_scan" '
                 "--by arrangement --rows all")],
        "Neighbouring lanes should load neighbouring elements. In one pass, `look_back`, a tile waits for the tiles before it.",
        (say.scans, say.arrangements)),
    Experiment(
        "Stream compaction", "How much do a ballot and the votes any and all gain or cost if half or few of the elements are kept?",
        [Command(f'--kernel compact {N} --choice density={density} --fix "threads={{256|64}} items={{8|16}} offsets=count_scan" '
                 "--by rank --by shortcut --rows all", only={"shortcut": ("none", "any", "all")}) for density in ("half", "few")],
        "A ballot ranks all lanes of a warp in one instruction. The shortcuts are for warps that keep all elements or none.",
        (say.compaction,)),
    Experiment(
        "Equal keys", "Does it pay if lanes with the same key find each other?",
        [Command(f'--kernel histogram {N} --choice keys={keys} --fix "threads=256 copies=1 loads=4 blocks_per_sm=8" --by equal_keys '
                 "--by counters --rows all") for keys in ("uniform", "skewed", "equal")],
        "In global memory, atomics on one address wait for each other.",
        (say.keys, say.equal_keys)),
]

NESTED = [
    Experiment(
        "Greetings from nested grids", "Who launches whom?",
        [Command("run --kernel nestedHello --once --size blocks=2,threads=2,elements=4", ("depth", "----->"), needs_gpu=True),
         Command("run --kernel nestedHello --choice greetings=silent --size blocks=32,threads=2,elements=64", ("verified", "result"),
                 needs_gpu=True)],
        "Each block launches one with half as many threads as it has elements, until one element is left. CUDA does not define the "
        "order of lines that no launch connects.",
        (say.greetings, say.whole_greetings)),
    Experiment(
        "Nested reductions", "How long does a launch from the device take?",
        [Command('--kernel nestedReduce --size n=524288 --type int --fix "stream=tail threads=512 final_threads=1024" --by step --rows all',
                 needs_gpu=True),
         Command('run --kernel nestedReduce --size n=524288 --type int --config "step=nested stream=fire_and_forget threads=512 '
                 'final_threads=1024"', ("time", "verified"), needs_gpu=True),
         Command('--kernel serialSum --device host --size n=524288 --type int --fix "step=recursive lanes=1"')],
        "A parent may no longer wait for its child. Tail launches run one after the other; what is fired and forgotten runs beside the "
        "others.",
        (say.nested, say.nested_on_the_cpu, say.at_once), "nested"),
    Experiment(
        "Dropped launches", "How wrong does a sum become if more launches are pending than the limit allows?",
        [Command('run --kernel nestedReduce --choice pending=default --config "step=nested stream=tail threads=32 final_threads=1024"',
                 ("problem", "failed", "verified", "result"), needs_gpu=True)],
        "A context holds a limited number of launches that wait. One too many is dropped, and the host sees no error.",
        (say.dropped,)),
]

RESOURCES = [
    Experiment(
        "Occupancy by hand", "How many blocks fit on a multiprocessor of Hopper (`sm_90`), Kepler (`sm_35`) and Fermi (`sm_20`)?",
        [Command(f"{OCCUPANCY} {architecture}", ("head",)) for architecture in ("sm_90", "sm_35", "sm_20")],
        "Text E uses the occupancy calculator, a spreadsheet of its day.",
        (say.occupancy,)),
    Experiment(
        "Hiding latency", "More loads in flight in a thread, or more threads?",
        [Command(f'--kernel {LATENCY} --fix "warp_step=shuffle_down threads=256 finish=one_launch" --vary unroll,blocks_per_sm --rows 24',
                 only={"blocks_per_sm": ("1", "2", "4", "8")}, metrics="achieved_occupancy,eligible_warps_per_cycle,issue_slot_utilization"),
         Command(f'run --kernel {LATENCY} --config "warp_step=shuffle_down threads=256 finish=one_launch unroll=1 blocks_per_sm=1"',
                 ("time", "limit"))],
        "Little's law: the bytes in flight are the latency times the rate. Both kinds of parallelism supply them. Rows of larger grids, "
        "whose blocks are not all resident, are left out.",
        (say.little, say.hiding), "little"),
    Experiment(
        "More multiprocessors", "Does a kernel gain from every multiprocessor that its grid reaches?",
        [Command(f'--kernel warpDivergence {SCALING} --fix "variant=by_warp threads=1024 block_y=1 unroll=1 items=1" --by n', ("by",))],
        "A block runs on one multiprocessor. If a grid has more blocks than there are multiprocessors, several share one.",
        (say.scaling,)),
    Experiment(
        "The device", "Which properties does this device have?", [Command("devices --measure", DEVICE)],
        "A kernel reads and writes memory at most at the measured rates.",
        (say.device,), "device"),
]

EXPERIMENTS = MATRICES + DIVERGENCE + REDUCTIONS + WARP_FUNCTIONS + NESTED + RESOURCES
