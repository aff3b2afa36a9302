"""Tuned CUDA kernels for arrays of PyTorch, CuPy, JAX and NumPy.

    import tuner
    tuner.reduce(x)                       # the sum, with the best known kernel for this device, type and size
    k = tuner.Kernel("axpy.cu")           # your own kernel file
    k(2.0, x, y)                          # launched with its best known configuration
    k.tune([x.size], effort="quick")      # measured, verified and stored; later processes use the result

NumPy's arrays are in the host's memory: with TUNER_DEVICE=host, or without a GPU, kernels run on the CPU.
"""

import dataclasses
import json
import numbers
import operator
import re
import struct

from tuner import _arrays, _display
from tuner.lib import _native

Error = _native.Error
"""An error of tuner. `args[0]` says what happened, where, and what to do; `args[1]` is its kind: "not found"."""

__version__ = _native.version()
__all__ = ["Error", "Kernel", "RuleResult", "RunResult", "TuneResult", "metrics", "prepare_reduce", "reduce", "report", "set", "trim", "wisdom"]

_OPERATIONS = {"sum": 0, "min": 1, "max": 2, "product": 3}
_ORDERS = {"fixed": 0, "any": 1}


def _choice(what, value, values):
    if value not in values:
        raise ValueError(f"{what} is {', '.join(values)}, not {value!r}")
    return values[value]


def _reduction(x, op, order, stream):
    """The arguments that all native reductions have: type, address, count, operation, order and stream."""
    address, code, count, _ = _arrays.locate(x)
    if code == _arrays.VOID:
        raise TypeError(f"tuner.reduce takes no arrays of {getattr(x, 'dtype', 'this type')}")
    return (code, address, count, _choice("op", op, _OPERATIONS), _choice("order", order, _ORDERS),
            _arrays.stream_for(x) if stream is None else _arrays.handle_of(stream))


def reduce(x, op="sum", out=None, stream=None, order="fixed"):
    """The sum, "min", "max" or "product" of all elements of an array.

    The reduction is enqueued on the current stream of the array's library, or on `stream`, and its result is a new array
    of one element, in memory of that stream, or `out`. For arrays whose library tuner cannot make arrays of, such as
    NumPy's and JAX's, the call waits and returns a number, unless there is an `out`. Sums and products of 8- and 16-bit
    integers have 64 bits; those of half and bfloat16 are float.

    With order="any", floating-point values are combined in the order in which blocks end, which can be faster.
    """
    if out is None:
        out = _arrays.new_result(x) if stream is None else _arrays.new_result_on(x, stream)
    if out is not None and stream is None and _native.reduce_exchanged(
            x, out, _choice("op", op, _OPERATIONS), _choice("order", order, _ORDERS)):
        return out
    with _arrays.while_read((x,)):
        reduction = _reduction(x, op, order, stream)
        result_code = _arrays.RESULTS[reduction[0]]
        if out is None:
            return struct.unpack("bBhHiIqQe?fd"[result_code], _native.reduce(*reduction))[0]
        to, out_code, out_count, is_const = _arrays.locate(out)
        if out_count < 1 or out_code != result_code or is_const:
            raise ValueError(f"out is a writable array of {_arrays.NAMES[result_code]} with an element")
        if stream is None:
            _arrays.stream_for(out)  # raises if it is not on the current GPU
        _native.reduce_async(to, *reduction)
        return out


def prepare_reduce(x, op="sum", stream=None, order="fixed", captures=64):
    """Does the work of the first `reduce` of this size, so that the next `captures` calls can be captured into graphs."""
    with _arrays.while_read((x,)):
        _native.prepare_reduce(*_reduction(x, op, order, stream), captures)


def set(**settings):
    """Changes settings, before the first launch: `tuner.set(tune="never", device="1")`.

    tune: "auto", "never" or "on_first_use"; tuning_time: seconds; device: "auto", "cuda", "host" or the number of a GPU;
    database: a path; remember_misses: True or False.
    """
    for name, value in settings.items():
        _native.set(name, _text(value))


trim = _native.trim


def metrics():
    """The metrics that have a name: a list of dictionaries with `name`, `unit` and `meaning`."""
    return json.loads(_native.metrics())


def report(kernel="", database=""):
    """The page of `tune report` about all results, or those of one kernel: an object that a notebook shows as a page, and
    whose `save(path)` writes it."""
    return _display.Report(kernel, database)


class _Result:
    def to_pandas(self):
        """A pandas.DataFrame of one row: the configuration's parameters, the numbers of the result, and its metrics."""
        return _display.table([self])

    def _repr_html_(self):
        return _display.table([self])._repr_html_() if _display.has_pandas() else f"<pre>{_display.escaped(str(self))}</pre>"


