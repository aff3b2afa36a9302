"""The package on the host backend, with NumPy's arrays. Run by bindings/python/test."""

import contextlib
import ctypes
import gc
import importlib.util
import io
import os
import pathlib
import re
import tempfile
import unittest

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_DEVICE="host", TUNER_TUNE="never")

import numpy  # noqa: E402

import tuner  # noqa: E402

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
        with self.assertRaisesRegex(tuner.Error, "type"):
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


class ExchangeInC(unittest.TestCase):
    """Arrays of a library that has DLPack's exchange in C, as PyTorch has."""

    TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
    CURRENT_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))

    def setUp(self):
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
