"""The package on the host backend, with NumPy's arrays. Run by bindings/python/test."""

import contextlib
import ctypes
import gc
import importlib.util
import io
import os
import pathlib
import re
import sys
import tempfile
import types
import unittest
import unittest.mock

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_DEVICE="host", TUNER_TUNE="never")

import numpy  # noqa: E402

import tuner  # noqa: E402
from tuner import _arrays  # noqa: E402
from tuner.lib import _native  # noqa: E402

AXPY = """
#pragma tuner kernel      axpy
#pragma tuner type        T = float double
#pragma tuner size        n : int64 = 1000
#pragma tuner parameter   block = 32 64 96 128 160 192
#pragma tuner scalar      a : T = 2
#pragma tuner in          x[n]
#pragma tuner inout       y[n]
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner block       block
#pragma tuner arguments   a, x, y, n
#pragma tuner instantiate axpy<T>
#pragma tuner reference   default
#pragma tuner default     block=64
template <typename T>
__global__ void axpy(T a, const T* x, T* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


class Reduce(unittest.TestCase):
    def test_reduces_with_every_operation(self):
        x = numpy.array([3, -7, 2, 5], numpy.float64)
        self.assertEqual([tuner.reduce(x, op) for op in ("sum", "min", "max", "product")], [3, -7, 5, -210])

    def test_sums_small_integers_in_64_bits(self):
        for kind in (numpy.int8, numpy.int16, numpy.uint16):
            self.assertEqual(tuner.reduce(numpy.full(100_000, 127, kind)), 12_700_000)

    def test_writes_into_an_array(self):
        out = numpy.zeros(1, numpy.float32)
        self.assertIs(tuner.reduce(numpy.ones(5000, numpy.float32), out=out), out)
        self.assertEqual(out[0], 5000)

    def test_refuses_what_it_cannot_reduce(self):
        x = numpy.ones((10, 10), numpy.float32)
        with self.assertRaisesRegex(ValueError, "contiguous"):
            tuner.reduce(x[:, ::2])
        with self.assertRaisesRegex(ValueError, "sum, min, max, product"):
            tuner.reduce(x, "mean")
        with self.assertRaisesRegex(ValueError, "out is a writable array of float"):
            tuner.reduce(x, out=numpy.zeros(1))
        with self.assertRaisesRegex(TypeError, "not list"):
            tuner.reduce([1, 2])
        with self.assertRaisesRegex(TypeError, "takes no arrays of complex64"):
            tuner.reduce(numpy.ones(3, numpy.complex64))

    def test_takes_arrays_by_dlpack(self):
        class Only:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        self.assertEqual(tuner.reduce(Only(numpy.arange(100, dtype=numpy.int32))), 4950)


class Tensor(ctypes.Structure):
    """A DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("dimensions", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Gpus(unittest.TestCase):
    """PyTorch and CuPy on a machine with some GPUs, one of which is current."""

    def setUp(self):
        self.gpus, self.current, self.counted = 1, 0, 0

        def count():
            self.counted += 1
            return self.gpus

        def current():
            self.assertGreater(self.gpus, 1, "is asked in vain")
            return self.current

        torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(device_count=count, current_device=current),
            _C=types.SimpleNamespace(_cuda_getDevice=current, _cuda_getCurrentRawStream=lambda gpu: 50 + gpu))
        cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(
            runtime=types.SimpleNamespace(getDeviceCount=count, getDevice=current),
            get_current_stream=lambda: types.SimpleNamespace(ptr=60)))
        imported = unittest.mock.patch.dict(sys.modules, torch=torch, cupy=cupy)
        imported.start()
        self.addCleanup(imported.stop)
        _arrays._current_gpu.cache_clear()
        _native.watch_gpus(_arrays.require_current)

        class Torch:
            __module__ = "torch.test"
            is_cuda = True

            def __init__(self, contents, gpu=0):
                self.contents, self.gpu = contents, gpu
                self.dtype, self.shape = "torch." + str(contents.dtype), contents.shape

            def is_contiguous(self):
                return self.contents.flags.c_contiguous

            def data_ptr(self):
                return self.contents.ctypes.data

            def numel(self):
                return self.contents.size

            def get_device(self):
                return self.gpu

        class CuPy:
            __module__ = "cupy.test"

            def __init__(self, contents, gpu=0):
                self.data = types.SimpleNamespace(ptr=contents.ctypes.data, device_id=gpu)
                self.flags, self.dtype, self.size, self.shape = contents.flags, contents.dtype, contents.size, contents.shape

        self.torch, self.cupy = Torch, CuPy

    def assert_refuses(self, call, message):
        with self.assertRaisesRegex(tuner.Error, message) as caught:
            call()
        self.assertEqual(caught.exception.args[1], "invalid argument")


