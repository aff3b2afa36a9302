#!/usr/bin/env python3
"""The README shows what its first command prints: first_sight.py TUNE README.md [--write]

Runs the command of each `<!-- prints: COMMAND -->` on the host backend, with a cache of its own, and compares the fenced
block that follows with what it prints after eight trials: the same lines, whatever the numbers, times and machine. --write
puts what it printed in place of the block. The README has to give the same command to its readers, as scripts/COMMAND.
"""

import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- prints: (.+) -->\n```\n(.*?)```\n", re.DOTALL)
# Whether these lines are there, and what they say, depends on how fast the machine was this time.
SOMETIMES = ("budget", "ties", "remark", "note", "failed", "finalists", "warning", "compiling")
ALWAYS = ("limit", "default")


def printed(tune, command):
    """Everything that somebody at a terminal would have on it in the end."""
    words = shlex.split(command)
    assert words[0] == "tune", command
    with tempfile.TemporaryDirectory(prefix="tuner-first-sight-") as folder:
        environment = dict(os.environ, TUNER_CACHE_DIR=folder, TUNER_DEVICE="host", NO_COLOR="1")
        done = subprocess.run([tune] + words[1:], env=environment, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit("%s failed (%d):\n%s" % (command, done.returncode, done.stdout))
        lines = [line.rstrip() for line in done.stdout.replace(folder, "~/.cache/tuner").splitlines()]
    return "\n".join(line for line in lines if not line.startswith("[")).strip("\n") + "\n"  # progress is over


def shape(text):
    """What is left of lines when numbers, units and names of machines are taken out of them."""
    lines, label = [], ""
    for line in text.splitlines():
        label = line.split(" ", 1)[0].rstrip(":") or (label if line else "")  # lines that go on have no label
        if label in SOMETIMES:
            continue
        if re.match(r" +\d+  ", line):
            line = "(a configuration of the table)"
        elif label in ALWAYS:
            line = label
        elif label == "device":
            line = re.sub(r"device +.*:", "device ...:", line)
        elif label == "done":
            line = re.sub(r"\w+ budget spent", "budget spent", line)
        line = re.sub(r", of which .* are a launch that does nothing", "", line)  # on a busy machine
        line = re.sub(r"=\S+", "=...", line)
        line = re.sub(r"\b[0-9:]+:[0-9]{2}\b", "0 s", line)  # a minute or more
        line = re.sub(r"[0-9][0-9.,]*", "0", line)
        line = re.sub(r"\b0 (ns|us|ms|s)\b", "0 s", line)
        line = re.sub(r"\b0 [kMGT]?(B/s|FLOP/s)", r"0 \1", line)
        line = re.sub(r"\b(trial|configuration|sample)s?\b", r"\1", line)
        line = re.sub(r" +", " ", line).rstrip()
        if lines[-1:] != [line]:
            lines.append(line)
    return lines


def main(tune, readme, write):
    text = readme.read_text()
    blocks = list(BLOCK.finditer(text))
    if not blocks:
        sys.exit("%s shows the output of no command" % readme)
    for block in blocks:
        command, shown = block.group(1), block.group(2)
        if "\nscripts/" + command not in text:
            sys.exit("%s shows the output of `%s`, which it does not give to its readers" % (readme.name, command))
        # Eight trials show every line that the command prints in its usual time, however slow the machine is.
        now = printed(tune, command if write else command + " --trials 8")
        if write:
            text = text.replace(block.group(0), "<!-- prints: %s -->\n```\n%s```\n" % (command, now))
            continue
        difference = list(difflib.unified_diff(shape(shown), shape(now), "what " + readme.name + " shows",
                                               "what is printed", lineterm=""))
        if difference:
            sys.exit("`%s` prints something else than %s shows (scripts/make_first_sight writes it anew):\n%s" %
                     (command, readme.name, "\n".join(difference)))
    if write:
        readme.write_text(text)
    print("%s shows what is printed" % readme.name)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--write"]):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["--write"])
