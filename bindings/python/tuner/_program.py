"""The program `tune` of this package."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "bin" / "tune"
    os.execv(program, [str(program)] + sys.argv[1:])
