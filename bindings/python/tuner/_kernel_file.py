"""Writes kernel files (docs/kernel-files.md) for kernels whose tuning is described in Python."""

import dataclasses
import itertools
import math
import os
import pathlib
import re

import numpy

from tuner import _expressions
from tuner._expressions import Untranslatable, literal, possible_name

MOST_DEFAULTS = 200_000  # configurations that are looked at for a default

_TYPES = {"bool": "uint8", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int",
          "uint32": "unsigned", "int64": "int64", "uint64": "uint64", "float16": "half", "float32": "float", "float64": "double",
          "complex64": "float2", "complex128": "double2"}


def element_type(dtype):
    if dtype.name not in _TYPES:
        raise Untranslatable(f"a kernel file has no elements of {dtype}")
    return _TYPES[dtype.name]


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
    default: dict | None = None
    tolerance: tuple = (1e-5, 1e-6)  # relative, absolute
    compare_by_default: bool = True
    """True: without an answer, the results of the default configuration are the right ones. False: none is wrong."""
    left: list = dataclasses.field(default_factory=list)

    @property
    def kernel(self):
        return self.instantiate.partition("<")[0].rpartition(":")[2].strip()

    def configurations(self):
        """Those for which Python's conditions hold."""
        for values in itertools.product(*self.parameters.values()):
            configuration = dict(zip(self.parameters, values))
            if self.is_valid(configuration):
                yield configuration


def without_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', lambda found: found[1] or " ", text, flags=re.S)


def parameters_of(text, kernel):
    """The names of a kernel's parameters, and whether each may only be read; None if the text has no such kernel."""
    text = without_comments(text)
    for found in re.finditer(rf"__global__\s[^;{{}}()]*(?:\([^()]*(?:\([^()]*\))?[^()]*\)[^;{{}}()]*)?\b{re.escape(kernel)}\s*\(", text):
        depth, at, parts = 1, found.end(), [""]
        while at < len(text) and depth > 0:
            depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(text[at], 0)
            if text[at] == "," and depth == 1:
                parts.append("")
            elif depth > 0:
                parts[-1] += text[at]
            at += 1
        names = []
        for part in parts:
            words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]|=.*", "", part))
            if not words or words == ["void"]:
                continue
            names.append((words[-1], bool(re.search(r"\bconst\b", part.partition("*")[0]))))
        return names
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


def _arguments(made, lines, with_contents):
    taken = {possible_name(name) for name in made.parameters} | set(made.sizes) | set(made.constants)
    order, answers = [], []
    has_answers = any(one.answer is not None for one in made.arguments)
    for argument in made.arguments:
        if argument.value is None:
            order.append("nullptr")
            continue
        name = possible_name(argument.name)
        while name in taken:
            name += "_"
        taken.add(name)
        order.append(name)
        if isinstance(argument.value, Buffer):
            lines.add(argument.value.role, f"{name}[{argument.value.count}] : {argument.value.type}")
            if argument.value.fill and argument.value.role != "out":
                lines.add("fill", f"{name} = {lines.fill(argument.value.fill)}")
            if argument.answer is not None:
                answers.append((name, argument.answer))
            continue
        if not isinstance(argument.value, numpy.ndarray):
            kind, value = _scalar(argument.value)
            lines.add("scalar", f"{name} : {kind} = {value}")
            continue
        role = "inout" if argument.answer is not None else "in" if argument.is_const else "consumed" if has_answers else "inout"
        lines.add(role, f"{name}[{argument.value.size}] : {element_type(argument.value.dtype)}")
        if with_contents:
            lines.add("fill", f"{name} = {_fill(argument.value) or 'file ' + lines.array(name, argument.value)}")
        if argument.answer is not None:
            answers.append((name, argument.answer))
    return order, answers


def _fill(array):
    """The fill of an array that needs no file, or None."""
    first = array.flat[0] if array.size else 0
    is_one = array.dtype.kind in "iuf" and numpy.all(array == first) and abs(first) <= 1 << 53
    if not is_one or (array.dtype.kind == "f" and numpy.any(numpy.signbit(array) != numpy.signbit(first))):
        return None  # 0.0 and -0.0 are equal
    return f"constant {int(first) if array.dtype.kind in 'iu' else repr(float(first))}"