class Libraries(Gpus):
    """Arrays that Python's attributes describe."""

    def test_an_array_on_another_gpu_than_the_current_one_is_refused(self):
        self.gpus = 2
        x, out = numpy.ones(1000, numpy.float32), numpy.zeros(1, numpy.float32)
        for kind, cure in ((self.torch, r"torch\.cuda\.device"), (self.cupy, r"cupy\.cuda\.Device")):
            there, here = kind(x, gpu=1), kind(x)
            message = rf"on GPU 1, and GPU 0 is current: call tuner inside `with {cure}\(1\):`"
            self.assert_refuses(lambda: tuner.reduce(there, out=kind(out)), message)
            self.assert_refuses(lambda: tuner.reduce(here, out=kind(out, gpu=1)), message)
            self.assert_refuses(lambda: tuner.prepare_reduce(there), message)
            axpy = tuner.Kernel(text=AXPY)
            self.assert_refuses(lambda: axpy(2.0, here, there), message)
            axpy(2.0, here, there, stream=7)
            self.current = 1
            tuner.reduce(there, out=kind(out, gpu=1))
            self.current = 0
        self.assertEqual((out[0], self.counted), (3000 * 3, 2))

    def test_one_gpu_is_counted_once(self):
        x, out = self.torch(numpy.ones(1000, numpy.float32)), self.torch(numpy.zeros(1, numpy.float32))
        for _ in range(3):
            tuner.reduce(x, out=out)
        self.assertEqual((out.contents[0], self.counted), (1000, 1))

    def test_types_derived_from_theirs_have_their_streams(self):
        class Weights(self.torch):
            pass

        class Field(self.cupy):
            pass

        class Field2(Field):
            pass

        x = numpy.ones(1000, numpy.float32)
        self.assertEqual([_arrays.stream_for(kind(x)) for kind in (Weights, Field, Field2)], [50, 60, 60])
        self.assertEqual(_arrays.locate(Weights(x)), (x.ctypes.data, 10, 1000, False))


class Interface(unittest.TestCase):
    """Arrays that tell about themselves by `__cuda_array_interface__`."""

    def setUp(self):
        class Array:
            def __init__(self, contents, **more):
                self.contents = contents
                self.__cuda_array_interface__ = {"shape": contents.shape, "typestr": contents.dtype.str, "version": 3,
                                                 "data": (contents.ctypes.data, False)} | more

        self.array = Array

    def test_its_stream_is_used(self):
        x = numpy.ones(1000, numpy.float32)
        for told, used in (({}, 0), ({"stream": None}, 0), ({"stream": 1}, 1), ({"stream": 2}, 2), ({"stream": 0x7000}, 0x7000)):
            with unittest.mock.patch.object(_native, "reduce", return_value=bytes(4)) as reduce:
                tuner.reduce(self.array(x, **told))
                tuner.reduce(self.array(x, **told), stream=7)
            self.assertEqual([call.args[-1] for call in reduce.call_args_list], [used, 7])

    def test_stream_0_needs_a_given_stream(self):
        x = self.array(numpy.ones(1000, numpy.float32), stream=0)
        with self.assertRaisesRegex(ValueError, "stream 0.*pass stream="):
            tuner.reduce(x)
        self.assertEqual(tuner.reduce(x, stream=1), 1000)

    def test_a_mask_is_refused(self):
        x = numpy.ones(1000, numpy.float32)
        with self.assertRaisesRegex(ValueError, "mask"):
            tuner.reduce(self.array(x, mask=self.array(x > 0)))
        self.assertEqual(tuner.reduce(self.array(x, mask=None)), 1000)


class Streams(unittest.TestCase):
    def test_all_libraries_can_give_one(self):
        for stream in (7, types.SimpleNamespace(cuda_stream=7), types.SimpleNamespace(ptr=7), types.SimpleNamespace(handle=7),
                       types.SimpleNamespace(handle=ctypes.c_void_p(7))):
            self.assertEqual(_arrays.handle_of(stream), 7)
        self.assertEqual(_arrays.handle_of(types.SimpleNamespace(handle=ctypes.c_void_p(0))), 0)  # numba's default stream


