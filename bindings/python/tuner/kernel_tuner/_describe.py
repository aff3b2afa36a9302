"""The arguments of tune_kernel as the description of a kernel file. Kernel Tuner's documentation of tune_kernel says what
they mean."""

import inspect
import math
import numbers
import os
import pathlib
import re

import numpy

from tuner import _arrays, _expressions, _kernel_file
from tuner._translation import Untranslatable, possible_name
from tuner.lib import _native

AXES = "xyz"
USUAL_BLOCK = ("256", "1", "1")  # where no parameter is an extent of the block
MOST_GENERATED = 900_000  # bytes


def host(array):
    """An array in the host's memory."""
    library = _arrays.library_of(array)
    if library == "cupy" and hasattr(array, "get"):
        array = array.get()
    elif library == "torch" and hasattr(array, "numpy"):
        array = array.detach().cpu().numpy()
    if not isinstance(array, numpy.ndarray) or array.ndim == 0:
        return plain(array) if isinstance(array, numpy.ndarray) else array
    # A kernel gets the memory as it is, whatever the order of the dimensions.
    return numpy.asarray(array, dtype=array.dtype.newbyteorder("="), order="K" if array.flags.forc else "C")


def plain(value):
    """NumPy's numbers, and its arrays of one number without a shape, as Python's."""
    return value[()] if isinstance(value, numpy.ndarray) else value.item() if isinstance(value, numpy.generic) else value


class DeviceArray:
    """A copy of an array where kernels run."""

    def __init__(self, array):
        self._like, self._native = array, _native.Array(array.nbytes)
        self._native.upload(array.ctypes.data, array.nbytes)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self._like.shape, "typestr": self._like.dtype.str, "data": (self._native.address(), False), "version": 3}

    def download(self):
        """Its present contents, as an array in the host's memory."""
        array = numpy.empty_like(self._like)
        self._native.download(array.ctypes.data, array.nbytes)
        return array


def _generated(kernel_source, parameters, macros):
    """The texts of all configurations, as branches of one text. A macro chooses the branch."""
    texts = {}
    above, _ = _expressions.number(lambda values: texts.setdefault(kernel_source(values), len(texts)), parameters)
    if sum(map(len, texts)) > MOST_GENERATED:
        raise Untranslatable(f"kernel_source makes {len(texts)} texts, more than a kernel file can hold")
    macros["tuner_text"] = above
    return "".join(f"#{'el' if at else ''}if tuner_text == {at}\n{text}\n" for text, at in texts.items()) + "#endif\n"


def source_of(kernel_source, parameters, macros):
    """The text of a kernel, and its file or None. Macros are added for a text that a function makes."""
    if callable(kernel_source):
        return _generated(kernel_source, parameters, macros), None
    if isinstance(kernel_source, (list, tuple)):
        kernel_source = kernel_source[0]
    text = str(kernel_source)
    endings = (".cu", ".cuh", ".h", ".hpp", ".c", ".cc", ".cpp", ".cxx")
    if "\n" not in text and (text.endswith(endings) or isinstance(kernel_source, os.PathLike)):
        return pathlib.Path(text).read_text(encoding="utf-8"), pathlib.Path(text).absolute()
    return text, None


def _restrictions(given, parameters):
    """As a list of texts, and of functions of a dictionary or of parameters by their names."""
    def is_pair(one):  # a function, and the names of the parameters that it takes
        return isinstance(one, tuple) and len(one) > 1 and callable(one[0]) and isinstance(one[1], (list, tuple))

    if given is None:
        return []
    if not isinstance(given, (list, tuple)) or is_pair(given):
        given = [given]
    made = [one[0] if is_pair(one) else one for one in given]
    for one in made:
        if not isinstance(one, str) and not callable(one):
            raise Untranslatable(f"a restriction that is a {type(one).__name__}")
    return [_by_name(one, parameters) for one in made]


def _by_name(restriction, parameters):
    """A function of `*values`, or of as many values as there are parameters, by other names, as one of a dictionary."""
    if not inspect.isfunction(restriction):
        return restriction
    taken = list(inspect.signature(restriction).parameters.values())
    if not any(one.kind == one.VAR_POSITIONAL for one in taken) and (len(taken) < 2 or all(one.name in parameters for one in taken)):
        return restriction
    return lambda values: restriction(*(values[name] for name in parameters))


def _number(given, parameters):
    """A number, text or function as a pair of texts. Kernel Tuner cuts the value of a text off to an integer."""
    given = plain(given)
    return _expressions.number(f"int({given})" if isinstance(given, str) else given, parameters)


def _divisor(given, default, parameters):
    """The factors of a grid divisor as pairs of texts."""
    if given is None:
        given = [default] if default in parameters else []
    if isinstance(given, (str, numbers.Real)) or callable(given):
        given = [given]
    return [_number(one, parameters) for one in given]


