"""Writes kernel files (docs/kernel-files.md) for kernels whose tuning is described in Python."""

import dataclasses
import itertools
import json
import math
import os
import pathlib
import re

import numpy

from tuner._translation import Untranslatable, literal, possible_name, value_texts
from tuner.lib import _native

MOST_DEFAULTS = 200_000  # configurations that are looked at for a default

TYPES = {"bool": "uint8", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int",
          "uint32": "unsigned", "int64": "int64", "uint64": "uint64", "float16": "half", "float32": "float", "float64": "double",
          "complex64": "float2", "complex128": "double2"}


def element_type(dtype):
    if dtype.name not in TYPES:
        raise Untranslatable(f"a kernel file has no elements of {dtype}")
    return TYPES[dtype.name]


@dataclasses.dataclass
class Buffer:
    """A buffer that is described, not given. `role`: in, out or inout."""

    role: str
    type: str
    count: str
    fill: str | pathlib.Path = ""


@dataclasses.dataclass
class Scalar:
    """A number with its type."""

    type: str
    value: str


@dataclasses.dataclass
class Argument:
    """A buffer with its contents, and the right ones where they are known; or a number."""

    name: str
    value: object  # an array, a Buffer, a number, or None: a null pointer
    answer: object = None  # an array, or the path of a file
    is_const: bool = False


@dataclasses.dataclass
class Description:
    """A tuning. Expressions are texts in the language of kernel files."""

    origin: str
    instantiate: str  # the kernel, with its namespaces and template arguments
    text: str
    source: pathlib.Path | None  # the file that the text is from
    parameters: dict  # names and lists of values
    arguments: list
    constants: dict  # the arrays of __constant__ variables
    constraints: list
    is_valid: object  # a function of a configuration: whether Python's conditions hold
    block: list
    grid: list
    threads: object  # a function of a configuration: of a block
    sizes: dict = dataclasses.field(default_factory=dict)
    shared: str = ""
    macros: dict = dataclasses.field(default_factory=dict)  # expressions
    text_macros: dict = dataclasses.field(default_factory=dict)  # the same for all configurations
    parameters_are_macros: bool = True
    options: list = dataclasses.field(default_factory=list)
    include_paths: list = dataclasses.field(default_factory=list)
    launches_kernels: bool = False  # from the device
    default: dict | None = None
    tolerance: tuple = (1e-5, 1e-6)  # relative, absolute
    compare_by_default: bool = True
    """True: without an answer, the results of the default configuration are the right ones. False: none is wrong."""
    left: list = dataclasses.field(default_factory=list)

    @property
    def kernel(self):
        name = self.instantiate.partition("<")[0].rpartition(":")[2].strip()
        if not name.isidentifier():
            raise Untranslatable(f"a kernel cannot have the name {name[:60]!r}")
        return name

    def configurations(self):
        """The ones for which Python's conditions hold."""
        for values in itertools.product(*self.parameters.values()):
            configuration = dict(zip(self.parameters, values))
            if self.is_valid(configuration):
                yield configuration


def without_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', lambda found: found[1] or " ", text, flags=re.S)


def parameters_of(text, kernel):
    """The names of a kernel's parameters, and whether each may only be read; None if the text has no such kernel."""
    try:
        return [(one["name"], one["is_const"]) for one in json.loads(_native.kernel_parameters(text, kernel))]
    except _native.Error:
        return None


def occurs(word, text):
    return re.search(rf"\b{re.escape(word)}\b", without_comments(text)) is not None


def default_of(made):
    """The author's, or else the first valid configuration whose block is nearest to 256 threads; None if there is none."""
    if made.default and made.is_valid(made.default):
        return made.default
    best, distance, names = None, math.inf, list(made.parameters)
    for values in itertools.islice(itertools.product(*made.parameters.values()), MOST_DEFAULTS):
        configuration = dict(zip(names, values))
        threads = made.threads(configuration)
        off = abs(math.log2(threads) - 8) if 1 <= threads <= 1024 else math.inf
        if off < distance and made.is_valid(configuration):
            best, distance = configuration, off
            if off == 0:
                break
    return best


