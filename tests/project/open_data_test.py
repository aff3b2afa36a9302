"""What scripts/open_data packs. Usage: open_data_test.py SOURCE TUNE"""

import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

TUNE = pathlib.Path(sys.argv.pop(2)).resolve()
SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("open_data", str(SOURCE / "scripts" / "open_data"))
open_data = importlib.util.module_from_spec(importlib.util.spec_from_loader("open_data", loader))
loader.exec_module(open_data)


class Archive(unittest.TestCase):
    def test_has_the_same_bytes_for_the_same_files(self):
        first = open_data.archive({"b": b"2", "a": b"1"}, 1_700_000_000)
        self.assertEqual(first, open_data.archive({"a": b"1", "b": b"2"}, 1_700_000_000))

    def test_is_refused_if_it_is_too_large(self):
        with self.assertRaisesRegex(open_data.Failed, "more than 50: leave out"):
            open_data.archive({"a": b"1" * 1000}, 0, most=50)

    def test_says_what_results_lack(self):
        whole = [{"name": "time", "value": 1.0}, {"name": "registers", "value": 8}]
        results = [{"times": {"runtimes": [1.0] * 5}, "measurements": whole}, {"times": {"runtimes": []}, "measurements": []}]
        self.assertEqual(open_data.contents_row("x", {"results": results}), "| `x.json` | 2 | 0 to 5 | 1 | 0 | 0 |")


class Recordings(unittest.TestCase):
    def test_are_packed_and_read_back(self):
        with tempfile.TemporaryDirectory() as work:
            out = pathlib.Path(work) / "spaces.tar.gz"
            open_data.write(out, TUNE)
            with tarfile.open(out) as tar:
                tar.extractall(work)
            folder = pathlib.Path(work) / open_data.FOLDER
            files = sorted(path.name for path in folder.iterdir())
            self.assertEqual(files, sorted(["LICENSE", "README.md", *(f"{name}.json" for name in open_data.SPACES)]))
            readme = (folder / "README.md").read_text(encoding="utf-8")
            for text in ("NVIDIA H200", "nvrtc 13.0", "2026-11-21", "Apache", "| 10080 | 10080 | 10080 |"):
                self.assertIn(text, readme)
            for name in open_data.SPACES:
                space = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
                self.assertEqual(space["schema_version"], "1.0.0")
                self.assertEqual(space["metadata"]["device"], "NVIDIA H200")
            replay = subprocess.run([TUNE, "replay", folder / "prefixSum_int_2e24_h200.json", "--strategy", "random", "--repeats", "1",
                                     "--trials", "5"], stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("438 configurations, 438 valid, optimum 0.055456 ms", replay.stdout)


if __name__ == "__main__":
    unittest.main()
