"""Sentences from numbers. Every judgement is computed here."""

import csv
import pathlib

from experiment_page.tables import number

# Times that differ by less than this share are called the same.
SAME = 0.03


def read_published():
    path = pathlib.Path(__file__).with_name("published.tsv")
    with open(path, encoding="utf-8") as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


PUBLISHED = read_published()


def published(experiment, subject, what, gpu=None):
    """The number that a text prints."""
    for row in PUBLISHED:
        if (row["experiment"], row["subject"], row["what"]) == (experiment, subject, what) and gpu in (None, row["gpu"]):
            return number(row["value"])
    raise KeyError((experiment, subject, what))


def published_table(experiment):
    """What the texts print for an experiment: a table for each GPU, with the lines of the text."""
    found = [row for row in PUBLISHED if row["experiment"] == experiment]
    parts = []
    for gpu, text in dict.fromkeys((row["gpu"], row["text"]) for row in found):
        rows = [row for row in found if (row["gpu"], row["text"]) == (gpu, text)]
        lines = sorted(int(row["line"]) for row in rows)
        columns = list(dict.fromkeys(row["what"] for row in rows))
        span = f"line {lines[0]}" if lines[0] == lines[-1] else f"lines {lines[0]} to {lines[-1]}"
        table = [[f"published for {gpu}: text {text}, {span}"] + columns]
        for subject in dict.fromkeys(row["subject"] for row in rows):
            values = {row["what"]: row["value"] for row in rows if row["subject"] == subject}
            table.append([subject] + [values.get(column, "") for column in columns])
        parts.append("\n".join(["| " + " | ".join(table[0]) + " |", "|" + " --- |" * len(table[0])] +
                               ["| " + " | ".join(row) + " |" for row in table[1:]]))
    return "\n\n".join(parts)


def times(ratio):
    """`0.82 times`, `1.6 times`, `14 times`."""
    return f"{ratio:.2f} times" if ratio < 1.1 else f"{ratio:.1f} times" if ratio < 10 else f"{ratio:.0f} times"


def compare(name, time, other, other_time):
    """A sentence: how long one takes beside another one, with the longer time as the subject."""
    if abs(time / other_time - 1) < SAME:
        return capital(f"{name} takes as long as {other}, within {SAME * 100:.0f}%.")
    if time < other_time:
        name, time, other, other_time = other, other_time, name, time
    ratio = time / other_time
    if ratio < 1.1:
        return capital(f"{name} takes {100 * (ratio - 1):.0f}% longer than {other}.")
    return capital(f"{name} takes {times(ratio)} as long as {other}.")


def capital(sentence):
    return sentence[0].upper() + sentence[1:]


def code(*names):
    return "`" + " ".join(names) + "`"


def same_order(names, here, there):
    """Whether the names are in the same order of both numbers; what differs by less than SAME has no order."""
    swapped = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]
               if (here[a] - here[b]) * (there[a] - there[b]) < 0 and
               min(abs(here[a] / here[b] - 1), abs(there[a] / there[b] - 1)) >= SAME]
    if not swapped:
        return "The order is the published one."
    a, b = swapped[0]
    count = len(names) * (len(names) - 1) // 2
    return f"The order is not the published one in {len(swapped)} of {count} pairs, such as {a} and {b}."


def span(rows, column):
    """The row with the least and the one with the largest number in a column."""
    known = [row for row in rows if number(row.get(column, "")) is not None]
    return (min(known, key=lambda row: number(row[column])), max(known, key=lambda row: number(row[column]))) if known else None


def by(rows, key, column):
    """The numbers of a column by the cells of another one."""
    return {row[key]: number(row[column]) for row in rows if key in row and number(row.get(column, "")) is not None}