class _Lines:
    """The lines of a kernel file and, in its folder, the files of its arrays."""

    def __init__(self, file, may_replace):
        self.lines, self.folder, self.may_replace = [], file.parent, may_replace
        self.prefix = file.name.removesuffix(".cu").removesuffix(".tuner")

    def add(self, directive, text):
        if any(ord(one) < 32 or ord(one) == 127 for one in text) or text.endswith("\\"):
            raise Untranslatable(f"a line of a kernel file cannot hold {text[:60]!r}")
        self.lines.append(f"#pragma tuner {directive:<11} {text}")

    def blank(self):
        self.lines.append("")

    def array(self, name, contents):
        """Writes an array and returns what stands after `file`."""
        path = self.folder / f"{self.prefix}.{name}.npy"
        if path.exists() and not self.may_replace:
            raise Untranslatable(f"{path}: the file exists: give another name by -o, or replace it by -f")
        numpy.save(path, numpy.ravel(contents, order="K").view(_stored(contents.dtype)))
        return f'"{path.name}"'

    def fill(self, fill):
        """A text, or the path of a file that is there."""
        return f'file "{seen_from(self.folder, fill)}"' if isinstance(fill, pathlib.Path) else fill

    def answer(self, name, answer):
        """An array, or the path of a file that is there."""
        return self.array(name + ".answer", answer) if isinstance(answer, numpy.ndarray) else f'"{seen_from(self.folder, answer)}"'


