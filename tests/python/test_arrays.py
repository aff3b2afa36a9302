"""Arrays of other libraries, which these tests imitate: where they are, their GPU and their stream. Run by bindings/python/test."""

import contextlib
import ctypes
import sys
import types
import unittest
import unittest.mock

import numpy

from test_tuner import AXPY  # also sets the environment
import tuner
from tuner import _arrays
from tuner.lib import _native


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

    def test_numpys_masked_elements_are_refused(self):
        with self.assertRaisesRegex(ValueError, "masked"):
            tuner.reduce(numpy.ma.array([1.0, 2.0, 1e9], mask=[0, 0, 1]))
        self.assertEqual(tuner.reduce(numpy.ma.array([1.0, 2.0])), 3)


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
            code = array.code if array.code is not None else {"i": 0, "u": 1, "f": 2}[contents.dtype.kind]
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

            code = None  # DLPack's, of a type that NumPy does not have

            def __init__(self, contents):
                self.contents = contents

        self.array = Array

    def test_knows_types_that_numpy_does_not_have_by_their_names(self):
        class Array:
            __array_interface__ = numpy.zeros(3, "V1").__array_interface__

            def __init__(self, dtype):
                self.dtype = dtype

        for dtype, code in (("float8_e5m2", _arrays.NAMES.index("e5m2")), ("V1", _arrays.VOID)):
            self.assertEqual(_arrays.locate(Array(dtype))[1], code)

    def test_tells_the_types_of_fp8(self):
        for code, name in ((10, "e4m3"), (12, "e5m2"), (14, "e8m0")):
            array = self.array(numpy.zeros(3, numpy.uint8))
            array.code = code
            self.assertEqual(_arrays.NAMES[_arrays.locate(array)[1]], name)

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
        with self.assertRaisesRegex(RuntimeError, "could not describe the array by DLPack"):
            tuner.reduce(x, out=out)


if __name__ == "__main__":
    unittest.main()