def product(texts):
    """Of expressions."""
    return " * ".join(one if one.isidentifier() or one.isdigit() or len(texts) == 1 else f"({one})" for one in texts)


def _grid(problem, divisors, size):
    """ceil(problem / product of divisors) as a text."""
    above, below = [size], []
    if problem[1] != "1":
        below.append(problem[1])
    for numerator, denominator in divisors:
        if numerator != "1":
            below.append(numerator)
        if denominator != "1":
            above.append(denominator)
    return product(above) if not below else f"ceil_div({product(above)}, {product(below)})"


def _problem(problem_size, parameters, sizes):
    """A pair of texts for each axis, and the names of sizes in place of numbers."""
    if callable(problem_size):
        whole = [_expressions.number(lambda p, at=at: _axis(problem_size(p), at), parameters) for at in range(3)]
        return [(numerator, (numerator, denominator)) for numerator, denominator in whole]
    axes = list(problem_size) if isinstance(problem_size, (list, tuple, numpy.ndarray)) else [problem_size]
    if len(axes) > 3:
        raise Untranslatable(f"a problem_size of {len(axes)} dimensions")
    made = []
    for axis, extent in zip(AXES, axes + [1] * (3 - len(axes))):
        extent = plain(extent)
        if isinstance(extent, numbers.Integral) and extent != 1:
            sizes["problem_" + axis] = int(extent)
            made.append(("problem_" + axis, (str(extent), "1")))
        else:
            pair = _number(extent, parameters)
            made.append((pair[0], pair))
    return made


def _axis(extents, at):
    extents = extents if isinstance(extents, (list, tuple, numpy.ndarray)) else (extents,)
    return extents[at] if at < len(extents) else 1


# Options whose value may be an element of its own.
_WITH_VALUE = ("-I", "-D", "-std", "-arch", "-code", "-gencode", "-ccbin", "-Xcompiler", "-Xptxas", "-maxrregcount", "-rdc")
# Set by tuner for the present device.
_SET = re.compile(r"--?std=.*|-arch=.*|--gpu-architecture=.*|-gencode=.*|--generate-code=.*|-code=.*|--gpu-code=.*|-O\d|-lineinfo")
# About nvcc as a program, about the compiler of the host or linking, or what NVRTC does anyway.
_OF_NVCC = re.compile(r"-g|-m64|-keep.*|-Werror.*|-Wno-deprecated-gpu-targets|--?allow-unsupported-compiler|(-ccbin|-Xcompiler)=.*|"
                      r"--compiler-(options|bindir)=.*|--?(expt-)?(relaxed-constexpr|extended-lambda)|-L.+|-l(?!to).+")
_SEPARATE = re.compile(r"(-rdc|--relocatable-device-code)=.*|-dc|--device-c")


def _joined(options):
    """With the values of `-arch sm_90` and the like in the option."""
    rest = iter(options)
    for option in rest:
        yield option + ("" if option in ("-I", "-D") else "=") + next(rest, "") if option in _WITH_VALUE else option


def add_options(compiler_options, made, folder):
    """Options for nvcc, as far as they matter to NVRTC and are not tuner's own."""
    for option in _joined(compiler_options or []):
        if option.startswith("-I"):
            made.include_paths.append((folder / option[2:].strip()).absolute())
        elif option.startswith("-D"):
            name, _, value = option[2:].partition("=")
            made.text_macros[name] = value or "1"
        elif _SEPARATE.fullmatch(option):
            made.launches_kernels = "<<<" in _kernel_file.without_comments(made.text)
        elif not _SET.fullmatch(option) and not _OF_NVCC.fullmatch(option):
            made.options.append(option)


