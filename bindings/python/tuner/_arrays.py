"""Where the elements of other libraries' arrays are. None of these libraries is imported: what a program has not imported
itself, it has no arrays of.

An array is located by a function for its type, which gives the address of the first element, the code of the elements'
type, how many there are, and whether they may only be read. A call takes a microsecond at most, so functions are looked
up by type alone.
"""

import contextlib
import ctypes
import functools
import math
import numbers
import sys

from tuner.lib import _native

VOID = -1
NAMES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "half", "bfloat16", "float", "double", "e4m3", "e5m2",
         "e3m2", "e2m3", "e2m1", "e2m1x2", "e8m0")
CODES = {name: code for code, name in enumerate(NAMES)} | {"float16": 8, "float32": 10, "float64": 11, "float8_e4m3fn": 12, "float8_e5m2": 13, "tf32": 10,
                                                          "float6_e3m2fn": 14, "float6_e2m3fn": 15, "float4_e2m1fn": 16, "float4_e2m1fn_x2": 17, "float8_e8m0fnu": 18}
# ml_dtypes' types, which are no numbers for `numbers`.
SMALL_FLOATS = frozenset(name for name in CODES if name.startswith(("bfloat", "float4", "float6", "float8")))
# The names of the types of results in other libraries.
THEIR_NAMES = {10: "float32", 11: "float64"} | {code: name for code, name in enumerate(NAMES) if code < 8}
# The type of a reduction's result, for each type of elements.
RESULTS = {code: _native.reduce_result(code) for code in range(VOID, len(NAMES))}
# `__array_interface__` and `__cuda_array_interface__`; a type that is not here, such as a struct, is VOID.
TYPE_STRINGS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f2": 8, "f4": 10, "f8": 11}


@functools.cache
def _code_of(dtype):
    """The code of another library's type, by its name."""
    return CODES.get(str(dtype).removeprefix("torch."), VOID)


_library_of_type = functools.cache(_native.library_of)


def library_of(array):
    """Its library: "torch", "cupy" or "jax", also if a program derived its type from one of theirs; "" for other arrays."""
    return _library_of_type(type(array))


def _by_type(choose):
    """A function of an array: what `choose` returns for the first array of the type, called with the array."""
    chosen = {}

    @functools.wraps(choose)
    def call(array):
        function = chosen.get(type(array))
        if function is None:
            function = chosen[type(array)] = choose(array)
        return function(array)
    return call


def _refuse_gaps():
    raise ValueError("tuner needs arrays whose elements are contiguous: make a copy")


def _refuse_mask():
    raise ValueError("tuner takes no arrays with masked elements: it would use these too")


def _not_lazy(array, located):
    if located[1] == VOID and (array.is_conj() or array.is_neg()):
        raise ValueError("tuner would use the tensor without its conjugation or its minus: call resolve_conj() or resolve_neg() first")
    return located


def _locate_torch(array):
    if not array.is_contiguous():
        _refuse_gaps()
    return _not_lazy(array, (array.data_ptr(), _code_of(array.dtype), array.numel(), False))


def _locate_exchanged_torch(array):
    return _not_lazy(array, _native.dlpack(array))


def _locate_cupy(array):
    if not array.flags.c_contiguous:
        _refuse_gaps()
    return array.data.ptr, _code_of(array.dtype), array.size, False


def _bytes_of(typestr):
    return int(typestr[2:].partition("[")[0])  # "<M8[s]" is a time in seconds


def _locate_by_interface(interface):
    if interface.get("mask") is not None:
        _refuse_mask()
    address, is_const = interface["data"]
    shape, kind, strides = interface["shape"], interface["typestr"], interface.get("strides")
    expected = _bytes_of(kind)
    if kind[0] not in "|=" and (kind[0] == "<") != (sys.byteorder == "little"):
        raise ValueError("tuner needs arrays in this machine's order of bytes: make a copy, such as x.astype(x.dtype.newbyteorder('='))")
    code = TYPE_STRINGS.get(kind[1:], VOID)
    if code != VOID and (address or 0) % expected != 0:
        raise ValueError(f"tuner needs arrays at a multiple of their elements' {expected} bytes: make a copy")
    if strides is not None:
        for extent, stride in zip(reversed(shape), reversed(strides)):
            if extent > 1 and stride != expected:
                _refuse_gaps()
            expected *= extent
    return address or 0, code, math.prod(shape), is_const


