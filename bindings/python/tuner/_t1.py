"""Descriptions of tunings by the schema T1, also with the members that the benchmark hub of Kernel Tuner adds."""

import ast
import json
import math
import pathlib
import re

from tuner import _expressions, _kernel_file
from tuner._translation import Untranslatable, literal, possible_name
from tuner.kernel_tuner import _describe

_TYPES = {**_kernel_file.TYPES, "char": "int8", "short": "int16", "int": "int", "unsigned": "unsigned", "long": "int64", "half": "half",
          "float": "float", "double": "double"}
_VECTOR = re.compile(r"(half|float|double|int|uint|char|uchar|short|ushort)([234])$")
_READ = {
    "": ("ConfigurationSpace", "KernelSpecification", "General", "Search", "SearchSettings", "Budget", "BenchmarkConfig"),
    "ConfigurationSpace: ": ("TuningParameters", "Conditions"),
    "KernelSpecification: ": ("Language", "CompilerOptions", "BenchmarkName", "BenchmarkPath", "KernelName", "KernelFile",
                              "GlobalSizeType", "LocalSize", "GlobalSize", "GridDivX", "GridDivY", "GridDivZ", "ProblemSize",
                              "SharedMemory", "Stream", "Arguments", "ReferenceArguments", "Device", "Profiling",
                              "SimulationInput", "Misc")}