class Jax(unittest.TestCase):
    """Arrays of JAX, whose memory is XLA's as soon as the program does not hold them."""

    def setUp(self):
        class Device(str):
            platform = "cpu"

        class Array:
            __module__ = "jaxlib.test"

            def __init__(self, contents, device="cpu:0"):
                self.contents, self.shape, self.device = contents, contents.shape, device
                self.__cuda_array_interface__ = {"shape": contents.shape, "typestr": contents.dtype.str, "version": 2,
                                                 "data": (contents.ctypes.data, True)}

            def block_until_ready(self):
                pass

            def devices(self):
                return {Device(self.device)}

        self.array = Array
        self.waits = 0
        imported = unittest.mock.patch.dict(sys.modules, jax=types.ModuleType("jax"))
        imported.start()
        self.addCleanup(imported.stop)

    @contextlib.contextmanager
    def waiting(self, after):
        """Waits are counted, and begin when `after` holds."""
        test, real = self, _native.Array

        class Array:
            def __init__(self, size):
                self.real = real(size)

            def download(self, to, size):
                test.assertTrue(after())
                self.real.download(to, size)
                test.waits += 1

        with unittest.mock.patch.object(_native, "Array", Array):
            yield

    def test_a_kernel_ends_before_its_call_does(self):
        x, y = numpy.ones(1000, numpy.float32), numpy.ones(1000, numpy.float32)
        axpy = tuner.Kernel(text=AXPY)
        with self.waiting(lambda: (y == 3).all()):
            axpy(2.0, self.array(x), y)
        self.assertEqual(self.waits, 1)
        axpy(2.0, x, y)
        self.assertEqual(self.waits, 1)

    def test_arrays_on_several_devices_are_refused(self):
        x = numpy.ones(1000, numpy.float32)
        with self.assertRaisesRegex(ValueError, "one device, not on gpu:0 and gpu:1"):
            tuner.Kernel(text=AXPY)(2.0, self.array(x, "gpu:0"), self.array(x, "gpu:1"))

    def test_a_reduction_into_an_array_ends_before_its_call_does(self):
        x, out = numpy.ones(1000, numpy.float32), numpy.zeros(1, numpy.float32)
        with self.waiting(lambda: out[0] == 1000):
            tuner.reduce(self.array(x), out=out)
        self.assertEqual(self.waits, 1)