def _located_by_name(array, located):
    """The interface has no word for the types of ml_dtypes, which have names."""
    address, code, count, is_const = located
    return located if code != VOID else (address, _code_of(getattr(array, "dtype", None)), count, is_const)


def _locate_numpys_masked(array):
    masked, numpy = sys.modules["numpy.ma"].getmask(array), sys.modules["numpy"]
    if masked is not sys.modules["numpy.ma"].nomask and numpy.ravel(masked).view(bool).any():
        _refuse_mask()
    return _locate_by_interface(array.__array_interface__)


def _locate_jax(array):
    array.block_until_ready()  # XLA computes on streams of its own
    interface = getattr(array, "__cuda_array_interface__", None)
    return _locate_by_interface(interface) if interface is not None else _native.dlpack(array)


@_by_type
def locate(array):
    """Address, type, count and is_const of an array of PyTorch, CuPy, JAX or NumPy, or of anything with
    `__cuda_array_interface__`, `__array_interface__` or `__dlpack__`. Raises TypeError for anything else, ValueError unless
    its elements are contiguous."""
    library = library_of(array)
    if _native.has_exchange(array):
        return _locate_exchanged_torch if library == "torch" else _native.dlpack
    if library == "torch":
        return _locate_torch
    if library == "cupy":
        return _locate_cupy
    if library == "jax":
        return _locate_jax
    if "numpy.ma" in sys.modules and isinstance(array, sys.modules["numpy.ma"].MaskedArray):
        return _locate_numpys_masked
    for name in ("__cuda_array_interface__", "__array_interface__"):
        if hasattr(array, name):
            return lambda one: _located_by_name(one, _locate_by_interface(getattr(one, name)))
    if hasattr(array, "__dlpack__"):
        return _native.dlpack
    raise TypeError(f"tuner takes arrays, for example of PyTorch, CuPy, JAX or NumPy, not {type(array).__name__}")


def item_bytes(array):
    """The size of an element of an array whose type is VOID; None if the array does not say it."""
    size = getattr(getattr(array, "dtype", None), "itemsize", None)
    for name in ("__cuda_array_interface__", "__array_interface__"):
        if size is None and hasattr(array, name):
            size = _bytes_of(getattr(array, name)["typestr"])
    return size


def is_number(value):
    """NumPy's and ml_dtypes' scalars are numbers, though they have the interface of arrays."""
    return isinstance(value, (int, float, numbers.Real)) or type(value).__name__ in SMALL_FLOATS


def is_struct(value):
    """A struct of ctypes, or an element of NumPy's arrays of structs."""
    return isinstance(value, ctypes.Structure) or type(value).__name__ in ("void", "record")


@functools.cache
def _current_gpu(library):
    """A library's function for the number of the current GPU. None: there is only one GPU."""
    module = sys.modules[library]
    if library == "torch":
        count, current = module.cuda.device_count(), getattr(module._C, "_cuda_getDevice", module.cuda.current_device)
    else:
        count, current = module.cuda.runtime.getDeviceCount(), module.cuda.runtime.getDevice
    if count > 1:
        return current
    _native.watch_gpus(None)
    return None


def require_current(array, gpu):
    """Raises tuner.Error unless `gpu`, which has the array of PyTorch or CuPy, is current. Launches go to the current GPU,
    where the array's stream does not order them."""
    library = library_of(array)
    current = _current_gpu(library)
    if current is None or (other := current()) == gpu:
        return
    cure = {"torch": "torch.cuda.device", "cupy": "cupy.cuda.Device"}[library]
    raise _native.Error(f"tuner: the array is on GPU {gpu}, and GPU {other} is current: call tuner inside `with {cure}({gpu}):`",
                        "invalid argument")


_native.watch_gpus(require_current)


def _torch_stream(array):
    if not array.is_cuda:
        return 0
    require_current(array, array.get_device())
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # what current_stream() makes an object of
    return raw(array.get_device()) if raw else torch.cuda.current_stream(array.device).cuda_stream


