"""Where the elements of other libraries' arrays are. None of these libraries is imported: what a program has not imported
itself, it has no arrays of."""

import numbers
import sys

from tuner.lib import _native

VOID = -1
NAMES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "half", "bfloat16", "float", "double")
CODES = {name: code for code, name in enumerate(NAMES)} | {"float16": 8, "float32": 10, "float64": 11}
# `__array_interface__` and `__cuda_array_interface__`; a type that is not here, such as a struct, is VOID.
TYPE_STRINGS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f2": 8, "f4": 10, "f8": 11}

_torch_types = {}


class Elements:
    """The elements of an array: their address, type and number, and whether they may only be read."""

    __slots__ = ("address", "type", "count", "is_const", "shape", "library")

    def __init__(self, address, code, shape, is_const, library):
        self.address = address
        self.type = code
        self.shape = shape
        self.is_const = is_const
        self.library = library
        """`torch`, `cupy`, … or "" where Python's numbers are results."""
        count = 1
        for extent in shape:
            count *= extent
        self.count = count

    def argument(self):
        return (self.address, self.type, self.is_const)


def _torch_type(dtype):
    code = _torch_types.get(dtype)
    if code is None:
        code = _torch_types[dtype] = CODES.get(str(dtype).removeprefix("torch."), VOID)
    return code


def _is_contiguous(shape, strides, bytes_of_one):
    if strides is None:
        return True
    expected = bytes_of_one
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != expected:
            return False
        expected *= extent
    return True


def _of_interface(array, interface, library):
    address, is_const = interface["data"]
    shape, kind = interface["shape"], interface["typestr"]
    if not _is_contiguous(shape, interface.get("strides"), int(kind[2:])):
        raise ValueError("tuner needs arrays whose elements are contiguous: make a copy")
    return Elements(address or 0, TYPE_STRINGS.get(kind[1:], VOID) if kind[0] in "<|=" else VOID, shape, is_const, library)


def elements_of(array):
    """The elements of an array of PyTorch, CuPy, JAX or NumPy, or of anything with `__cuda_array_interface__`,
    `__array_interface__` or `__dlpack__`. Raises TypeError for anything else, ValueError unless they are contiguous."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        if not array.is_contiguous():
            raise ValueError("tuner needs arrays whose elements are contiguous: call contiguous()")
        return Elements(array.data_ptr(), _torch_type(array.dtype), array.shape, False, library)
    if library in ("jax", "jaxlib"):
        array.block_until_ready()  # XLA computes on streams of its own
    for name in ("__cuda_array_interface__", "__array_interface__"):
        interface = getattr(array, name, None)
        if interface is not None:
            return _of_interface(array, interface, library)
    if hasattr(array, "__dlpack__"):
        address, code, shape, is_const = _native.dlpack(array)
        return Elements(address, code, shape, is_const, library)
    raise TypeError(f"tuner takes arrays, for example of PyTorch, CuPy, JAX or NumPy, not {type(array).__name__}")


def is_number(value):
    """NumPy's scalars are numbers, though they have the interface of arrays."""
    return isinstance(value, (int, float)) or isinstance(value, numbers.Real)


def stream_of(library):
    """The current stream of the library that made the arrays; 0, the default stream, for others."""
    module = sys.modules.get(library)
    if module is None:
        return 0
    if library == "torch":
        return module.cuda.current_stream().cuda_stream if module.cuda.is_initialized() else 0
    if library == "cupy":
        return module.cuda.get_current_stream().ptr
    return 0


def stream_handle(stream, library):
    """`stream`: None for the current one, an integer, or an object of PyTorch, CuPy or numba."""
    if stream is None:
        return stream_of(library)
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(handle)
    return int(stream)


def new_like(array, code, library):
    """A new array of one element beside `array`, or None where results are Python's numbers."""
    module = sys.modules.get(library)
    if library == "torch" and array.is_cuda:
        name = {8: "float16", 9: "bfloat16"}.get(code) or {10: "float32", 11: "float64"}.get(code) or NAMES[code]
        return module.empty((), dtype=getattr(module, name), device=array.device)
    if library == "cupy":
        return module.empty((), dtype={10: "float32", 11: "float64"}.get(code) or NAMES[code])
    return None
