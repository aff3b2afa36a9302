"""The conversion of scripts for Kernel Tuner and of T1 descriptions to kernel files. Run by bindings/python/test."""

import contextlib
import functools
import io
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

from test_kernel_tuner import FOLDER, PROGRAM, SCALE
from tuner import convert

SCRIPT = """
    import sys
    import numpy
    from kernel_tuner import tune_kernel
    from kernel_tuner.observers.register import RegisterObserver
    text = open("scale.cu").read()
    n = numpy.int32(1000)
    x = numpy.random.rand(n).astype(numpy.float32)
    parameters = dict(block_size_x=[32 * i for i in range(1, 5)])
    parameters[f"ti{'le'}"] = [1, 2, 4]
    for kernel in sys.argv[1:] or ["scale"]:
        results, _ = tune_kernel(kernel, text, n, [numpy.zeros_like(x), x, numpy.float32(2), n], parameters,
                                 grid_div_x=["block_size_x", "tile"], restrictions=lambda p: p["tile"] * p["block_size_x"] <= 256,
                                 answer=[2 * x, None, None, None], atol=1e-4, observers=[RegisterObserver],
                                 metrics={"registers": lambda p: p["num_regs"]})
        print("best", min(results, key=lambda one: one["time"])["block_size_x"])
"""