class _Reader:
    def __init__(self, file):
        self.folder = file.parent
        try:
            root = json.loads(file.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Untranslatable(f"{file}: it is no JSON: {error}") from None
        if not isinstance(root, dict) or not all(isinstance(root.get(one), dict) for one in ("ConfigurationSpace", "KernelSpecification")):
            raise Untranslatable(f'{file}: no T1 description: it needs "ConfigurationSpace" and "KernelSpecification"')
        self.space, self.kernel, self.left = root["ConfigurationSpace"], root["KernelSpecification"], []
        if not self.kernel.get("KernelName"):
            raise Untranslatable(f'{file}: "KernelName" is missing')
        for where, members in (("", root), ("ConfigurationSpace: ", self.space), ("KernelSpecification: ", self.kernel)):
            for name, value in members.items():
                if name not in _READ[where] and value not in (None, []):
                    self.left.append(f"{where}{name} is not translated: {json.dumps(value)[:60]}")
        self.parameters, self.default, self.has_default = {}, {}, False
        for one in self.space.get("TuningParameters", []):
            self._parameter(one)
        if not self.parameters:
            raise Untranslatable(f"{file}: none of its parameters could be read")

    def _parameter(self, one):
        name, values = one.get("Name", ""), one.get("Values")
        try:
            values = _value(values) if isinstance(values, str) else values
            values = list(values) if isinstance(values, (list, tuple, range)) else [values]
            for value in values:
                literal(value)
            self.parameters[name] = values
        except Exception as error:  # the values are Python, with any error of Python
            self.left.append(f"parameter {name} has no values: {error}")
            return
        default = one.get("Default")
        if default is not None and len(self.parameters[name]) > 1:
            default = next((value for value in self.parameters[name] if value == default or str(value) == str(default)), None)
            if default is None:
                self.left.append(f"the default {one['Default']} of parameter {name} is not among its values")
        self.default[name] = self.parameters[name][0] if default is None or len(self.parameters[name]) == 1 else default
        self.has_default |= one.get("Default") is not None

    def number(self, text, what, otherwise="1"):
        try:
            above, below = _expressions.number(harmless(text) if isinstance(text, str) else text, self.parameters)
            if below != "1":
                raise Untranslatable("it is a fraction")
            return above
        except Exception as error:
            self.left.append(f"{what} is {otherwise} here and was {text!r}: {error}")
            return otherwise

    def count(self, text, name):
        """The elements of a buffer. Its size may name the problem's extents, and `max(filter_width)` of all values."""
        problem = self.kernel.get("ProblemSize")
        try:
            return str(int(_value(str(text), ProblemSize=problem if isinstance(problem, list) else [problem], **self.parameters)))
        except Exception:  # it depends on parameters
            return self.number(text, f"the size of buffer {name}")

    def conditions(self):
        kept, functions = [], []
        for one in self.space.get("Conditions", []):
            text = one if isinstance(one, str) else one.get("Expression", "")
            try:
                kept += _expressions.condition(harmless(text), self.parameters)
                functions.append(_expressions.python_function(text))
            except Exception as error:
                self.left.append(f"the condition {text!r} is not translated: {error}")
        return kept, lambda configuration: all(one(configuration) for one in functions)

    def source(self):
        """Beside the description or in the folder above; `kernel.cu.hip` is a translation of `kernel.cu`."""
        given = pathlib.Path(self.kernel.get("KernelFile", ""))
        for folder in (self.folder, self.folder.parent):
            for path in (folder / given.with_suffix("") if given.suffix == ".hip" else folder / given, folder / given):
                if path.is_file() and path.resolve().is_relative_to(self.folder.resolve().parent):
                    return path
        raise Untranslatable(f"there is no KernelFile {str(given)!r} beside the description or in the folder above")

    def data(self, name):
        """The path of a file in the description's folder, or below it; None if there is none."""
        path = (self.folder / name).resolve()
        return path if path.is_file() and path.is_relative_to(self.folder.resolve()) else None

    def launch(self, sizes):
        local, spread = self.kernel.get("LocalSize") or {}, self.kernel.get("GlobalSize") or {}
        block = [self.number(local[axis], f"the block's {axis}") if local.get(axis) is not None else "1" for axis in "XYZ"]
        if sizes:
            for at, axis in enumerate("xyz"):
                if block[at] == "1" and f"block_size_{axis}" in self.parameters and "X" not in local:
                    block[at] = f"block_size_{axis}"
            return block, [self._divided(f"problem_{axis}", self.kernel.get(f"GridDiv{axis.upper()}"), f"block_size_{axis}")
                           if f"problem_{axis}" in sizes else "1" for axis in "xyz"]
        kind, grid = self.kernel.get("GlobalSizeType") or "", []
        in_blocks = kind == "CUDA" or (not kind and self.kernel.get("Language") == "CUDA")
        for at, axis in enumerate("XYZ"):
            size = self.number(spread[axis], f"the grid's {axis}") if spread.get(axis) is not None else "1"
            grid.append(size if in_blocks or "1" in (size, block[at]) else f"ceil_div({size}, {block[at]})")
        return block, grid

    def _divided(self, size, divisors, standard):
        divisors = divisors if isinstance(divisors, list) else [divisors] if divisors else []
        if not divisors:
            divisors = [standard] if standard in self.parameters else []
        texts = [one for one in (self.number(divisor, "a divisor of the grid") for divisor in divisors) if one != "1"]
        return f"ceil_div({size}, {_describe.product(texts)})" if texts else size

    def arguments(self, made):
        described = [one for one in (self._argument(at, one) for at, one in enumerate(self.kernel.get("Arguments", []), 1)) if one]
        constant = {one.get("Name") for one in self.kernel.get("Arguments", []) if one.get("MemType") == "Constant"}
        for one in described:
            if one.name in constant and re.search(rf"__constant__[^;]*\b{re.escape(one.name)}\b", _kernel_file.without_comments(made.text)):
                made.constants[one.name] = _kernel_file.Buffer("in", one.value.type, one.value.count, one.value.fill)
        made.arguments = self._in_order(described, _kernel_file.parameters_of(made.text, made.kernel))
        for one in self.kernel.get("ReferenceArguments", []):
            self._answer(one, made)

    def _argument(self, at, one):
        name = one.get("Name") or ""
        name = name if name.isidentifier() else f"argument{at}"
        kind, memory, value = str(one.get("Type", "")), one.get("MemoryType"), one.get("FillValue")
        vector = _VECTOR.match(kind)
        element = _TYPES.get(kind.removesuffix("_t")) or (vector and kind)
        if memory == "Scalar":
            if not element or vector:
                self.left.append(f"argument {name} has the type {kind!r}: give its own")
                element = "float"
            if value is None:
                self.left.append(f"argument {name} has no value: it is 0 here")
            return _kernel_file.Argument(name, _kernel_file.Scalar(element, str(_value(str(value or 0)))))
        if memory != "Vector":
            self.left.append(f"argument {name} is in memory of the kind {memory!r}: it is left out")
            return None
        if not element:
            self.left.append(f"buffer {name} has elements of type {kind!r}: they are bytes here")
        if one.get("Size") is None:
            self.left.append(f"buffer {name} has no size: it is 1 here")
        count = self.count(one.get("Size") or 1, name)
        if not element and isinstance(one.get("TypeSize"), int):
            count = f"({count}) * {one['TypeSize']}"
        role = {"ReadOnly": "in", "WriteOnly": "out"}.get(one.get("AccessType"), "inout")
        buffer = _kernel_file.Buffer(role, element or "uint8", count)
        buffer.fill = self._fill(one, name, buffer)
        return _kernel_file.Argument(name, buffer, is_const=role == "in")

    def _fill(self, one, name, buffer):
        kind, value, source = one.get("FillType"), one.get("FillValue"), str(one.get("DataSource") or "")
        if kind == "Constant":
            return f"constant {value or 0}"
        if kind == "Random":
            return f"uniform 0 {value}" if value else ""
        if kind == "BinaryRaw" and self.data(source):
            return self.data(source)
        if kind == "Generator":
            if source == "i":
                return "iota"
            try:
                above, below = _expressions.number(harmless(source), {"i_": [1]} | {"i": [0, 1]})
                if below == "1":
                    return f"expression {above.replace('i_', 'i')}"
            except Exception:  # it is said below
                pass
        if kind and buffer.role != "out":
            self.left.append(f"buffer {name} is filled by {kind} {source!r}: write a `fill` for it")
        return ""

    def _in_order(self, described, names):
        """In the order of the kernel's own parameters, if all of them are described."""
        by_name = {one.name: one for one in described}
        if names and all(name in by_name for name, _ in names):
            if [one.name for one in described] != [name for name, _ in names]:
                self.left.append("the arguments stand in the kernel's own order, not in that of the description")
            described = [by_name[name] for name, _ in names]
            for one, (_, is_const) in zip(described, names):
                if isinstance(one.value, _kernel_file.Buffer) and is_const and one.value.role == "inout":
                    one.value.role = "in"
        elif names and len(names) != len(described):
            self.left.append(f"the kernel has {len(names)} parameters, but there are {len(described)} arguments")
        return described

    def _answer(self, one, made):
        target, source = one.get("TargetName"), str(one.get("DataSource") or "")
        output = next((argument for argument in made.arguments if argument.name == target), None)
        is_known = all(not isinstance(argument.value, _kernel_file.Buffer) or argument.value.role == "out" or
                       isinstance(argument.value.fill, pathlib.Path) or argument.value.fill.startswith(("constant", "iota", "expression")) for argument in made.arguments)
        if one.get("FillType") == "BinaryRaw" and output is not None and is_known and self.data(source):
            output.answer = self.data(source)
        else:
            self.left.append(f"{target} should become {one.get('FillType')} {source!r}: write a `reference` for it")
        threshold = one.get("ValidationThreshold")
        if isinstance(threshold, (int, float)):
            relative = one.get("ValidationMethod") == "SideBySideRelativeComparison"
            made.tolerance = (threshold, 0) if relative else (0, threshold)


_HARMLESS = (ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Name,
             ast.expr_context, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop,
             ast.IfExp, ast.Subscript, ast.Slice)
_MOST_VALUES = 1_000_000
_MATHS = ("ceil", "floor", "log2", "sqrt")


def _range(*limits):
    made = range(*limits)
    if len(made) > _MOST_VALUES:
        raise Untranslatable(f"a range of {len(made)} values")
    return made


_FUNCTIONS = {"range": _range, "list": list, "sorted": sorted, "min": min, "max": max, "len": len, "int": int, "float": float,
              "abs": abs, "round": round}


def _is_small(node):
    """Whether a power or shift by this stays small: a number, or a name, which is a parameter or an element of a list."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) <= 64)


def harmless(text):
    """A text of a description, which may come from a stranger, if it only computes, and not for long. Raises
    Untranslatable."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Untranslatable(f"{text[:60]!r} is no expression: {error}") from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.keywords}
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    for node in ast.walk(tree):
        is_maths = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math" and node.attr in _MATHS
        is_call = isinstance(node, ast.Call) and not node.keywords and (isinstance(node.func, ast.Attribute) or
                                                                        getattr(node.func, "id", None) in _FUNCTIONS)
        if not (isinstance(node, _HARMLESS) or is_call or (is_maths and id(node) in called)):
            raise Untranslatable(f"{text[:60]!r} does more than to compute a value: {type(node).__name__}")
        is_long = isinstance(node, ast.BinOp) and (
            (isinstance(node.op, (ast.Pow, ast.LShift)) and not (_is_small(node.left) and _is_small(node.right))) or
            (isinstance(node.op, ast.Mult) and any(isinstance(one, (ast.List, ast.ListComp, ast.Tuple)) for one in (node.left, node.right))))
        if is_long or len(loops) > 1 or len(text) > 10_000:
            raise Untranslatable(f"{text[:60]!r} may take too long to compute")
    return text


def _code(text):
    return compile(harmless(text).strip(), "<values>", "eval")


def _value(text, **names):
    """Of a literal, list, range, comprehension or other expression, which is Python. `text` may be its code."""
    return eval(_code(text) if isinstance(text, str) else text,
                {"__builtins__": _FUNCTIONS, "math": math, "true": True, "false": False, **names})


def _threads(block):
    """A function of a configuration: how many the expressions of a block have; 256 for those that are no Python, except
    for divisions."""
    try:
        codes = [_code(one.replace("/", "//")) for one in block]
    except Untranslatable:  # another operator
        return lambda configuration: 256

    def of(configuration):
        known = {possible_name(name): value for name, value in configuration.items()}
        try:
            return math.prod(int(_value(one, **known)) for one in codes)
        except Exception:
            return 256
    return of


def read(file):
    """The description of a file. Raises Untranslatable and OSError."""
    file = pathlib.Path(file)
    try:
        return _read(file)
    except (Untranslatable, OSError):
        raise
    except Exception as error:  # a member has another type than the schema says
        raise Untranslatable(f"{file}: it is not as the schema of T1 says: {type(error).__name__}: {error}") from error


def _read(file):
    reader, sizes = _Reader(file), {}
    given = reader.kernel.get("ProblemSize")
    for axis, extent in zip("xyz", given if isinstance(given, list) else [given] if given else []):
        sizes[f"problem_{axis}"] = int(extent)
    source = reader.source()
    try:
        text = source.read_text(encoding="utf-8")
    except OSError as error:
        raise Untranslatable(f"the kernel's source {source} cannot be read: {error.strerror}") from None
    if reader.kernel.get("Language") != "CUDA":
        reader.left.append(f"the kernel is written in {reader.kernel.get('Language')}: translate it to CUDA C++")
    constraints, is_valid = reader.conditions()
    block, grid = reader.launch(sizes)
    made = _kernel_file.Description(
        origin=f"the T1 description {file.name} by `python -m tuner.convert`", instantiate=reader.kernel["KernelName"], text=text,
        source=source.absolute(), parameters=reader.parameters, arguments=[], constants={}, constraints=constraints,
        is_valid=is_valid, block=block, grid=grid, threads=_threads(block),
        sizes=sizes or {"problem_x": 1}, default=reader.default if reader.has_default else None, left=reader.left)
    shared = reader.kernel.get("SharedMemory")
    if shared:
        made.shared = reader.number(shared, "the dynamic shared memory", "0")
    reader.arguments(made)
    _describe.add_macros(made, [f"block_size_{axis}" for axis in "xyz"])
    for option in reader.kernel.get("CompilerOptions") or []:
        if option.startswith("-I") and not (reader.folder / option[2:].strip()).resolve().is_relative_to(reader.folder.resolve()):
            reader.left.append(f"the option {option!r} is left out: it leads out of the folder")
        elif option.startswith("-D") and not re.fullmatch(r"-D\s*\w+(=[\w.+-]*)?", option):
            reader.left.append(f"the option {option!r} is left out: the macro is neither a number nor a word")
        else:
            _describe.add_options([option], made, reader.folder)
    return made
