"""Kernel Tuner's interface on the host backend. Run by bindings/python/test."""

import contextlib
import io
import itertools
import json
import operator
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_DEVICE="host", TUNER_TUNE="never")

import numpy  # noqa: E402

import tuner  # noqa: E402
from tuner import _expressions, _translation, kernel_tuner  # noqa: E402
from tuner.kernel_tuner import _describe, observers, run_kernel, store_output_file, strategies, tune_kernel, util  # noqa: E402

PROGRAM = pathlib.Path(tuner.__file__).parent / "bin" / "tune"
SCALE = """
__global__ void scale(float *y, const float *x, float a, int n) {
  for (int k = 0; k < tile; ++k) {
    const int i = (blockIdx.x * tile + k) * block_size_x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
  }
}
"""
N = 1000
X = numpy.arange(N, dtype=numpy.float32)
ARGUMENTS = [numpy.zeros(N, numpy.float32), X, numpy.float32(2.5), numpy.int32(N)]
PARAMETERS = {"block_size_x": [32, 64], "tile": [1, 2]}
GRID = {"grid_div_x": ["block_size_x", "tile"]}


def tuned(**options):
    with contextlib.redirect_stdout(io.StringIO()):
        return tune_kernel("scale", SCALE, N, ARGUMENTS, PARAMETERS, **{"quiet": True, **GRID, **options})


class Expressions(unittest.TestCase):
    parameters = {"a": [1, 2, 4, 8], "b": [1, 3, 6], "c": [-2, 0, 2], "t": ["float", "half"], "u": [True, False],
                  "f": [-0.25, 0.5, 1]}

    def holds_for(self, texts):
        """The configurations that a kernel file with these constraints has."""
        file = pathlib.Path(FOLDER.name) / "expressions.cu"
        lines = [f"#pragma tuner parameter {name} = {' '.join(_translation.value_texts(values))}" for name, values in self.parameters.items()]
        lines += [f"#pragma tuner constraint c{at}: {text}" for at, text in enumerate(texts)]
        file.write_text("#pragma tuner kernel k\n#pragma tuner size n = 1\n" + "\n".join(lines) + "\n"
                        "#pragma tuner out y[n] : int\n#pragma tuner block 1\n#pragma tuner grid 1\n__global__ void k(int *y) {}\n")
        printed = subprocess.run([PROGRAM, file, "--dry-run", "--json", "--unverified"], capture_output=True, text=True)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        return json.loads(printed.stdout)["spaces"][0]["valid"]

    def test_mean_what_python_means(self):
        z = 7
        def short(p):
            """Fits."""
            most = 6 if p["u"] else 3
            if p["a"] * p["b"] > 2 * most:
                return False
            elif p["b"] == 3:
                return p["c"] != 0
            return p["a"] > 1 and p["t"] == "half"

        def by_names(a, b):
            twice = 2 * a
            return twice > b

        conditions = [short, by_names, "a * b <= 8", "a == 1 or b == 3 and not a > 2", "b % ((a * 6) / 2) == 0", "1 < a <= 4", "a in (1, 2, 9)",
                      "t == 'float'", "t not in ['float', 'double']", "u", "not u and a > 1", "a - b // 2 > 0", "a % 2", "2**a <= 16",
                      "(a if b == 1 else 3) > 2", "int(a / 3) == 1", "a / 2 < b / 3", "a - (b - a) > 0", "a * (b // a * 2) > 3",
                      "max(a, b) * 2 <= 12", "a == 1 and b == 1 and u", "c // 2 == -1", "c % 3 == 1", "abs(c) == 2", "-c < a - 4",
                      "a & 2", "a == 0.5 * b * 2", "c / a < 0.5", "math.ceil(b / a) == 2", lambda p: p["a"] * p["b"] < z,
                      lambda p: p["t"] == "half" or p["c"] > 0, lambda a, b: a < b + z, lambda p: dict(p)["a"] == 2,
                      lambda **p: p["b"] > p["a"], "abs(a / -2) >= 2", "abs(3 / a) >= 2", "(a or b) == 1", "(a and b) == 3",
                      "f > 0.7", "f == 0.5 or a == 1", "f in (1, -0.25)", "a * f <= 2", lambda p: p["f"] < 0 and p["a"] > 1,
                      "a * 0.1 > 0.3", "a in (2.0, 4)", "any(a == x for x in (1, 2))", operator.itemgetter("u"), "0.5 / 7 < 1 / a"]
        for condition in conditions:
            function = _expressions.python_function(condition, self.parameters)
            every = [dict(zip(self.parameters, values)) for values in itertools.product(*self.parameters.values())]
            texts = _expressions.condition(condition, self.parameters)
            with self.subTest(condition=condition, texts=texts):
                self.assertEqual(self.holds_for(texts), sum(map(bool, map(function, every))))

    def test_of_a_function_are_a_table_of_what_it_looks_at(self):
        def allowed(p):
            for limit in (2,):
                if p["a"] > limit:
                    return p["b"] == 3
            return True

        self.assertEqual(_expressions.condition(allowed, self.parameters), ["a in {1, 2} or a in {4, 8} and b == 3"])

    def test_compute_what_a_short_function_returns(self):
        def threads(p):
            wide = 2 * p["a"]
            return wide * p["b"]

        self.assertEqual(_expressions.number(threads, self.parameters), ("2 * a * b", "1"))

    def test_choose_among_many_numbers(self):
        many = {"a": list(range(1, 300))}
        above, below = _expressions.number(lambda p: p["a"] * 7 % 300, many)
        self.assertEqual(below, "1")
        depth = max(itertools.accumulate((one == "(") - (one == ")") for one in above))
        self.assertLess(depth, 12)

    def test_that_cannot_be_are_refused(self):
        large = {name: list(range(200)) for name in ("p", "q", "r")}
        with self.assertRaisesRegex(_translation.Untranslatable, "8000000 combinations"):
            _expressions.condition(lambda x: (x["p"] ^ x["q"] ^ x["r"]) == 0, large)
        with self.assertRaisesRegex(_translation.Untranslatable, "no value"):
            _translation.literal([1, 2])