class ExchangeInC(Gpus):
    """Arrays of a library that has DLPack's exchange in C, as PyTorch has."""

    TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
    CURRENT_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))

    def setUp(self):
        super().setUp()
        self.asked, self.streams = [], []
        self.fails = False

        def tensor_of(array, to):
            self.asked.append(array)
            if self.fails:
                return -1
            contents = array.contents
            array.kept = [(ctypes.c_int64 * contents.ndim)(*extents)
                          for extents in (contents.shape, (one // contents.itemsize for one in contents.strides))]
            code = {"i": 0, "u": 1, "f": 2}[contents.dtype.kind]
            to[0] = Tensor(contents.ctypes.data, *array.device, contents.ndim, code, 8 * contents.itemsize, 1, *array.kept, 0)
            return 0

        def current_stream(device_type, device, to):
            self.streams.append((device_type, device))
            to[0] = 5
            return 0

        class Api(ctypes.Structure):
            _fields_ = [("version", ctypes.c_uint32 * 2), ("older", ctypes.c_void_p), ("managed", ctypes.c_void_p * 3),
                        ("tensor_of", self.TENSOR_OF), ("current_stream", self.CURRENT_STREAM)]

        self.api = Api((ctypes.c_uint32 * 2)(1, 3), None, (ctypes.c_void_p * 3)(), self.TENSOR_OF(tensor_of), self.CURRENT_STREAM(current_stream))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        class Array:
            __module__ = "torch.test"
            __dlpack_c_exchange_api__ = new(ctypes.addressof(self.api), b"dlpack_exchange_api", None)
            is_cuda = False
            device = (2, 1)

            def __init__(self, contents):
                self.contents = contents

        self.array = Array

    def test_is_asked_once_for_each_array(self):
        x, out = self.array(numpy.ones((20, 50), numpy.float32)), self.array(numpy.zeros(1, numpy.float32))
        self.assertIs(tuner.reduce(x, out=out), out)
        self.assertEqual(out.contents[0], 1000)
        self.assertEqual((self.asked, self.streams), ([x, out], [(2, 1)]))
        tuner.reduce(x, "max", out=out, stream=7)
        self.assertEqual((out.contents[0], len(self.streams)), (1, 1))

    def test_an_array_on_another_gpu_than_the_current_one_is_refused(self):
        self.gpus = 2
        x, out = self.array(numpy.ones(1000, numpy.float32)), self.array(numpy.zeros(1, numpy.float32))
        axpy = tuner.Kernel(text=AXPY)
        for call in (lambda: tuner.reduce(x, out=out), lambda: tuner.reduce(x), lambda: axpy(2.0, x, x)):
            self.assert_refuses(call, r"on GPU 1, and GPU 0 is current: call tuner inside `with torch\.cuda\.device\(1\):`")
        self.assertEqual(self.streams, [])
        self.current = 1
        tuner.reduce(x, out=out)
        self.assertEqual((out.contents[0], self.counted), (1000, 1))

    def test_types_derived_from_its_own_have_its_streams(self):
        class Weights(self.array):
            __module__ = "mine"

        x, out = Weights(numpy.ones(1000, numpy.float32)), self.array(numpy.zeros(1, numpy.float32))
        tuner.reduce(x, out=out)
        self.assertEqual((out.contents[0], self.streams), (1000, [(2, 1)]))

    def test_serves_every_call(self):
        x = self.array(numpy.ones(1000, numpy.float32))
        self.assertEqual(tuner.reduce(x), 1000)
        tuner.Kernel(text=AXPY)(2.0, x, y := self.array(numpy.ones(1000, numpy.float32)))
        self.assertTrue((y.contents == 3).all())
        self.assertTrue(self.streams)

    def test_refuses_what_does_not_fit(self):
        x = self.array(numpy.ones((10, 10), numpy.float32))
        for out in (numpy.zeros(1), numpy.zeros(0, numpy.float32)):
            with self.assertRaisesRegex(ValueError, "out is a writable array of float"):
                tuner.reduce(x, out=self.array(out))
        out = self.array(numpy.zeros(1, numpy.float32))
        with self.assertRaisesRegex(ValueError, "contiguous"):
            tuner.reduce(self.array(x.contents[:, ::2]), out=out)
        with self.assertRaisesRegex(ValueError, "sum, min, max, product"):
            tuner.reduce(x, "mean", out=out)

    def test_of_no_elements_has_no_gaps(self):
        empty, out = self.array(numpy.ones((3, 0), numpy.float32)), self.array(numpy.ones(1, numpy.float32))
        tuner.reduce(empty, out=out)
        self.assertEqual(out.contents[0], 0)

    def test_knows_two_types(self):
        class Parameter(self.array):
            __module__ = "torch.test"

        asked = []

        class Meta(type):
            def __getattribute__(one, name):
                if name == "__dlpack_c_exchange_api__":
                    asked.append(one)
                return super().__getattribute__(name)

        class Result(self.array, metaclass=Meta):
            __module__ = "torch.test"

        x, out = Parameter(numpy.ones(1000, numpy.float32)), Result(numpy.zeros(1, numpy.float32))
        for _ in range(3):
            tuner.reduce(x, out=out)
        self.assertEqual(asked, [Result])
        for _ in range(3):  # more types than it keeps
            tuner.reduce(self.array(x.contents), out=out)
            tuner.reduce(x, out=out)
        self.assertEqual(out.contents[0], 1000)

    def test_refuses_arrays_on_different_devices(self):
        x, out = self.array(numpy.ones(1000, numpy.float32)), self.array(numpy.zeros(1, numpy.float32))
        for device, name in (((2, 0), "cuda:0"), ((1, 0), "cpu")):
            out.device = device
            with self.assertRaisesRegex(ValueError, f"x is on cuda:1, but out is on {name}"):
                tuner.reduce(x, out=out)
        out.device = (13, 1)  # managed memory
        tuner.reduce(x, out=out)
        self.assertEqual(out.contents[0], 1000)

    def test_passes_on_that_the_library_fails(self):
        x, out = self.array(numpy.ones(1000, numpy.float32)), self.array(numpy.zeros(1, numpy.float32))
        self.fails = True
        with self.assertRaisesRegex(RuntimeError, "does not tell about it by DLPack"):
            tuner.reduce(x, out=out)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.axpy = tuner.Kernel(text=AXPY, name="axpy")

    def test_sizes_follow_from_the_arrays(self):
        x, y = numpy.full(100, 3, numpy.float32), numpy.ones(100, numpy.float32)
        self.axpy(2.0, x, y)
        self.axpy(2, x, y)
        self.assertTrue((y == 13).all())

    def test_sizes_of_a_matrix_follow_from_its_shape(self):
        a = numpy.arange(33, dtype=numpy.float32).reshape(3, 11)
        c = numpy.zeros_like(a)
        tuner.Kernel("sumMatrix2D")(a, a, c)
        self.assertTrue((c == 2 * a).all())

    def test_sizes_can_be_given(self):
        x, y = numpy.full(100, 3, numpy.float64), numpy.ones(100, numpy.float64)
        self.axpy.launch([50], 2.0, x, y)
        self.assertEqual((y[49], y[50]), (7, 1))

    def test_sizes_that_arrays_tell_fit_together(self):
        row_sums = tuner.Kernel(text="""
#pragma tuner kernel      row_sums
#pragma tuner size        rows : int32 = 8
#pragma tuner size        columns : int32 = 8
#pragma tuner parameter   block = 32 64
#pragma tuner in          a[rows * columns] : float
#pragma tuner in          x[columns] : float
#pragma tuner out         y[rows] : float
#pragma tuner grid        max(1, ceil_div(rows, block))
#pragma tuner block       block
#pragma tuner arguments   a, x, y, rows, columns
#pragma tuner reference   default
#pragma tuner default     block=32
__global__ void row_sums(const float* a, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * x[i];
  y[row] = sum;
}
""", name="row_sums")
        a, x, y = numpy.arange(35, dtype=numpy.float32).reshape(5, 7), numpy.ones(7, numpy.float32), numpy.zeros(5, numpy.float32)
        row_sums(a, x, y)
        self.assertEqual(y.tolist(), a.sum(axis=1).tolist())
        with self.assertRaisesRegex(ValueError, "rows is 6 by y, and 5 by a"):
            row_sums(a, x, numpy.zeros(6, numpy.float32))
        with self.assertRaisesRegex(ValueError, "n is 10 by x, and 1000 by y"):
            tuner.Kernel(text=AXPY, T="float")(2.0, x.repeat(2)[:10], numpy.ones(1000, numpy.float32))

    def test_an_array_that_is_too_short_is_refused(self):
        axpy, x, y = tuner.Kernel(text=AXPY), numpy.ones(1000, numpy.float32), numpy.ones(1000, numpy.float32)
        for call in (axpy.launch, axpy.prepare):
            with self.assertRaisesRegex(ValueError, "axpy: x has 1000 elements, and the kernel needs 2000"):
                call([2000], 2.0, x, y)
        axpy.launch([500], 2.0, x, y)
        self.assertEqual((y[499], y[500]), (3, 1))

    def test_arrays_whose_elements_are_others_are_refused(self):
        axpy, y = tuner.Kernel(text=AXPY, T="float"), numpy.ones(1000, numpy.float32)
        for x, error, why in ((numpy.ones(1000, ">f4"), ValueError, "order of bytes"),
                              (numpy.ones(1000, numpy.complex128), TypeError, "elements of x have 16 bytes, the kernel's have 4"),
                              (numpy.ones(1000, bool), tuner.Error, "uint8"),
                              (numpy.frombuffer(bytearray(4001), numpy.float32, 1000, 1), ValueError, "multiple of")):
            with self.assertRaisesRegex(error, why):
                axpy(2.0, x, y)
            with self.assertRaises((ValueError, TypeError)) if x.dtype != bool else contextlib.nullcontext():
                tuner.reduce(x)

    def test_wrong_sizes_and_budgets_are_named(self):
        axpy = tuner.Kernel(text=AXPY)
        for sizes in (500, [1.5], {"n": 500}):
            with self.assertRaisesRegex(TypeError, r"sizes are a list of integers, such as \[1024, 768\], not "):
                axpy.explain(sizes, T="float")
        for budget in ("5", "5 parsecs", "", -1, "0s"):
            with self.assertRaisesRegex(ValueError, "budget is a positive time, such as 30 or '30s', '5m', '2h', not "):
                axpy.tune([100], budget=budget, T="float")

    def test_an_array_that_cannot_be_written_is_no_output(self):
        x, y = numpy.ones(10, numpy.float32), numpy.ones(10, numpy.float32)
        y.flags.writeable = False
        with self.assertRaisesRegex(tuner.Error, "const") as caught:
            self.axpy(2.0, x, y)
        self.assertEqual(caught.exception.args[1], "invalid argument")

    def test_tunes_runs_and_explains(self):
        calls = []
        tuned = self.axpy.tune([500], T="double", on_trial=lambda finished, best_ns: calls.append(finished))
        self.assertEqual((tuned.trials, calls), (6, [1, 2, 3, 4, 5, 6]))
        self.assertTrue(self.axpy.explain([500], T="double").startswith(tuned.configuration))
        self.assertIn("best of 6", str(tuned))
        self.assertIn("known", str(self.axpy.tune([500], T="double")))
        ran = self.axpy.run([500], {"block": 128}, T="double")
        self.assertEqual((ran.configuration, ran.launches[0]["block"][0]), ("block=128", 128))

    def test_what_a_callback_raises_ends_the_tuning(self):
        def fail(finished, best_ns):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            self.axpy.tune([600], on_trial=fail)

    def test_wisdom_moves_between_databases(self):
        self.axpy.tune([700])
        copy = FOLDER.name + "/copy.db"
        self.assertGreaterEqual(tuner.wisdom.load(tuner.wisdom.export("axpy"), copy), 1)
        self.assertGreaterEqual(tuner.wisdom.merge(FOLDER.name + "/both.db", copy), 1)
        tuner.wisdom.freeze(FOLDER.name + "/frozen.db", copy)
        with self.assertRaisesRegex(tuner.Error, "no such database"):
            tuner.wisdom.merge(FOLDER.name + "/both.db", "/nowhere.db")

    def test_errors_say_what_and_where(self):
        with self.assertRaisesRegex(tuner.Error, "mine:1"):
            tuner.Kernel(text="#pragma tuner kernel", name="mine")
        with self.assertRaisesRegex(TypeError, "a name or path, or a text"):
            tuner.Kernel()


class Documentation(unittest.TestCase):
    def test_its_examples_run(self):
        root = pathlib.Path(__file__).parents[2]
        for page in (root / "bindings" / "python" / "README.md", root / "README.md", root / "docs" / "python.md"):
            text = page.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                for name, block in re.findall(r"^<!-- file (\S+) -->\n```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
                    pathlib.Path(name).write_text(block, encoding="utf-8")
                names = {}
                for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
                    exec(compile(block, page.name, "exec"), names)


class Display(unittest.TestCase):
    def test_shows_how_far_a_tuning_is(self):
        written = io.StringIO()
        written.isatty = lambda: True
        with contextlib.redirect_stderr(written):
            tuner.Kernel(text=AXPY, name="axpy").tune([40_000], trials=2, T="float", force=True)
        self.assertRegex(written.getvalue(), r"axpy: \d+ configurations?, best ")
        self.assertTrue(written.getvalue().endswith("\r"), "the line is cleared")

    def test_a_result_is_a_row_of_a_table(self):
        result = tuner.Kernel(text=AXPY, name="axpy").run([1000], {"block": 96}, T="float")
        if importlib.util.find_spec("pandas"):
            row = result.to_pandas().iloc[0]
            self.assertEqual((row["block"], row["verified"]), (96, True))
        self.assertIn("96", result._repr_html_())

    def test_a_report_is_a_page(self):
        kernel = tuner.Kernel(text=AXPY, name="axpy")
        kernel.tune([1000], trials=2, T="float")
        report = tuner.report("axpy")
        self.assertTrue(report.html.startswith("<!doctype html>"))
        self.assertTrue(report._repr_html_().startswith("<iframe"))
        self.assertTrue(report.save(pathlib.Path(FOLDER.name) / "page.html").read_text(encoding="utf-8") == report.html)
        with self.assertRaisesRegex(tuner.Error, "nothingOfTheKind"):
            tuner.report("nothingOfTheKind")


class Memory(unittest.TestCase):
    def test_many_calls_keep_nothing(self):
        """With TUNER_TEST_CALLS=1000000 a million calls of both."""
        calls = int(os.environ.get("TUNER_TEST_CALLS", 10_000))
        x, y = numpy.ones(100, numpy.float32), numpy.zeros(100, numpy.float32)
        axpy = tuner.Kernel(text=AXPY, name="axpy")
        with open("/proc/self/statm") as file:
            def pages():
                gc.collect()
                file.seek(0)
                return int(file.read().split()[1])

            for call in (lambda: tuner.reduce(x), lambda: axpy(2.0, x, y)):
                for _ in range(2_000):
                    call()
                before = pages()
                for _ in range(calls):
                    call()
                self.assertLess(pages() - before, 128)


if __name__ == "__main__":
    unittest.main()