@dataclasses.dataclass(frozen=True)
class TuneResult(_Result):
    """The result of a tuning."""

    configuration: str
    median_ns: float
    low_ns: float
    high_ns: float
    """The 95% confidence interval of the median."""
    trials: int
    tried: int
    """How many configurations this and earlier calls tried; 0: unknown."""
    valid: int
    """How many configurations there are for this problem; 0: unknown."""
    failures: dict
    """How many configurations failed, by kind: compile, launch, timeout, wrong, invalid."""
    from_cache: bool
    effort: str
    """How much was spent on it: none, quick, normal or thorough."""
    metrics: dict

    def __str__(self):
        origin = "known" if self.from_cache else f"best of {self.trials}"
        return f"{self.configuration}: {_display.time_text(self.median_ns)} ({origin})"


@dataclasses.dataclass(frozen=True)
class RuleResult:
    """At most four configurations, and which sizes get which."""

    branches: list
    """Dictionaries with `condition`, such as "n<65536" or "else", and `configuration`. The first that holds counts."""
    choices: list
    """For each problem that was given, a dictionary with `sizes`, `configuration`, `median_ns` and `regret`: how much slower
    it is than the best that was measured there; 0.01 is 1%. None: it was not measured there."""
    between: dict | None
    """The regret at sizes between, measured by leaving each size out once: `median`, `low` and `high` (its 95% confidence
    interval), `worst` and `sizes` (how many were left out). None: none could be."""
    trials: int
    from_cache: bool

    def __str__(self):
        return "; ".join(f"{one['condition']}: {one['configuration']}" for one in self.branches)


@dataclasses.dataclass(frozen=True)
class RunResult(_Result):
    """The result of running one configuration."""

    configuration: str
    median_ns: float
    low_ns: float
    high_ns: float
    verified: bool
    limit: str
    reason: str
    """Its limit, and the numbers that show it."""
    launches: list
    metrics: dict

    def __str__(self):
        return f"{self.configuration}: {_display.time_text(self.median_ns)}, limited by {self.limit}"


def _seconds(budget):
    """`30`, `"30s"`, `"5m"`; None: 0, no limit."""
    if budget is None:
        return 0.0
    try:
        factor = {"s": 1, "m": 60, "h": 3600}[budget[-1:]] if isinstance(budget, str) else 1
        seconds = float(budget[:-1] if isinstance(budget, str) else budget) * factor
    except (KeyError, ValueError):
        seconds = 0
    if not seconds > 0:
        raise ValueError(f"budget is a positive time, such as 30 or '30s', '5m', '2h', not {budget!r}")
    return seconds


def _integers(sizes):
    try:
        integers = [operator.index(one) for one in sizes]
    except TypeError:
        raise TypeError(f"sizes are a list of integers, such as [1024, 768], not {sizes!r}") from None
    for number, one in enumerate(integers, 1):
        _whole(f"size {number}", one, -2**63, 2**63 - 1)
    return integers


def _whole(name, value, least, most):
    """`value`, an integer. Raises OverflowError with its `name` if it does not fit."""
    value = operator.index(value)
    if not least <= value <= most:
        raise OverflowError(f"{name} is {value}, which is not from {least} to {most}")
    return value