class TuneKernel(unittest.TestCase):
    def test_gives_a_result_for_each_configuration(self):
        results, environment = tuned(answer=[2.5 * X, None, None, None])
        self.assertEqual(sorted((one["block_size_x"], one["tile"]) for one in results), [(32, 1), (32, 2), (64, 1), (64, 2)])
        self.assertEqual(environment["best_config"], min(results, key=lambda one: one["time"]))
        self.assertGreater(len(results[0]["times"]), 1)

    def test_finds_wrong_configurations_by_the_answer(self):
        results, _ = tuned(answer=[2.5 * X, None, None, None], grid_div_x=["block_size_x"], restrictions=["tile == 2"])
        self.assertTrue(all("__error__" not in one for one in results))
        results, environment = tuned(answer=[3 * X, None, None, None])
        self.assertTrue(all(isinstance(one["__error__"], util.RuntimeFailedConfig) for one in results))
        self.assertNotIn("best_config", environment)

    def test_measures_without_an_answer(self):
        self.assertEqual(len(tuned()[0]), 4)

    def test_keeps_to_restrictions_and_limits(self):
        self.assertEqual(len(tuned(restrictions=["tile == 1", lambda p: p["block_size_x"] > 32])[0]), 1)
        self.assertEqual(len(tuned(strategy="random_sample", strategy_options={"max_fevals": 2})[0]), 2)

    def test_asks_a_function_about_the_best(self):
        asked = []

        def verify(answer, outputs, atol=None):
            asked.append(outputs[0])
            return len(asked) == 2 and numpy.allclose(outputs[0], answer[0], atol=atol)

        results, environment = tuned(answer=[2.5 * X, None, None, None], verify=verify)
        self.assertEqual(sum("__error__" in one for one in results), 1)
        self.assertNotIn("__error__", environment["best_config"])

    def test_computes_metrics_and_objectives(self):
        results, environment = tuned(metrics={"GB/s": lambda p: N * 8 / 1e6 / p["time"], "inverse": "1 / time"}, objective="GB/s")
        self.assertEqual(environment["best_config"], max(results, key=lambda one: one["GB/s"]))
        self.assertAlmostEqual(results[0]["inverse"], 1 / results[0]["time"])

    def test_writes_and_reads_cache_files(self):
        file = pathlib.Path(FOLDER.name) / "scale_cache"
        first, _ = tuned(cache=str(file))
        stored = json.loads(file.with_suffix(".json").read_text())
        self.assertEqual(sorted(stored["cache"]), ["32,1", "32,2", "64,1", "64,2"])
        self.assertEqual(stored["tune_params_keys"], ["block_size_x", "tile"])
        again, _ = tuned(cache=str(file))
        self.assertEqual([one["time"] for one in again], [one["time"] for one in first], "nothing is measured again")

    def test_keeps_to_the_space_of_a_larger_cache(self):
        file = str(pathlib.Path(FOLDER.name) / "larger")
        tuned(cache=file)
        with contextlib.redirect_stdout(io.StringIO()):
            results, _ = tune_kernel("scale", SCALE, N, ARGUMENTS, {"block_size_x": [64], "tile": [2]}, quiet=True, cache=file, **GRID,
                                     metrics={"GB/s": "1 / time"}, objective="GB/s")
        self.assertEqual([(one["block_size_x"], one["tile"]) for one in results], [(64, 2)])
        self.assertIn("GB/s", results[0])
        with self.assertRaisesRegex(ValueError, "another problem_size"):
            tune_kernel("scale", SCALE, 2 * N, ARGUMENTS, PARAMETERS, quiet=True, cache=file, **GRID)

    def test_keeps_results_when_a_metric_fails(self):
        file = pathlib.Path(FOLDER.name) / "fails.json"
        with self.assertRaises(ZeroDivisionError):
            tuned(cache=str(file), metrics={"bad": lambda p: 1 / 0})
        self.assertEqual(len(json.loads(file.read_text())["cache"]), 4)

    def test_has_blocks_of_256_without_a_parameter(self):
        text = SCALE.replace("block_size_x", "blockDim.x")
        results, _ = tune_kernel("scale", text, N, ARGUMENTS, {"tile": [1, 2]}, quiet=True, grid_div_x=[256, "tile"],
                                 answer=[2.5 * X, None, None, None])
        self.assertTrue(all("__error__" not in one for one in results))

    def test_gives_values_back_as_they_were(self):
        text = SCALE.replace("a * x[i]", "a * x[i] * factor / factor")
        results, _ = tune_kernel("scale", text, N, ARGUMENTS, {**PARAMETERS, "factor": [0.5, 1], "BLOCK": [numpy.int32(3)]}, quiet=True,
                                 answer=[2.5 * X, None, None, None], **GRID)
        self.assertEqual({one["factor"] for one in results}, {0.5, 1})
        outputs = run_kernel("scale", text, N, ARGUMENTS, results[0], **GRID)
        numpy.testing.assert_array_equal(outputs[0], 2.5 * X)

    def test_defines_what_it_is_told(self):
        text = "template <int block_size_x, int tile> " + SCALE.strip().replace("a * x[i]", "FACTOR * x[i]")
        results, _ = tune_kernel("scale<block_size_x, tile>", text, N, ARGUMENTS, PARAMETERS, quiet=True, defines={"FACTOR": 0.5},
                                 answer=[0.5 * X, None, None, None], **GRID)
        self.assertTrue(all("__error__" not in one for one in results))

    def test_keeps_large_numbers_and_the_sign_of_zero(self):
        text = "__global__ void same(long long *y, const long long *x, float *z, const float *w) { y[threadIdx.x] = x[threadIdx.x]; z[threadIdx.x] = 1 / w[threadIdx.x]; }"
        x, w = numpy.full(64, 2**53 + 1), numpy.array([0.0, -0.0] * 32, numpy.float32)
        results, _ = tune_kernel("same", text, 64, [numpy.zeros_like(x), x, numpy.zeros_like(w), w], {"block_size_x": [64]}, quiet=True,
                                 answer=[x, None, numpy.where(numpy.signbit(w), -numpy.inf, numpy.inf).astype(numpy.float32), None])
        self.assertTrue(all("__error__" not in one for one in results))

    def test_leaves_the_order_of_memory_as_it_is(self):
        text = "__global__ void count(float *y, const float *x) { y[threadIdx.x] = x[threadIdx.x] - threadIdx.x; }"
        x = numpy.arange(64, dtype=numpy.float32).reshape((16, 4), order="F")
        results, _ = tune_kernel("count", text, 64, [numpy.ones_like(x, order="F"), x], {"block_size_x": [64]}, quiet=True,
                                 answer=[numpy.zeros((16, 4)), None])
        self.assertNotIn("__error__", results[0])
        self.assertEqual(run_kernel("count", text, 64, [numpy.ones_like(x, order="F"), x], {"block_size_x": 64})[0].max(), 0)

    def test_runs_a_kernel_without_parameters(self):
        text = "__global__ void one(int *x) { x[threadIdx.x] = 1; }"
        self.assertEqual(run_kernel("one", text, 256, [numpy.zeros(256, numpy.int32)], {})[0].sum(), 256)

    def test_takes_restrictions_by_place(self):
        self.assertEqual(len(tuned(restrictions=lambda x, y: x == 32 and y == 2)[0]), 1)
        self.assertEqual(len(tuned(restrictions=[lambda *values: sum(values) > 33])[0]), 3)

    def test_has_registers_of_configurations(self):
        results, _ = tuned(observers=[observers.register.RegisterObserver], metrics={"registers": lambda p: p["num_regs"]})
        self.assertEqual([one["registers"] for one in results], [0] * 4)  # the host backend has none

    def test_passes_structs_as_their_bytes(self):
        text = """
            struct star { float mass; short id; };
            __global__ void masses(float *out, const star *stars) { out[threadIdx.x] = stars[threadIdx.x].mass * stars[threadIdx.x].id; }
            """
        stars = numpy.array([(1.5, 2), (2.5, 3)], dtype=numpy.dtype([("mass", "f4"), ("id", "i2")], align=True))
        out = numpy.zeros(2, numpy.float32)
        results, _ = tune_kernel("masses", text, 1, [out, stars], {"block_size_x": [2]}, answer=[numpy.float32([3, 7.5]), None], quiet=True)
        self.assertNotIn("__error__", results[0])
        self.assertEqual(run_kernel("masses", text, 1, [out, stars], {"block_size_x": 2})[0].tolist(), [3, 7.5])
        with self.assertRaisesRegex(NotImplementedError, "an answer for stars, whose elements are structs"):
            tune_kernel("masses", text, 1, [out, stars], {"block_size_x": [2]}, answer=[None, stars], quiet=True)

    def test_refuses_kernels_that_launch_kernels_on_the_host(self):
        text = "__global__ void a() {}\n__global__ void b(float *x) { a<<<1, 1>>>(); }"
        with self.assertRaisesRegex(tuner.Error, "launches kernels from the device"):
            run_kernel("b", text, 1, [X], {"block_size_x": 32}, compiler_options=["-rdc=true"])
        self.assertEqual(run_kernel("scale", SCALE, N, ARGUMENTS, {"block_size_x": 32, "tile": 1}, compiler_options=["-rdc=true"])[0][1], 2.5)

    def test_leaves_options_out_that_only_nvcc_has(self):
        given = ["-O3", "-arch", "sm_80", "-gencode", "arch=compute_80,code=sm_80", "-std=c++17", "-Wno-deprecated-gpu-targets",
                 "--expt-relaxed-constexpr", "-Xcompiler", "-fopenmp", "-lcublas", "-Xptxas", "-v", "-use_fast_math", "-maxrregcount=32",
                 "-I", "/a", "-I/b", "-D", "X=2", "-DY"]
        made = _describe.describe("a test", "scale", SCALE, N, ARGUMENTS, PARAMETERS, compiler_options=given)
        self.assertEqual(made.options, ["-Xptxas=-v", "-use_fast_math", "-maxrregcount=32"])
        self.assertEqual([str(one) for one in made.include_paths[-2:]], ["/a", "/b"])
        self.assertEqual(made.text_macros, {"X": "2", "Y": "1"})

    def test_writes_t4(self):
        file = pathlib.Path(FOLDER.name) / "out.json"
        store_output_file(str(file), tuned()[0], PARAMETERS)
        self.assertEqual(len(json.loads(file.read_text())["results"]), 4)

    def test_refuses_by_name_what_is_not_supported(self):
        for options, message in (({"lang": "OpenCL"}, "OpenCL"), ({"simulation_mode": True}, "simulation_mode"),
                                 ({"texmem_args": {"t": X}}, "texmem_args"), ({"observers": [observers.BenchmarkObserver()]}, "observer")):
            with self.subTest(options=options), self.assertRaisesRegex(NotImplementedError, message):
                tuned(**options)
        from tuner.kernel_tuner.integration import create_device_targets
        with self.assertRaisesRegex(NotImplementedError, "tuner.kernel_tuner.integration.create_device_targets is not supported"):
            create_device_targets("a.h", "a.json")
        with self.assertRaisesRegex(NotImplementedError, "tune replay"):
            kernel_tuner.tune_cache()
        with self.assertRaisesRegex(ValueError, "objective_higher_is_better"):
            tuned(objective="joy")
        with self.assertRaisesRegex(ValueError, "neither measured"):
            tuned(objective="GB/s")
        with self.assertRaisesRegex(ValueError, "the answer for y has 3 elements"):
            tuned(answer=[numpy.ones(3), None, None, None])
        with self.assertRaisesRegex(ValueError, "unknown strategy"):
            strategies.name_of("luck")

    def test_takes_texts_that_a_function_makes(self):
        def text(parameters):
            return SCALE.replace("tile", str(dict(parameters)["tile"]))

        results, _ = tune_kernel("scale", text, N, ARGUMENTS, PARAMETERS, quiet=True, answer=[2.5 * X, None, None, None], **GRID)
        self.assertEqual(sum("__error__" not in one for one in results), 4)

    def test_takes_types_and_constants(self):
        text = "__constant__ double factor[2], add;\n" + SCALE.replace("float", "real").replace("a * x[i]", "factor[1] * x[i] + add")
        text = text.replace("real a", "float a")
        results, _ = tune_kernel("scale", text, N, ARGUMENTS, {**PARAMETERS, "real": ["float"]}, quiet=True, **GRID,
                                 cmem_args={"factor": numpy.array([0, 4.0]), "add": numpy.float64(0)}, answer=[4 * X, None, None, None])
        self.assertTrue(all("__error__" not in one for one in results))
        results, _ = tune_kernel("scale", text, N, ARGUMENTS, {**PARAMETERS, "real": ["float"]}, quiet=True, **GRID,
                                 cmem_args={"factor": numpy.array([0, 4.0]), "add": numpy.float64(0)}, answer=[4 * X, None, None, None],
                                 verify=lambda answer, outputs, atol: numpy.array_equal(answer[0], outputs[0]))
        self.assertTrue(all("__error__" not in one for one in results))

    def test_chooses_among_numbers_with_a_point(self):
        text = SCALE.replace("a * x[i]", "f * x[i]")
        results, _ = tune_kernel("scale", text, N, ARGUMENTS, {**PARAMETERS, "f": [0.25, 0.5, 1.0]}, quiet=True, **GRID,
                                 restrictions=["f > 0.3", lambda p: p["f"] * p["tile"] < 1], answer=[0.5 * X, None, None, None])
        self.assertEqual([(one["f"], one["tile"], one.get("__error__")) for one in results], [(0.5, 1, None)] * 2)

    def test_ends_with_the_message_when_nothing_can_compile(self):
        many = {"block_size_x": list(range(32, 1024, 96)), "tile": list(range(1, 11))}
        options = {"strategy": "random_sample", "strategy_options": {"max_fevals": 110}}
        for text, message in (('#include "missing.h"\n' + SCALE, "missing.h"), (SCALE.replace("if (i < n)", "if i < n"), r"expected .\(")):
            with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(tuner.Error, message):
                tune_kernel("scale", text, N, ARGUMENTS, many, **options, **GRID)

    def test_ends_with_its_script(self):
        script = pathlib.Path(FOLDER.name) / "ends.py"
        script.write_text("import numpy\nfrom tuner.kernel_tuner import tune_kernel\n"
                          "tune_kernel('k', '__global__ void k(int *x) { x[threadIdx.x] = a + b; }', 32, [numpy.zeros(32, numpy.int32)],"
                          "            {'block_size_x': [32], 'a': list(range(99)), 'b': list(range(99))})\n")
        process = subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL)

        def of_its_own():
            """The numbers of its processes."""
            found = []
            for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if f"--parent\0{process.pid}\0".encode() in file.read_bytes():
                        found.append(file.parent.name)
            return found

        def wait_until(condition):
            for _ in range(12000):
                if condition():
                    return True
                time.sleep(0.1)
            return False

        self.assertTrue(wait_until(of_its_own))
        process.terminate()
        process.wait()
        self.assertTrue(wait_until(lambda: not of_its_own()))


