"""The notebook examples/softmax.ipynb: runs its cells in order, those about PyTorch where it is installed. Run by
bindings/python/test on the host backend; on a GPU:

    PYTHONPATH=FOLDER_WITH_tuner python3 tests/python/test_notebook.py
"""

import contextlib
import json
import os
import pathlib
import tempfile
import unittest

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_TUNE="never")

try:
    import torch
except ImportError:
    torch = None

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "softmax.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(cells):
    names = {"__name__": "__main__"}
    with contextlib.chdir(NOTEBOOK.parent):
        for cell in cells:
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name} {cell['id']}", "exec"), names)


def uses_torch(cell):
    return "torch" in cell["metadata"].get("tags", ())


class Notebook(unittest.TestCase):
    def test_has_cells_of_both_kinds_and_no_output(self):
        self.assertEqual({uses_torch(cell) for cell in CELLS}, {False, True})
        self.assertEqual([cell["id"] for cell in CELLS if cell["outputs"]], [])

    @unittest.skipIf(torch is not None, "PyTorch is installed: all cells run below")
    def test_runs_without_pytorch(self):
        run([cell for cell in CELLS if not uses_torch(cell)])

    @unittest.skipIf(torch is None, "PyTorch is not installed: the cells that compare with it and use a module did not run")
    def test_runs(self):
        run(CELLS)


if __name__ == "__main__":
    unittest.main()
