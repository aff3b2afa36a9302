"""python -m tuner.kernel_tuner SCRIPT.py [ARGUMENTS]: runs a script for Kernel Tuner, unchanged, with tuner."""

import sys

from tuner.kernel_tuner import _instead


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, file=sys.stderr if len(sys.argv) < 2 else sys.stdout)
        return 2 if len(sys.argv) < 2 else 0
    _instead.install()
    _instead.run(sys.argv[1], sys.argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