def _shape(texts):
    count = max([at + 1 for at, one in enumerate(texts) if one != "1"], default=1)
    return ", ".join(texts[:count])


def write(made, file, with_contents=True, may_replace=True):
    """Writes the kernel file of a description and, unless it is for launches alone, its arrays beside it. Raises
    Untranslatable and OSError."""
    file = pathlib.Path(file)
    lines = _Lines(file, may_replace)
    if not made.kernel.isidentifier():
        raise Untranslatable(f"a kernel cannot have the name {made.kernel[:60]!r}")
    if len({possible_name(name) for name in made.parameters}) < len(made.parameters):
        raise Untranslatable(f"two parameters have one name in a kernel file: {', '.join(made.parameters)}")
    lines.add("kernel", made.kernel)
    for path in made.include_paths:
        lines.add("include_path", f'"{seen_from(file.parent, path)}"')
    if made.sizes:
        lines.add("size", ", ".join(f"{name} : int64 = {value}" for name, value in made.sizes.items()))
    lines.blank()
    macros = {}
    for name, values in made.parameters.items():
        if not name.isidentifier():
            raise Untranslatable(f"a parameter cannot have the name {name!r}")
        lines.add("parameter", f"{possible_name(name)} = {' '.join(_values_of(values))}")
        if possible_name(name) != name and made.parameters_are_macros:
            macros[name] = possible_name(name)
    for at, text in enumerate(made.constraints, 1):
        lines.add("constraint", f"c{at}: {text}")
    if not made.parameters:  # a kernel file has one at least
        lines.add("parameter", "no_parameters_ = 0")
    plain = [name for name in made.parameters if possible_name(name) == name]
    if plain and made.parameters_are_macros:
        lines.add("define", " ".join(plain))
    for name, text in {**macros, **made.macros}.items():
        lines.add("define", f"{name} = {text}")
    for option in made.options:
        lines.add("compile", option)
    lines.blank()
    for name, contents in made.constants.items():
        if isinstance(contents, Buffer):
            lines.add("constant", f"{name}[{contents.count}] : {contents.type}")
            lines.add("fill", f"{name} = {lines.fill(contents.fill) or 'uniform 0 1'}")
        else:
            lines.add("constant", f"{name}[{contents.size}] : {element_type(contents.dtype)}")
            lines.add("fill", f"{name} = file {lines.array(name, contents)}")
    order, answers = _arguments(made, lines, with_contents)
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
    for name, answer in answers:
        lines.add("reference", f"file {name} = {lines.answer(name, answer)}")
    if answers:
        lines.add("tolerance", f"relative {made.tolerance[0]:g} absolute {made.tolerance[1]:g}")
    elif made.compare_by_default and default is not None:
        lines.add("reference", "default")
    for name, value in made.text_macros.items():
        if not name.isidentifier() or "\n" in str(value):
            raise Untranslatable(f"a macro cannot be {name[:60]!r}, {str(value)[:60]!r}")
    text = "\n".join(lines.lines + [""] * bool(made.text_macros) + [f"#define {name} {value}" for name, value in made.text_macros.items()])
    if made.source is not None:
        text += f'\n\n#pragma tuner source      "{seen_from(file.parent, made.source)}"\n'
    else:
        text += "\n\n" + made.text.strip("\n") + "\n"
    comment = [f"// Made from {_printable(made.origin)}."]
    if made.left:
        comment += ["//", "// Left to finish by hand:"] + [f"// - {_printable(one)}." for one in made.left]
    file.write_text("\n".join(comment) + "\n" + text, encoding="utf-8")


def _printable(text):
    """On one line of a comment."""
    return "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))


def seen_from(folder, path):
    text = os.path.relpath(path, folder)
    if any(one in text for one in '"\\\n\r'):
        raise Untranslatable(f"a kernel file cannot name {text!r}")
    return text


def _values_of(values):
    """As kernel files write them: all integers, all truth values, or all words."""
    if all(isinstance(one, bool) for one in values):
        return [literal(one) for one in values]
    if any(isinstance(one, float) for one in values):
        values = [float(one) if not isinstance(one, str) else one for one in values]
    else:
        values = [int(one) if isinstance(one, bool) else one for one in values]
    return list(dict.fromkeys(literal(one) for one in values))


def value_texts(values):
    """The value of each text in a kernel file."""
    return dict(zip(_values_of(values), dict.fromkeys(values)))
