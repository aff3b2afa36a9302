"""The program `tune` of this package."""

import os
import pathlib
import sys


PROGRAM = pathlib.Path(__file__).parent / "bin" / "tune"


def main():
    os.execv(PROGRAM, [str(PROGRAM)] + sys.argv[1:])