def _stored(dtype):
    """Truth values are bytes, and complex numbers pairs."""
    return {"bool": "uint8", "complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype)


def _scalar(value):
    """The type and value of a number."""
    if isinstance(value, Scalar):
        return value.type, value.value
    kind = element_type(numpy.asarray(value).dtype)
    if isinstance(value, (bool, numpy.bool_)):
        return "bool", literal(bool(value))
    if kind in ("float", "double", "half"):
        return kind, repr(float(value))
    if kind in ("int64", "uint64") and abs(int(value)) > 1 << 53:
        raise Untranslatable(f"the scalar {value}: kernel files have numbers up to 2^53")
    if kind in ("float2", "double2"):
        return kind, f"{{ {float(value.real)!r}, {float(value.imag)!r} }}"
    return kind, str(int(value))


def _buffer(lines, role, name, value, with_contents=True):
    """Adds a buffer that is described, or an array."""
    if isinstance(value, Buffer):
        count, kind, fill = value.count, value.type, lines.fill(value.fill)
    else:
        value = numpy.ravel(value, order="K").view(numpy.uint8) if value.dtype.names else value  # structs, as their bytes
        count, kind = value.size, element_type(value.dtype)
        fill = with_contents and (_fill(value) or "file " + lines.array(name, value))
    lines.add(role, f"{name}[{count}] : {kind}")
    if fill and role != "out":
        lines.add("fill", f"{name} = {fill}")


def _arguments(made, lines, with_contents):
    """Adds them. Returns their names in order, and the answers by name."""
    taken = {possible_name(name) for name in made.parameters} | set(made.sizes) | set(made.constants)
    order, answers = [], {}
    others = "inout" if all(one.answer is None for one in made.arguments) else "consumed"
    for argument in made.arguments:
        value = argument.value
        if value is None:
            order.append("nullptr")
            continue
        name = possible_name(argument.name)
        while name in taken:
            name += "_"
        taken.add(name)
        order.append(name)
        if not isinstance(value, (Buffer, numpy.ndarray)):
            lines.add("scalar", "{} : {} = {}".format(name, *_scalar(value)))
            continue
        role = value.role if isinstance(value, Buffer) else "inout" if argument.answer is not None else "in" if argument.is_const else others
        _buffer(lines, role, name, value, with_contents)
        if argument.answer is not None:
            answers[name] = argument.answer
    if any(isinstance(one.value, numpy.ndarray) and one.value.dtype.names for one in made.arguments):
        lines.add("aligned", "16")  # bytes may begin anywhere, structs may not
    return order, answers


def _fill(array):
    """The fill of an array that needs no file, or None."""
    if array.size == 0:
        return "constant 0"
    first = array.flat[0]
    is_one = array.dtype.kind in "iuf" and array.flat[-1] == first and numpy.all(array == first) and abs(first) <= 1 << 53
    if not is_one or (array.dtype.kind == "f" and numpy.any(numpy.signbit(array) != numpy.signbit(first))):
        return None  # 0.0 and -0.0 are equal
    return f"constant {int(first) if array.dtype.kind in 'iu' else repr(float(first))}"


def _shape(texts):
    count = max([at + 1 for at, one in enumerate(texts) if one != "1"], default=1)
    return ", ".join(texts[:count])


def _space(made, lines):
    """Adds the sizes, the parameters with what holds for them, and the macros."""
    if made.sizes:
        lines.add("size", ", ".join(f"{name} : int64 = {value}" for name, value in made.sizes.items()))
    lines.blank()
    names = {name: possible_name(name) for name in made.parameters}
    if len(set(names.values())) < len(names):
        raise Untranslatable(f"two parameters have one name in a kernel file: {', '.join(names)}")
    for name, values in made.parameters.items():
        if not name.isidentifier():
            raise Untranslatable(f"a parameter cannot have the name {name!r}")
        lines.add("parameter", f"{names[name]} = {' '.join(value_texts(values))}")
    for at, text in enumerate(made.constraints, 1):
        lines.add("constraint", f"c{at}: {text}")
    if not names:  # a kernel file has one at least
        lines.add("parameter", "no_parameters_ = 0")
    macros = names if made.parameters_are_macros else {}
    if plain := [name for name, here in macros.items() if here == name]:
        lines.add("define", " ".join(plain))
    for name, text in {**{name: here for name, here in macros.items() if here != name}, **made.macros}.items():
        lines.add("define", f"{name} = {text}")
    for option in made.options:
        lines.add("compile", option)
    if made.launches_kernels:
        lines.add("device_launches", "2048")  # as many as wait in a context without more ado
    lines.blank()


def _launch(made, lines, order, answers):
    """Adds how the kernel is launched, and what is right."""
    lines.blank()
    lines.add("instantiate", made.instantiate)
    lines.add("block", _shape(made.block))
    lines.add("grid", _shape(made.grid))
    if made.shared:
        lines.add("shared", made.shared)
    lines.add("arguments", ", ".join(order))
    default = default_of(made)
    if default is not None:
        assigned = [f"{possible_name(name)}={text}" for name, chosen in default.items()
                    for text, value in value_texts(made.parameters[name]).items() if value == chosen]
        lines.add("default", " ".join(assigned or ["no_parameters_=0"]))
    for name, answer in answers.items():
        lines.add("reference", f"file {name} = {lines.answer(name, answer)}")
    if answers:
        lines.add("tolerance", f"relative {made.tolerance[0]:g} absolute {made.tolerance[1]:g}")
    elif made.compare_by_default and default is not None:
        lines.add("reference", "default")


def write(made, file, with_contents=True, may_replace=True):
    """Writes the kernel file of a description and, unless it is for launches alone, its arrays beside it. Raises
    Untranslatable and OSError."""
    file = pathlib.Path(file)
    lines = _Lines(file, may_replace)
    lines.add("kernel", made.kernel)
    for path in made.include_paths:
        lines.add("include_path", f'"{seen_from(file.parent, path)}"')
    _space(made, lines)
    for name, contents in made.constants.items():
        _buffer(lines, "constant", name, contents)
    _launch(made, lines, *_arguments(made, lines, with_contents))
    text = lines.lines + [""] * bool(made.text_macros)
    for name, value in made.text_macros.items():
        if not name.isidentifier() or "\n" in str(value):
            raise Untranslatable(f"a macro cannot be {name[:60]!r}, {str(value)[:60]!r}")
        text.append(f"#define {name} {value}")
    source = made.text.strip("\n") if made.source is None else f'#pragma tuner source      "{seen_from(file.parent, made.source)}"'
    comment = [f"// Made from {printable(made.origin)}."]
    if made.left:
        comment += ["//", "// Left to finish by hand:"] + [f"// - {printable(one)}." for one in made.left]
    file.write_text("\n".join([*comment, *text, "", source, ""]), encoding="utf-8")


def printable(text):
    """On one line of a comment or a terminal."""
    return "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))


def seen_from(folder, path):
    text = os.path.relpath(path, folder)
    if any(one in text for one in '"\\\n\r'):
        raise Untranslatable(f"a kernel file cannot name {text!r}")
    return text
