"""How results, progress and reports look in a terminal and in a notebook."""

import dataclasses
import html
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time

from tuner._program import PROGRAM
from tuner.lib import _native

escaped = html.escape


def time_text(ns):
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.3g} ns"


def has_pandas():
    return importlib.util.find_spec("pandas") is not None


def table(results):
    """A pandas.DataFrame with a row for each result. Raises ImportError without pandas."""
    import pandas
    rows = []
    for one in results:
        row = dict(word.split("=", 1) for word in one.configuration.split())
        row = {name: int(value) if value.lstrip("-").isdigit() else value for name, value in row.items()}
        fields = {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
        row.update({name: value for name, value in fields.items() if not isinstance(value, (dict, list)) and name != "configuration"})
        row.update(one.metrics)
        rows.append(row)
    return pandas.DataFrame(rows)


def is_watched():
    """Whether a person sees stderr while it is written."""
    return "ipykernel" in sys.modules or getattr(sys.stderr, "isatty", bool)()


class Progress:
    """A line that is written again at most four times a second, and cleared at the end."""

    def __init__(self, kernel):
        self.kernel, self.shown, self.width = kernel, 0.0, 0

    def __enter__(self):
        return self

    def __call__(self, finished, best_ns):
        if time.monotonic() - self.shown < 0.25:
            return
        self.shown = time.monotonic()
        self._write(f"{self.kernel}: {finished} configurations, best {time_text(best_ns) if best_ns > 0 else 'none yet'}")

    def __exit__(self, *_):
        self._write("")
        sys.stderr.write("\r")
        sys.stderr.flush()

    def _write(self, text):
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)


class Report:
    """A page of HTML that needs nothing else. Raises tuner.Error if there is nothing to report."""

    def __init__(self, kernel, database):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "report.html"
            options = (["--kernel", str(kernel)] if kernel else []) + (["--db", str(database)] if database else [])
            process = subprocess.run([PROGRAM, "report", "-o", page, *options], capture_output=True, text=True)
            if process.returncode != 0:
                raise _native.Error(process.stderr.strip(), "not found")
            self.html = page.read_text(encoding="utf-8")

    def save(self, path):
        """Writes the page. Returns its path."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")
        return pathlib.Path(path)

    def __repr__(self):
        return f"<tuner report of {len(self.html)} bytes: a notebook shows it, save(path) writes it>"

    def _repr_html_(self):
        return f'<iframe srcdoc="{escaped(self.html)}" style="width: 100%; height: 50em; border: 0"></iframe>'
