"""Runs the commands of the experiments, and keeps of their outputs what a reader needs."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

from experiment_page.tables import cells, columns_of, read_row


def is_refusal(done):
    """Whether `tune` understood the command and cannot do it. A command with a mistake ends with another status, or names a value that
    a parameter does not have."""
    return done.returncode == 1 and " is not one of: " not in done.stderr


class Failed(Exception):
    """The message for the user when the page cannot be made."""


class Machine:
    """A `tune` that runs in a folder, with a database of its own."""

    def __init__(self, tune, folder, cache):
        self.tune = pathlib.Path(tune)
        self.folder = folder
        self.environment = dict(os.environ, TUNER_CACHE_DIR=cache, TUNER_DB_PATH="")
        done = self.run(["devices"])
        gpu = re.search(r"^0 +(.*)$", done.stdout, re.MULTILINE)
        host = re.search(r"^host +(.*)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or not (gpu or host):
            raise Failed(f"{self.tune} devices ended with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
        self.on_gpu = gpu is not None
        self.device = (gpu or host)[1]

    def run(self, words):
        return subprocess.run([str(self.tune)] + words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def output(self, command):
        """The words of a command here, and the part of its output that is shown."""
        words = words_of(command, self.on_gpu)
        done = self.run(words)
        said = done.stderr.split("\n")
        print(*(f"  {line}\n" for line in said if line.startswith("warning: ")), sep="", end="", file=sys.stderr, flush=True)
        parts = [shortened(done.stdout, command)]
        if done.returncode != 0:
            if not (command.may_fail and is_refusal(done)):
                raise Failed(f"tune {quoted(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
            parts += [line for line in said if line.startswith("tune: ")]
        return quoted(words), "\n".join(part for part in parts if part)


def words_of(command, on_gpu):
    """The words of a command, with its metrics where there is a GPU. The metric `error` needs none."""
    large = re.sub(r"\{([^{|}]*)\|([^{}]*)\}", r"\1" if on_gpu else r"\2", command.words)
    words = shlex.split(large)
    if command.metrics and (on_gpu or command.metrics == "error"):
        words += ["--metrics", command.metrics] + ([] if words[0] == "run" else ["--metrics-for", "all"])
    return words


def quoted(words):
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def without_metrics(words):
    """A command line without the metrics that it asks for, which change no number of another column."""
    return re.sub(r" --metrics(-for)? \S+", "", words)


def labelled_lines(text, wanted):
    """The lines with these labels and the lines that continue them; of `first LABEL`, its line alone."""
    kept, is_wanted = [], False
    for line in text.split("\n"):
        label = re.match(r"(\S+)", line)
        if label:
            is_wanted = label[1] in wanted
        if is_wanted or label and f"first {label[1]}" in wanted:
            kept.append(line)
    return "\n".join(kept)


def rows_of(table, only):
    """A table with the rows that have one of these cells in each of these columns."""
    title, *rows = table.split("\n")
    columns = columns_of(title)

    def is_wanted(row):
        found = read_row(row, columns)
        return all(found.get(column) in wanted for column, wanted in only.items())
    return "\n".join([title] + [row for row in rows if is_wanted(row)])


def summary(text):
    """The table of --by, without the configurations that the main table shows."""
    lines = text.split("\n\n")[-1].split("\n")
    start = next((i for i, line in enumerate(lines) if "speed-up" in line and "configuration" in line), None)
    if start is None:
        return ""
    cut = lines[start].index("configuration")
    return "\n".join(line[:cut].rstrip() for line in lines[start:])


def properties(text, wanted):
    """The first device of `tune devices`, with these properties."""
    name, *lines = text.split("\n\n")[0].split("\n")
    return "\n".join([name] + [line for line in lines if cells(line) and cells(line)[0][0] in wanted])


def shortened(text, command):
    """The parts of an output that are wanted."""
    keep = command.keep
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
    if "head" in keep:
        return text.split("\n\n")[0]
    if command.words.startswith("devices"):
        return properties(text, keep)
    if command.words.startswith("run "):
        return labelled_lines(text, keep)
    parts = {"rows": lambda: rows_of(text.split("\n\n")[0], command.only), "by": lambda: summary(text),
             "limit": lambda: "\n".join([line for line in text.split("\n") if line.startswith("limit ")][:1])}
    return "\n\n".join(part for part in (parts[name]() for name in keep) if part)