def _cupy_stream(array):
    require_current(array, array.data.device_id)
    return sys.modules["cupy"].cuda.get_current_stream().ptr


def _interface_stream(array):
    stream = array.__cuda_array_interface__.get("stream")
    if stream == 0:
        raise ValueError("the array's __cuda_array_interface__ has the stream 0, which does not distinguish the legacy default stream (1) "
                         "from that of each thread (2): pass stream=")
    return 0 if stream is None else int(stream)  # 1 and 2 are handles of CUDA too


@_by_type
def stream_for(array):
    """The current stream of the library that made an array, or the stream of its `__cuda_array_interface__`; 0, the default
    stream, for others. Raises tuner.Error if an array of PyTorch or CuPy is not on the current GPU."""
    if _native.has_exchange(array):
        return _native.current_stream
    library = library_of(array)
    if not library and hasattr(array, "__cuda_array_interface__"):
        return _interface_stream
    return {"torch": _torch_stream, "cupy": _cupy_stream}.get(library, lambda _: 0)


def handle_of(stream):
    """Of an integer, or of an object of PyTorch, CuPy or numba."""
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or 0)  # numba's is a ctypes.c_void_p
    return int(stream)


@contextlib.contextmanager
def _current_gpu_is(gpu):
    driver, context, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()

    def call(name, *arguments):
        if (status := getattr(driver, name)(*arguments)) != 0:
            raise _native.Error(f"tuner: GPU {gpu}, which has the array of JAX, cannot be used: {name} failed with {status}",
                                "device error")

    call("cuDeviceGet", ctypes.byref(device), gpu)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)


_NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def _while_read(jax_arrays):
    devices = set().union(*(one.devices() for one in jax_arrays))
    if len(devices) > 1:
        raise ValueError(f"tuner needs arrays of JAX on one device, not on {' and '.join(sorted(map(str, devices)))}: use jax.device_put")
    (device,) = devices
    with _NOTHING if device.platform == "cpu" else _current_gpu_is(device.local_hardware_id):
        yield
        _native.Array(1).download(0, 0)  # waits for all launches


def while_read(arrays):
    """A context for launches that read `arrays`. With an array of JAX, its GPU is current, because XLA leaves any GPU current;
    and at the end the context waits for the kernels, because XLA would reuse the memory of an array that the program no
    longer holds while a kernel still reads it."""
    jax_arrays = [one for one in arrays if library_of(one) == "jax"] if "jax" in sys.modules else None
    return _while_read(jax_arrays) if jax_arrays else _NOTHING


_torch_makers = {}  # by type and GPU: empty_like() takes a microsecond less than new_empty()


def _new_torch(array):
    if not array.is_cuda:
        return None
    key = array.dtype, array.get_device()
    maker = _torch_makers.get(key)
    if maker is None:
        torch = sys.modules["torch"]
        name = THEIR_NAMES.get(RESULTS[_code_of(array.dtype)])
        like = torch.empty((), dtype=getattr(torch, name) if name else array.dtype, device=array.device)
        if type(like) is not torch.Tensor or torch.cuda.is_current_stream_capturing():
            return like  # of a mode of PyTorch, or in the memory of a graph
        maker = _torch_makers[key] = functools.partial(torch.empty_like, like)
    return maker()


def _new_cupy(array):
    code = RESULTS[_code_of(array.dtype)]
    return None if code == VOID else sys.modules["cupy"].empty((), THEIR_NAMES[code])


@_by_type
def new_result(array):
    """A new array of one element for a reduction of `array`, or None where results are Python's numbers."""
    return {"torch": _new_torch, "cupy": _new_cupy}.get(library_of(array), lambda _: None)


def new_result_on(array, stream):
    """The same for a reduction on `stream`. The memory is of that stream's own, as others may still use theirs."""
    library = library_of(array)
    module = sys.modules.get(library)
    if library == "torch" and array.is_cuda:
        handle = handle_of(stream)  # 0 would be any stream of PyTorch's pool
        of_library = module.cuda.ExternalStream(handle, device=array.device) if handle else module.cuda.default_stream(array.device)
        with module.cuda.stream(of_library):
            return new_result(array)
    if library == "cupy":
        with module.cuda.ExternalStream(handle_of(stream)):
            return new_result(array)
    return new_result(array)
