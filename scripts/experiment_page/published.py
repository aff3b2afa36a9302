"""The figures that the texts print."""

import csv
import pathlib
import re

from experiment_page.tables import Missing, number
from experiment_page.words import Numbers

PATH = pathlib.Path(__file__).with_name("published.tsv")


def read():
    lines = PATH.read_text(encoding="utf-8").split("\n")
    return list(csv.DictReader((line for line in lines if line and not line.startswith("#")), delimiter="\t"))


PUBLISHED = read()


def texts():
    """The texts by their letters, as the file's first comment names them."""
    return re.findall(r"^# text ([A-Z]): (.*)$", PATH.read_text(encoding="utf-8"), re.MULTILINE)


def printed(row):
    """A figure as its text has it: `7.08 ms`, `80%`."""
    return row["value"] + ("" if row["unit"] in ("", "%") else " ") + row["unit"]


def subjects(experiment, what, gpu=None):
    """All that the texts print a quantity for."""
    return list(dict.fromkeys(row["subject"] for row in PUBLISHED
                              if (row["experiment"], row["what"]) == (experiment, what) and gpu in (None, row["gpu"])))


def find(experiment, subject, what, gpu=None):
    for row in PUBLISHED:
        if (row["experiment"], row["subject"], row["what"]) == (experiment, subject, what) and gpu in (None, row["gpu"]):
            return row
    raise Missing((experiment, subject, what, gpu))


def published(experiment, subject, what, gpu=None):
    """A figure as a number in its basic unit."""
    return number(printed(find(experiment, subject, what, gpu)))


def of_text(experiment, names, what, gpu=None):
    """The figures for these subjects."""
    return Numbers({name: published(experiment, name, what, gpu) for name in names})


def source(row):
    """`text B, line 12`."""
    return f"text {row['text']}, line {row['line']}"


def lines_of(rows):
    numbers = sorted(int(row["line"]) for row in rows)
    return f"line {numbers[0]}" if numbers[0] == numbers[-1] else f"lines {numbers[0]} to {numbers[-1]}"


def published_table(experiment):
    """The lines of a table of all that the texts print for an experiment: a column for each quantity and GPU."""
    found = [row for row in PUBLISHED if row["experiment"] == experiment]
    columns = list(dict.fromkeys((row["gpu"], row["what"]) for row in found))
    origins = list(dict.fromkeys((row["gpu"], row["text"]) for row in found))
    named = [(f"{gpu}, " if gpu else "") + f"text {text}, " + lines_of([r for r in found if (r["gpu"], r["text"]) == (gpu, text)])
             for gpu, text in origins]
    several = len({gpu for gpu, _ in origins}) > 1
    titles = [what + (f" ({gpu})" if several and gpu else "") for gpu, what in columns]
    lines = ["| " + " | ".join([f"published: {'; '.join(named)}"] + titles) + " |", "|" + " --- |" * (len(columns) + 1)]
    for subject in dict.fromkeys(row["subject"] for row in found):
        values = {(row["gpu"], row["what"]): printed(row) for row in found if row["subject"] == subject}
        lines.append("| " + " | ".join([subject] + [values.get(column, "") for column in columns]) + " |")
    return lines