class Convert(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER.name))
        (self.folder / "scale.cu").write_text(SCALE)

    def convert(self, *arguments):
        """Exit status and what is printed."""
        process = subprocess.run([sys.executable, "-m", "tuner.convert", *arguments], cwd=self.folder, capture_output=True, text=True)
        return process.returncode, process.stdout + process.stderr

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text))

    def tune(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)

    def test_writes_what_a_script_passes(self):
        self.write("script.py", SCRIPT)
        status, printed = self.convert("script.py")
        self.assertEqual(status, 0, printed)
        text = (self.folder / "scale.tuner.cu").read_text()
        for line in ("parameter   block_size_x = 32 64 96 128", "parameter   tile = 1 2 4", "constraint  c1: tile * block_size_x <= 256",
                     "grid        ceil_div(problem_x, block_size_x * tile)", 'source      "scale.cu"', "tolerance   relative 1e-05 absolute 0.0001",
                     'reference   file y = "scale.y.answer.npy"', "in          x[1000] : float", "scalar      a : float = 2.0"):
            self.assertIn("#pragma tuner " + line, text)
        self.assertNotIn("Left", text)
        tuned = self.tune("scale.tuner.cu", "--db", "scale.db", "--trials", "3")
        self.assertEqual(tuned.returncode, 0, tuned.stderr)

    def test_writes_a_file_for_each_call(self):
        self.write("script.py", SCRIPT)
        status, printed = self.convert("-o", "made.cu", "script.py", "scale", "scale")
        self.assertEqual((status, printed.count("best ")), (0, 2), printed)
        self.assertTrue((self.folder / "made-2.cu").exists())

    def test_replaces_nothing_unasked(self):
        self.write("script.py", SCRIPT)
        status, printed = self.convert("-o", "scale.cu", "script.py")
        self.assertEqual(status, 1)
        self.assertIn("is read for this kernel file", printed)
        self.assertEqual((self.folder / "scale.cu").read_text(), SCALE)
        self.assertEqual(self.convert("script.py")[0], 0)
        self.assertIn("the file exists", self.convert("script.py")[1])
        self.assertEqual(self.convert("-f", "script.py")[0], 0)
        (self.folder / "scale.tuner.cu").unlink()
        self.assertIn("scale.x.npy: the file exists", self.convert("script.py")[1])

    def test_reports_scripts_that_fail_or_tune_nothing(self):
        self.write("fails.py", "import kernel_tuner\nraise KeyError('x')\n")
        self.assertIn("ended before any call of tune_kernel: KeyError: 'x'", self.convert("fails.py")[1])
        self.write("other.py", SCRIPT.replace("atol=1e-4", "lang='OpenCL'"))
        self.assertIn("OpenCL", self.convert("other.py")[1])
        self.write("nothing.py", "import kernel_tuner\nimport sys\nsys.exit(0)\n")
        self.assertEqual(self.convert("nothing.py")[0], 1)
        self.assertIn("there is no such file", self.convert("missing.py")[1])

    def t1(self, kernel, parameters='{"Name": "tile", "Values": "[2**i for i in range(3)]", "Default": 2}'):
        self.write("scale.json", """{"ConfigurationSpace": {"TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[32 * i for i in range(1, 33)]", "Default": 64}, %s],
            "Conditions": [{"Expression": "32 <= block_size_x * tile <= 1024"}]},
            "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
            "LocalSize": {"X": "block_size_x"}, "Arguments": [
            {"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 20, "Size": 4096},
            {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 0, "Size": "2**12"},
            {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillValue": 2},
            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4096}], %s}}""" % (parameters, kernel))
        status, printed = self.convert("-f", "scale.json")
        return status, printed, (self.folder / "scale.tuner.cu").read_text() if status == 0 else ""

    def test_reads_t1(self):
        status, printed, text = self.t1('"GlobalSizeType": "OpenCL", "GlobalSize": {"X": "4096 // tile"}, "CompilerOptions": ["-O3", "-use_fast_math"]')
        self.assertEqual(status, 0, printed)
        for line in ("grid        ceil_div(4096 / tile, block_size_x)", "arguments   y, x, a, n", "default     block_size_x=64 tile=2",
                     "out         y[4096] : float", "fill        x = uniform 0 20", "compile     -use_fast_math", "scalar      n : int = 4096"):
            self.assertIn("#pragma tuner " + line, text)
        self.assertEqual(self.tune("scale.tuner.cu", "--db", "scale.db", "--trials", "2").returncode, 0)

    def test_reads_what_the_hub_adds_to_t1(self):
        text = self.t1('"ProblemSize": [4096], "GridDivX": ["block_size_x", "tile"]')[2]
        self.assertIn("grid        ceil_div(problem_x, block_size_x * tile)", text)

    def test_never_runs_or_follows_what_t1_says(self):
        victim = self.folder / "victim"
        status, _, text = self.t1('"ProblemSize": [4096], "SharedMemory": "open(\'victim\', \'w\')"', """
            {"Name": "tile", "Values": "[1, 2]"}, {"Name": "evil", "Values": "[().__class__, __import__('os').system('touch victim')]"}""")
        self.assertEqual(status, 0)
        self.assertFalse(victim.exists())
        self.assertIn("parameter evil has no values", text)
        self.write("secret", "secret")
        status, _, text = self.t1('"ProblemSize": [4096], "ReferenceArguments": [{"TargetName": "y", "FillType": "BinaryRaw", "DataSource": "../secret"}]')
        self.assertIn("y should become BinaryRaw", text)
        text = self.t1('"ProblemSize": [1], "CompilerOptions": ["-DX=1\\n#pragma tuner kernel b", "-DY=system(1)", "-DREAL=float"]')[2]
        self.assertEqual([line for line in text.splitlines() if line.startswith("#define")], ["#define REAL float"])
        for values in ("9**9**9", "[0 for a in range(10**9) if a < 0]", "[1] * 10**9", "[a for a in range(999) for b in range(999)]"):
            self.assertIn("parameter evil has no values", self.t1('"ProblemSize": [1]', """{"Name": "tile", "Values": "[1]"},
                {"Name": "evil", "Values": "%s"}""" % values)[2])
        for kernel in ('"KernelFile": "../secret"', '"KernelName": "../evil/x"', '"KernelName": 7', '"Arguments": [5]', '"ProblemSize": ["a"]',
                       '"CompilerOptions": [5]'):
            self.assertEqual(self.t1(kernel)[0], 1, kernel)
        self.assertNotIn("include_path", self.t1('"ProblemSize": [1], "CompilerOptions": ["-I../.."]')[2])
        self.write("broken.json", "[" * 100_000)
        self.assertEqual(self.convert("broken.json")[0], 1)
        self.assertIn("left: y should become ?[31m", self.t1('"ProblemSize": [1], "ReferenceArguments": [{"TargetName": "y", "FillType": "\\u001b[31m"}]')[1])

    def test_ends_what_t1_computes_for_long(self):
        self.t1('"ProblemSize": [1]')
        file = self.folder / "scale.json"
        values, condition, text = "[2**i for i in range(3)]", "32 <= block_size_x * tile <= 1024", file.read_text()
        for change in ({values: "[i**i for i in range(1000000)]"}, {values: "[99999999]", condition: "tile**tile > 0"},
                       {values: "range(1000000)", condition: "tile * block_size_x < 0"}):
            file.write_text(functools.reduce(lambda text, pair: text.replace(*pair), change.items(), text))
            with unittest.mock.patch.object(convert, "_MOST_SECONDS", 0.2), contextlib.redirect_stderr(io.StringIO()) as printed:
                self.assertEqual(convert.main(["-f", "-o", str(self.folder / "x.cu"), str(file)]), 1, change)
            self.assertIn("takes more than 0.2 s", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