class RunKernel(unittest.TestCase):
    def test_returns_all_arguments(self):
        outputs = run_kernel("scale", SCALE, N, ARGUMENTS, {"block_size_x": 64, "tile": 2}, **GRID)
        numpy.testing.assert_array_equal(outputs[0], 2.5 * X)
        self.assertEqual(outputs[3], N)
        numpy.testing.assert_array_equal(ARGUMENTS[0], 0, "the caller's arrays stay as they are")

    def test_takes_constants(self):
        text = "__constant__ float offset, table[4];  // __constant__ float table[2];\n" + SCALE.replace("a * x[i]", "table[3] + offset")
        constants = {"table": numpy.array([0, 1, 2, 2.5], numpy.float32), "offset": numpy.float32(0.1)}
        outputs = run_kernel("scale", text, N, ARGUMENTS, {"block_size_x": 64, "tile": 2}, cmem_args=constants, **GRID)
        numpy.testing.assert_array_equal(outputs[0], numpy.float32(2.5) + numpy.float32(0.1))
        with self.assertRaisesRegex(NotImplementedError, "no declaration `__constant__ … absent"):
            run_kernel("scale", text, N, ARGUMENTS, {"block_size_x": 64, "tile": 2}, cmem_args={"absent": X}, **GRID)

    def test_neither_tunes_nor_remembers(self):
        script = f"""
import numpy
from tuner.kernel_tuner import run_kernel
print(run_kernel("one", "__global__ void one(int *x) {{ x[threadIdx.x] = 1; }}", 32, [numpy.zeros(32, numpy.int32)], {{"block_size_x": 32}})[0].sum())
"""
        process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "TUNER_TUNE": "on_first_use"})
        self.assertEqual((process.stdout, process.stderr), ("32\n", ""))


class Scripts(unittest.TestCase):
    def test_run_unchanged(self):
        script = pathlib.Path(FOLDER.name) / "unchanged.py"
        script.write_text(textwrap.dedent("""
            import numpy
            import kernel_tuner
            from kernel_tuner.observers.nvml import NVMLObserver
            from kernel_tuner.util import get_config_string
            from kernel_tuner.integration import store_results
            import os
            assert os.path.isabs(__file__)
            try:
                store_results()
            except NotImplementedError as error:
                assert "kernel_tuner.integration.store_results" in str(error)
            x = numpy.ones(64, numpy.float32)
            text = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"
            print(kernel_tuner.run_kernel("twice", text, 64, [x], {"block_size_x": 64})[0].sum())
            """))
        process = subprocess.run([sys.executable, "-m", "tuner.kernel_tuner", script], capture_output=True, text=True)
        self.assertEqual(process.stdout, "128.0\n", process.stderr)


if __name__ == "__main__":
    unittest.main()
