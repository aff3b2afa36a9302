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


class Kernels(unittest.TestCase):
    def setUp(self):
        self.axpy = tuner.Kernel(text=AXPY, name="axpy")

    def test_sizes_follow_from_the_arrays(self):
        x, y = numpy.full(100, 3, numpy.float32), numpy.ones(100, numpy.float32)
        self.axpy(2.0, x, y)
        self.axpy(2, x, y)
        self.assertTrue((y == 13).all())

    def test_structs_are_passed_by_value(self):
        weigh = tuner.Kernel(name="weigh", text="""
#pragma tuner kernel      weigh
#pragma tuner size        n
#pragma tuner parameter   block = 32 64
#pragma tuner out         y[n] : float
#pragma tuner scalar      pass = { 2, 1 }
#pragma tuner grid        ceil_div(n, block)
#pragma tuner block       block
#pragma tuner arguments   y, pass, n
#pragma tuner default     block=32
#pragma tuner reference   default
struct Pass { float factor; int shift; };
extern "C" __global__ void weigh(float* y, Pass pass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = pass.factor * pass.shift;
}
""")

        class Pass(ctypes.Structure):
            _fields_ = [("factor", ctypes.c_float), ("shift", ctypes.c_int)]

        y = numpy.zeros(33, numpy.float32)
        weigh(y, Pass(1.5, 4))
        self.assertTrue((y == 6).all())
        weigh(y, numpy.array([(2, 5)], [("factor", "f4"), ("shift", "i4")])[0])
        self.assertTrue((y == 10).all())

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

    def test_components_of_vectors_and_bytes_of_structs_are_counted(self):
        lengths = tuner.Kernel(text="""
#pragma tuner kernel      lengths
#pragma tuner size        n : int32 = 64
#pragma tuner parameter   block = 32 64
#pragma tuner in          p[n] : float4
#pragma tuner in          s[n] : { float by; int times; }
#pragma tuner out         y[n] : float
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner block       block
#pragma tuner arguments   p, s, y, n
#pragma tuner reference   default
#pragma tuner default     block=32
struct Step { float by; int times; };
__global__ void lengths(const float4* p, const Step* s, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = p[i].x + p[i].w + s[i].by * s[i].times;
}
""", name="lengths")
        p, y = numpy.arange(40, dtype=numpy.float32).reshape(10, 4), numpy.zeros(10, numpy.float32)
        s = numpy.array([(0.5, 2)] * 10, [("by", "f4"), ("times", "i4")])
        lengths(p, s, y)
        self.assertEqual(y.tolist(), (p[:, 0] + p[:, 3] + 1).tolist())
        with self.assertRaisesRegex(ValueError, "p has 36 elements, and the kernel needs 40"):
            lengths.launch([10], p[:9], s, y)
        with self.assertRaisesRegex(ValueError, "s has 72 elements, and the kernel needs 80"):
            lengths.launch([10], p, s[:9], y)

    def test_arrays_whose_elements_are_others_are_refused(self):
        axpy, y = tuner.Kernel(text=AXPY, T="float"), numpy.ones(1000, numpy.float32)
        for x, error, why in ((numpy.ones(1000, ">f4"), ValueError, "order of bytes"),
                              (numpy.ones(1000, numpy.complex128), TypeError, "elements of x have 16 bytes, the kernel's have 4"),
                              (numpy.ones(1000, bool), TypeError, "elements of x have 1 bytes"),
                              (numpy.frombuffer(bytearray(4001), numpy.float32, 1000, 1), ValueError, "multiple of")):
            with self.assertRaisesRegex(error, why):
                axpy(2.0, x, y)
            with self.assertRaises((ValueError, TypeError)):
                tuner.reduce(x)

    def test_wrong_sizes_and_budgets_are_named(self):
        axpy = tuner.Kernel(text=AXPY)
        for sizes in (500, [1.5], {"n": 500}):
            with self.assertRaisesRegex(TypeError, r"sizes are a list of integers, such as \[1024, 768\], not "):
                axpy.explain(sizes, T="float")
        for budget in ("5", "5 parsecs", "", -1, "0s"):
            with self.assertRaisesRegex(ValueError, "budget is a positive time, such as 30 or '30s', '5m', '2h', not "):
                axpy.tune([100], budget=budget, T="float")

    def test_integers_that_do_not_fit_and_texts_with_a_zero_are_refused(self):
        axpy, x = tuner.Kernel(text=AXPY), numpy.ones(10, numpy.float32)
        for value in (2**64, -2**63 - 1):
            with self.assertRaisesRegex(OverflowError, f"argument 1 is {value}"):
                axpy(value, x, x)
        with self.assertRaisesRegex(OverflowError, f"size 1 is {2**63}"):
            axpy.explain([2**63], T="float")
        with self.assertRaisesRegex(OverflowError, "trials is -1"):
            axpy.tune([100], trials=-1, T="float")
        for refused in (lambda: tuner.Kernel("axpy.cu\0.txt"), lambda: tuner.Kernel(text=AXPY, T="float\0double")):
            with self.assertRaisesRegex(ValueError, "character 0"):
                refused()

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

    def test_tunes_several_sizes_together(self):
        rule = self.axpy.tune_together([[510], [5000], [40000]], trials=3, T="double", on_trial=lambda *_: None)
        self.assertEqual([one["sizes"] for one in rule.choices], [[510], [5000], [40000]])
        self.assertIn("else: block=", str(rule))
        self.assertTrue(rule.between is None or rule.between["sizes"] == 1)
        self.assertIn("the rule", self.axpy.explain([12000], T="double"))
        with self.assertRaisesRegex(ValueError, "as many sizes"):
            self.axpy.tune_together([[510], [5000, 1]])

    def test_efforts_are_ordered_and_a_result_of_more_answers(self):
        nothing = self.axpy.tune([440], effort="none")
        self.assertEqual((nothing.from_cache, nothing.effort, nothing.median_ns), (True, "none", 0))
        tuned = self.axpy.tune([440], effort="thorough")
        self.assertEqual((tuned.from_cache, tuned.effort, tuned.tried), (False, "thorough", 6))
        self.assertTrue(self.axpy.tune([440], effort="quick").from_cache)
        with self.assertRaisesRegex(tuner.Error, "did you mean 'quick'"):
            self.axpy.tune([440], effort="quik")
        with self.assertRaisesRegex(tuner.Error, "set one of them"):
            self.axpy.tune([440], effort="quick", budget="5s")

    def test_a_program_says_how_it_uses_a_kernel(self):
        self.assertGreater(self.axpy.run([500], use="hot").median_ns, 0)
        for call in (self.axpy.run, self.axpy.tune):
            with self.assertRaisesRegex(tuner.Error, "has no streams and no graphs"):
                call([500], use="graph")
        used = tuner.Kernel(text=AXPY, name="axpy", use="stream")
        self.assertIn("block=", used.explain([500]))
        with self.assertRaisesRegex(tuner.Error, "did you mean 'graph'"):
            tuner.Kernel(text=AXPY, name="axpy", use="grpah")

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