def _text(value):
    """As tuner writes it: `true` for True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _assignments(values):
    return " ".join(f"{name}={_text(value)}" for name, value in values.items())


class Kernel:
    """A kernel file: its path, the name of a kernel that comes with tuner, or with `text=` its contents.

    Calling it launches it: `k(a, x, y)`, with the arrays in the order of its buffers and the numbers in that of its
    scalars. Sizes follow from the arrays where a buffer's count is a size, or a product of sizes as long as the array's
    shape; otherwise use `launch`.

    `use`: how its launches are used, "single", "hot", "stream" or "graph": results for that come before those for single
    launches. None: results for graphs come first while a launch is captured.
    """

    def __init__(self, name_or_path=None, *, text=None, name="kernel", use=None, **choices):
        if (name_or_path is None) == (text is None):
            raise TypeError("a kernel has a name or path, or a text")
        made = _native.Kernel.from_text(text, name) if text is not None else _native.Kernel.from_file(str(name_or_path))
        made = made.with_choices(_assignments(choices)) if choices else made
        self._native = made.used_as(use) if use is not None else made
        about = json.loads(self._native.json())
        self.name = about["name"]
        self.choices = {one["name"]: one["values"] for one in about["choices"]}
        self.parameters = {one["name"]: one["values"] for one in about["parameters"]}
        self.sizes = [one["name"] for one in about["sizes"]]
        self._buffers = [one for one in about["arguments"] if one["role"] != "scalar"]
        self._fixed = choices
        self._needed = {}  # elements of each buffer, by sizes and types, unless other names matter, such as the device's limits
        self._counts_sizes = all(name in self.sizes for one in self._buffers for name in re.findall(r"[A-Za-z_]\w*\b(?!\()", one["count"]))

    def __repr__(self):
        return f"<tuner.Kernel {self.name} of {', '.join(self.sizes)}>"

    def __call__(self, *arguments, stream=None):
        arrays = [one for one in arguments if one is None or not (_arrays.is_number(one) or _arrays.is_struct(one))]
        self.launch(self._sizes_of(arrays), *arguments, stream=stream)

    def launch(self, sizes, *arguments, stream=None):
        """Enqueues the kernel for these sizes, in the order of the kernel file, and returns. With an array of JAX, waits until
        the kernel has ended."""
        with _arrays.while_read(arguments):
            self._native.launch(*self._call(sizes, arguments, stream))

    def prepare(self, sizes, *arguments, stream=None, captures=64):
        """Does the work of a first launch, so that the next `captures` launches can be captured into graphs."""
        with _arrays.while_read(arguments):
            self._native.prepare(*self._call(sizes, arguments, stream), _whole("captures", captures, 0, 2**64 - 1))

    def tune(self, sizes, *, effort=None, budget=None, trials=0, strategy="", seed=1, force=False, isolated=False, check_on_host=False,
             metrics=(), use="single", on_trial=None, **choices):
        """Finds and stores the best configuration for these sizes and choices (`T="float"`): a TuneResult.

        `effort`: "none" (nothing is measured), "quick", "normal" or "thorough"; None: the setting "effort". Experts limit the
        search by `budget`, a time such as "30s", or `trials`, a number of configurations, in its place.
        `isolated`: run configurations in worker processes, which take the faults. On a GPU, kernels that are verified on
        problems of tuner's own choice always run there.
        `use`: as for a kernel; each use has results of its own.
        `on_trial(finished, best_ns)` is called after every trial and returns False to stop early; without it, a terminal or
        notebook shows how far the tuning is. Ctrl-C stops too, and finished trials are kept.
        """
        if on_trial is None and _display.is_watched():
            with _display.Progress(self.name) as on_trial:
                return self.tune(sizes, effort=effort, budget=budget, trials=trials, strategy=strategy, seed=seed, force=force, isolated=isolated,
                                 check_on_host=check_on_host, metrics=metrics, use=use, on_trial=on_trial, **choices)
        trials, seed = _whole("trials", trials, 0, 2**64 - 1), _whole("seed", seed, 0, 2**64 - 1)
        text = self._native.tune(_integers(sizes), _assignments(choices), _seconds(budget), trials, strategy, seed, force, isolated,
                                 check_on_host, ",".join(metrics), use, effort or "", on_trial)
        return TuneResult(**json.loads(text))

    def tune_together(self, problems, *, effort=None, budget=None, trials=0, seed=1, force=False, isolated=False, use="single",
                      on_trial=None, **choices):
        """Finds and stores one rule for several sizes and those between: a RuleResult. `problems` is a list of sizes, such as
        [[1000], [30000]].

        `effort`, `budget` and `trials` are those of one size; a race of all makes at most 1.5 times its trials. The rest is as in
        tune().
        """
        if on_trial is None and _display.is_watched():
            with _display.Progress(self.name) as on_trial:
                return self.tune_together(problems, effort=effort, budget=budget, trials=trials, seed=seed, force=force,
                                          isolated=isolated, use=use, on_trial=on_trial, **choices)
        trials, seed = _whole("trials", trials, 0, 2**64 - 1), _whole("seed", seed, 0, 2**64 - 1)
        text = self._native.tune_together([_integers(one) for one in problems], _assignments(choices), _seconds(budget), trials,
                                          seed, force, isolated, use, effort or "", on_trial)
        return RuleResult(**json.loads(text))

    def run(self, sizes, configuration="", *, verify=True, metrics=(), use="single", **choices):
        """Compiles, verifies and times one configuration, such as "block=256" or {"block": 256}: a RunResult."""
        if isinstance(configuration, dict):
            configuration = _assignments(configuration)
        return RunResult(**json.loads(
            self._native.run(_integers(sizes), _assignments(choices), configuration, verify, ",".join(metrics), use)))

    def explain(self, sizes, **choices):
        """One sentence: the configuration that a launch uses, and how it was found."""
        return self._native.explain(_integers(sizes), _assignments(choices))

    def _sizes_of(self, arrays):
        known, given_by = {}, {}

        def learn(buffer, found):
            for name, value in found:
                if known.setdefault(name, value) != value:
                    raise ValueError(f"{self.name}: {name} is {known[name]} by {given_by[name]}, and {value} by {buffer['name']}: "
                                     f"use launch([{', '.join(self.sizes)}], …)")
                given_by.setdefault(name, buffer["name"])

        products = []
        for buffer, array in zip(self._buffers, arrays):
            names = [name.strip() for name in buffer["count"].split("*")]
            if array is None or not all(name in self.sizes for name in names):
                continue
            if len(names) == 1:
                learn(buffer, [(names[0], self._count(buffer, array, *_arrays.locate(array)[1:3]))])
            elif len(names) == len(array.shape):
                products.append((buffer, names, array.shape))
        for buffer, names, shape in products:
            # `nx * ny`: rows of nx elements, so nx is the last extent, unless others say that it is the first
            ways = [list(zip(names, extents)) for extents in (reversed(shape), shape)]
            learn(buffer, max(ways, key=lambda one: sum(known.get(name) == value for name, value in one)))
        missing = [name for name in self.sizes if name not in known]
        if missing:
            raise TypeError(f"{self.name}: the arrays do not give {', '.join(missing)}: use launch([{', '.join(self.sizes)}], …)")
        return [known[name] for name in self.sizes]

    def _count(self, buffer, array, code, count):
        """The number of an array's elements, as the kernel counts them: components one by one."""
        if code != _arrays.VOID:
            return count
        item, components = _arrays.item_bytes(array), buffer["components"]
        of_kernel = _arrays.CODES.get(self._fixed.get(buffer["type"], buffer["type"]))  # None: by the other arrays
        if item is not None and of_kernel is not None:
            wanted = components * _native.type_bytes(of_kernel)
            if wanted == 1:
                return count * item  # the kernel takes any bytes
            if item != wanted:
                raise TypeError(f"{self.name}: the elements of {buffer['name']} have {item} bytes, the kernel's have {wanted}")
        return count * components

    def _call(self, sizes, arguments, stream):
        """The native arguments of a launch. Raises ValueError if an array is shorter than the kernel needs."""
        sizes, arrays = _integers(sizes), []
        handle, given = 0 if stream is None else _arrays.handle_of(stream), []
        for number, one in enumerate(arguments, 1):
            if one is not None and _arrays.is_number(one):
                given.append(_whole(f"{self.name}: argument {number}", one, -2**63, 2**64 - 1)
                             if isinstance(one, numbers.Integral) else float(one))
                continue
            if _arrays.is_struct(one):
                given.append(one.tobytes() if hasattr(one, "tobytes") else bytes(one))
                continue
            address, code, count, is_const = (0, _arrays.VOID, 0, False) if one is None else _arrays.locate(one)
            arrays.append((one, code, count))
            if stream is None and one is not None:
                current = _arrays.stream_for(one)  # for every array: it raises if one is not on the current GPU
                handle = handle or current
            given.append((address, code, is_const))
        if len(arrays) == len(self._buffers):
            for buffer, array, needed in zip(self._buffers, arrays, self._elements(sizes, [code for _, code, _ in arrays])):
                if array[0] is not None and (has := self._count(buffer, *array)) < needed:
                    raise ValueError(f"{self.name}: {buffer['name']} has {has} elements, and the kernel needs {needed}")
        return sizes, given, handle

    def _elements(self, sizes, codes):
        key = (*sizes, *codes)
        needed = self._needed.get(key)
        if needed is None:
            types = {buffer["type"]: _arrays.NAMES[code] for buffer, code in zip(self._buffers, codes)
                     if code != _arrays.VOID and buffer["type"] in self.choices and buffer["type"] not in self._fixed}
            needed = self._native.elements(sizes, _assignments(types))
            if self._counts_sizes and len(self._needed) < 1000:
                self._needed[key] = needed
        return needed


class wisdom:
    """Databases of results. A database is a path; "" is the user's."""

    @staticmethod
    def export(kernel="", database=""):
        """The best configurations, of one kernel or of all, as text for review."""
        return _native.export_wisdom(database, kernel)

    @staticmethod
    def load(text, database="", source="wisdom"):
        """Adds such a text, all of it or nothing. Returns how many results are new."""
        return _native.import_wisdom(database, text, source)

    @staticmethod
    def merge(into, *databases):
        """Adds everything in databases to one. Returns how many best configurations are new."""
        return _native.merge_wisdom(str(into), [str(one) for one in databases])

    @staticmethod
    def freeze(frozen, *databases):
        """Makes a database that alone answers every call while TUNER_FROZEN names it."""
        _native.freeze_wisdom(str(frozen), [str(one) for one in databases])
