"""Reads what `tune` prints: its tables, and the lines with a label of `tune run` and `tune devices`."""

import re

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0,
         "B/s": 1.0, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12,
         "kHz": 1e3, "MHz": 1e6, "GHz": 1e9,
         "FLOP/s": 1.0, "kFLOP/s": 1e3, "MFLOP/s": 1e6, "GFLOP/s": 1e9, "TFLOP/s": 1e12}
NUMBER = re.compile(r"\s*(?:about )?([-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*([A-Za-z]+(?:/s)?)?")


class Missing(KeyError):
    """A table, row, column or line that this output does not have, as on another device. What needs it is left out."""


class Row(dict):
    """The cells of a row by their columns' titles. An empty cell is missing."""

    def __missing__(self, key):
        raise Missing(key)


def number(text):
    """The number at the beginning of a cell in its basic unit; a percentage as it is. None if there is none."""
    match = NUMBER.match(text)
    if not match:
        return None
    return float(match[1].replace(",", "")) * UNITS.get(match[2], 1.0)


def cells(line):
    """The cells of a line, which two blanks or more separate, with their first and last positions."""
    return [(one.group(), one.start(), one.end()) for one in re.finditer(r"\S+(?: \S+)*", line)]


def columns_of(line):
    """The columns of a title line. The second one of a name is called `NAME (2)`: a parameter may have the name of a result."""
    columns, seen = [], {}
    for text, start, end in cells(line):
        seen[text] = seen.get(text, 0) + 1
        columns.append((text if seen[text] == 1 else f"{text} ({seen[text]})", start, end))
    return columns


def read_row(line, columns):
    """A cell begins or ends where its column's title does; the last column's cells may be longer than the line of titles."""
    row = Row()
    for text, start, end in cells(line):
        def distance(column):
            _, first, last = column
            if end == last or start == first:
                return -1
            return max(first - end, start - last, 0)
        row.setdefault(min(columns, key=distance)[0], text)
    if "search" in row:  # of a table with finalists; times of the search compare with each other
        row.setdefault("median", row["search"])
    return row


def read_tables(text):
    """The tables of an output, each a list of rows. A table begins with an indented line of at least four titles."""
    tables, columns, rows = [], None, []
    for line in text.split("\n") + [""]:
        is_title = columns is None and line.startswith("  ") and len(cells(line)) > 3
        if is_title:
            columns = columns_of(line)
        elif columns and line.startswith("  "):
            rows.append(read_row(line, columns))
        else:
            if columns and rows:
                tables.append(rows)
            columns, rows = None, []
    return tables


class Output:
    """The output of one command, as far as the page shows it."""

    def __init__(self, command, text):
        self.command = command
        """The words after `$ tune`."""
        self.text = text

    def rows(self, table=0):
        try:
            return read_tables(self.text)[table]
        except IndexError:
            raise Missing(f"table {table}") from None

    def line(self, label):
        """The text after a label, such as `time`."""
        match = re.search(rf"^ *{re.escape(label)}  +(.*)$", self.text, re.MULTILINE)
        if not match:
            raise Missing(label)
        return match[1]

    def found(self, pattern):
        """The first match of a pattern."""
        match = re.search(pattern, self.text, re.MULTILINE)
        if not match:
            raise Missing(pattern)
        return match

    def asked(self, name):
        """The value that the command gives to a parameter, choice or size, or to an option."""
        match = (re.search(rf"\b{re.escape(name)}=([^\s,\"]+)", self.command) or
                 re.search(rf"--{re.escape(name)} ([^\s,\"]+)", self.command))
        if not match:
            raise Missing(name)
        return match[1]


class Outputs:
    """The outputs of an experiment's commands, in their order; some may be missing."""

    def __init__(self, outputs, on_gpu):
        self.outputs = outputs
        self.on_gpu = on_gpu

    def __getitem__(self, index):
        if self.outputs[index] is None:
            raise Missing(f"command {index}")
        return self.outputs[index]

    def only_on_gpu(self):
        """Ends the sentences here without a GPU."""
        if not self.on_gpu:
            raise Missing("a GPU")

    def __iter__(self):
        return iter(one for one in self.outputs if one is not None)
