"""Reads what `tune` prints: its tables, and the lines with a label of `tune run`."""

import re

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0,
         "B/s": 1.0, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12,
         "MHz": 1e6, "GHz": 1e9, "FLOP/s": 1.0, "MFLOP/s": 1e6, "GFLOP/s": 1e9, "TFLOP/s": 1e12}


def number(text):
    """The number at the beginning of a cell in its basic unit, a percentage as it is; None: there is none."""
    match = re.match(r"\s*(?:about )?([-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*([A-Za-z]+(?:/s)?)?", text)
    if not match:
        return None
    return float(match[1].replace(",", "")) * UNITS.get(match[2], 1.0)


def cells(line):
    """The cells of a line, which two blanks separate, with their first and last columns."""
    return [(one.group(), one.start(), one.end()) for one in re.finditer(r"\S+(?: \S+)*", line)]


def read_row(line, columns):
    """A cell ends or begins where its column's title does; empty cells are left out."""
    row = {}
    for text, start, end in cells(line):
        def distance(column):
            _, first, last = column
            if end == last or start == first:
                return -1
            return max(first - end, start - last, 0)
        row[min(columns, key=distance)[0]] = text
    return row


def read_tables(text):
    """The tables of an output, each a list of rows by their columns' titles."""
    tables, columns, rows = [], None, []
    for line in text.split("\n") + [""]:
        is_title = columns is None and line.startswith("  ") and len(cells(line)) > 3
        if is_title:
            columns = cells(line)
        elif columns and line.startswith("  "):
            rows.append(read_row(line, columns))
        else:
            if columns and rows:
                tables.append(rows)
            columns, rows = None, []
    return tables


def labelled(text, label):
    """The text after a label of `tune run` or `tune devices`, such as `time`."""
    match = re.search(rf"^ *{re.escape(label)}  +(.*)$", text, re.MULTILINE)
    if not match:
        raise KeyError(label)
    return match[1]