def describe(origin, kernel_name, kernel_source, problem_size, arguments, tune_params, *, grid_div_x=None, grid_div_y=None,
             grid_div_z=None, restrictions=None, answer=None, atol=1e-6, smem_args=None, cmem_args=None, texmem_args=None,
             compiler_options=None, defines=None, block_size_names=None):
    """The tuning as a _kernel_file.Description. Raises Untranslatable for what a kernel file cannot say."""
    if texmem_args:
        raise Untranslatable("texmem_args: CUDA 12 has no texture references. Write a kernel file with a `texture`")
    parameters, macros = {name: [plain(one) for one in values] for name, values in tune_params.items()}, {}
    if not all(parameters.values()):
        raise ValueError(f"there are no values for {', '.join(name for name, values in parameters.items() if not values)}")
    text, source = source_of(kernel_source, parameters, macros)
    names, sizes = _block_names(block_size_names, parameters), {}
    block = [possible_name(name) if name in parameters else usual for name, usual in zip(names, USUAL_BLOCK)]
    problem = _problem(problem_size, parameters, sizes)
    grid = [_grid(pair, _divisor(given, name, parameters), size)
            for (size, pair), given, name in zip(problem, (grid_div_x, grid_div_y, grid_div_z), names)]
    given_restrictions = _restrictions(restrictions, parameters)
    conditions = [_expressions.python_function(one, parameters) for one in given_restrictions]
    made = _kernel_file.Description(
        origin=origin, instantiate=kernel_name, text=text, source=source, parameters=parameters, arguments=[],
        constants={name: numpy.ravel(host(one), order="K") for name, one in (cmem_args or {}).items()},
        constraints=[one for restriction in given_restrictions for one in _expressions.condition(restriction, parameters)],
        is_valid=lambda configuration: all(one(configuration) for one in conditions), block=block, grid=grid,
        threads=lambda configuration: math.prod(int(configuration.get(name, usual)) for name, usual in zip(names, USUAL_BLOCK)),
        sizes=sizes or {"problem_x": 1},
        tolerance=(1e-5, float(atol if atol is not None else 1e-6)), include_paths=[pathlib.Path.cwd()] if source is None else [], macros=macros)
    if smem_args and "size" in smem_args:
        above, below = _number(smem_args["size"], parameters)
        made.shared = above if below == "1" else f"ceil_div({above}, {below})"
    made.arguments = _arguments(made, arguments, answer)
    if defines is None:
        add_macros(made, names)
    else:
        _add_defines(made, defines)
    add_options(compiler_options, made, pathlib.Path.cwd())
    return made


def _arguments(made, given, answer):
    """With the names of the kernel's own parameters, and what is right for them."""
    known = _kernel_file.parameters_of(made.text, made.kernel) or []
    answers = list(answer) if answer is not None else [None] * len(given)
    if len(answers) != len(given):
        raise ValueError(f"answer has {len(answers)} elements, but there are {len(given)} arguments")
    arguments = []
    for at, (value, right) in enumerate(zip(given, answers)):
        name, is_const = known[at] if len(known) == len(given) else ("", False)
        name, value = name or f"argument{at}", host(value)  # once: it may be a copy from a GPU
        arguments.append(_kernel_file.Argument(name, value, _answer(name, value, right), is_const))
    return arguments


def put_constants_into_text(made):
    """Makes the contents of constant memory initial values, for launches, which have no such arguments."""
    if made.constants and made.source is not None:
        made.include_paths.append(made.source.parent)
        made.source = None
    for name, contents in made.constants.items():
        values = ", ".join(str(int(one) if isinstance(one, bool) else one) for one in contents.tolist())
        made.text, count = re.subn(rf"(__constant__[^;]*\b{re.escape(name)}\s*(?:\[[^\];]*\]\s*)*)(?=[,;])", rf"\1 = {{{values}}}",
                                   _kernel_file.without_comments(made.text), count=1)
        if count == 0:
            raise Untranslatable(f"cmem_args: the text has no declaration `__constant__ … {name}[…];`")
    made.constants = {}


def _block_names(given, parameters):
    """Of the block's extents, in any case if they are the usual ones."""
    usual = [f"block_size_{axis}" for axis in AXES]
    if not given:
        given = [next((name for name in parameters if name.lower() == one), one) for one in usual]
    return [*given, *usual[len(given):]][:3]


def _answer(name, array, right):
    if right is None:
        return None
    right = host(right)
    if not isinstance(array, numpy.ndarray) or not isinstance(right, numpy.ndarray) or array.size != right.size:
        raise ValueError(f"the answer for {name} has {numpy.size(right)} elements, but there are {numpy.size(array)}")
    if array.dtype.names:
        raise Untranslatable(f"an answer for {name}, whose elements are structs")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return numpy.asarray(right.reshape(array.shape), dtype=array.dtype, order=order)


def _add_defines(made, defines):
    """A user's macros, in place of those for the parameters."""
    made.parameters_are_macros = False
    for name, value in defines.items():
        value = plain(value)
        used = isinstance(value, str) and any(one in made.parameters for one in re.findall(r"\w+", value))
        if not callable(value) and not used:
            made.text_macros[name] = value
        elif value in made.parameters:
            made.macros[name] = possible_name(value)
        else:
            above, below = _expressions.number(value, made.parameters)
            if below != "1":
                raise Untranslatable(f"the macro {name} is {value!r}, which is no integer")
            made.macros[name] = above


def add_macros(made, block_names):
    """The macros that Kernel Tuner defines besides the parameters, if the kernel uses them."""
    given = {"kernel_tuner": "1", **{f"grid_size_{axis}": one for axis, one in zip(AXES, made.grid)},
             **{name: one for name, one in zip(block_names, made.block) if name not in made.parameters}}
    for name, text in given.items():
        if _kernel_file.occurs(name, made.text) or '#include "' in made.text:  # which may use it
            made.macros[name] = text
