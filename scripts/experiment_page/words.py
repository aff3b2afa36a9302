"""Words from numbers: every judgement of the page is computed here."""

from experiment_page.tables import Missing, number

# Numbers that differ by less than this share are called the same.
SAME = 0.03


class Numbers(dict):
    """Numbers by their names. One that is not there is missing."""

    def __missing__(self, key):
        raise Missing(key)


def by(rows, key, column):
    """The numbers of a column by the cells of another one; the first row of several with the same cell, the fastest, counts."""
    found = Numbers()
    for row in rows:
        if key in row and number(row.get(column, "")) is not None:
            found.setdefault(row[key], number(row[column]))
    return found


def fastest_by(rows, key, column="median"):
    """The shortest time for each cell of a column."""
    found = Numbers()
    for row in rows:
        if key in row and number(row.get(column, "")) is not None:
            found[row[key]] = min(found.get(row[key], float("inf")), number(row[column]))
    return found


def row_with(rows, **cells):
    """The first row with these cells."""
    for row in rows:
        if all(row.get(key) == value for key, value in cells.items()):
            return row
    raise Missing(cells)


def most(rows, column):
    """The row with the largest number in a column."""
    known = [row for row in rows if number(row.get(column, "")) is not None]
    if not known:
        raise Missing(column)
    return max(known, key=lambda row: number(row[column]))


def least(rows, column):
    known = [row for row in rows if number(row.get(column, "")) is not None]
    if not known:
        raise Missing(column)
    return min(known, key=lambda row: number(row[column]))


def same(a, b):
    return max(a, b) / min(a, b) - 1 < SAME


def times(ratio):
    """`0.82 times`, `1.15 times`, `2.6 times`, `14 times`."""
    return f"{ratio:.2f} times" if ratio < 2 else f"{ratio:.1f} times" if ratio < 10 else f"{ratio:,.0f} times"


def share(part):
    """`34%`, `0.4%`. A half is rounded up."""
    return f"{100 * part + 1e-9:.0f}%" if part >= 0.01 else f"{100 * part:.2g}%"


def longer(time, other_time, other):
    """`takes 1.2 times as long as OTHER`, for a time that is not less than the other."""
    if same(time, other_time):
        return f"takes as long as {other}, within {share(SAME)}"
    ratio = time / other_time
    return f"takes {share(ratio - 1)} longer than {other}" if ratio < 1.1 else f"takes {times(ratio)} as long as {other}"


def compare(name, time, other, other_time):
    """How long one takes beside another one, with the longer time as the subject."""
    if time < other_time and not same(time, other_time):
        name, time, other, other_time = other, other_time, name, time
    return capital(f"{name} {longer(time, other_time, other)}.")


def within(time, other_time):
    """Whether a time is not longer than another one, or the same."""
    return time <= other_time or same(time, other_time)


def extremes(time, plural):
    """The slowest of several beside the fastest; `plural` names them all."""
    if len(time) < 2:
        raise Missing(plural)
    slowest, fastest = max(time, key=time.get), min(time, key=time.get)
    if same(time[slowest], time[fastest]):
        return f"all {plural} take the same time, within {share(SAME)}."
    return compare(code(slowest), time[slowest], code(fastest), time[fastest])


def capital(sentence):
    return sentence[0].upper() + sentence[1:]


def code(*names):
    return "`" + " ".join(names) + "`"


def listed(names):
    """`a, b and c`."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def of_all(names, total, noun="steps"):
    """`` `a` ``, `` `a` and `b` `` or, of many, `13 of 15 steps`."""
    return listed(code(name) for name in names) if len(names) < 3 else f"{len(names)} of {total} {noun}"


def plural(count, noun):
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def excess(numbers):
    """How much longer the longest is than the shortest: `0.9%`."""
    return f"{100 * (max(numbers) / min(numbers) - 1):.1f}%"


def same_order(names, here, there):
    """Whether pairs of names are in the same order in both numbers, if these differ by SAME or more in both."""
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
    decided = [(a, b) for a, b in pairs if not same(here[a], here[b]) and not same(there[a], there[b])]
    swapped = [(a, b) for a, b in decided if (here[a] < here[b]) != (there[a] < there[b])]
    if not decided:
        here, there = ([numbers[name] for name in names] for numbers in (here, there))
        return (f"The slowest takes {excess(there)} longer than the fastest in the text, and {excess(here)} here. No two differ by "
                f"{share(SAME)} or more in both, so there is no order to compare.")
    if not swapped:
        return f"All {plural(len(decided), 'pair')} whose times differ by {share(SAME)} or more in both are in the published order."
    a, b = (name if name.startswith("(") else code(name) for name in swapped[0])
    return (f"{len(decided) - len(swapped)} of the {plural(len(decided), 'pair')} whose times differ by {share(SAME)} or more in "
            f"both are in the published order; {a} and {b}{', for example,' if len(swapped) > 1 else ''} are not.")
