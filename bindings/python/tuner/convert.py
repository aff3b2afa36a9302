"""python -m tuner.convert [-o FILE] [-f] SCRIPT.py [ARGUMENTS] | DESCRIPTION.json

Makes kernel files for `tune` from a script that calls Kernel Tuner's tune_kernel, or from a T1 description. The script
is run: its parameters, restrictions, arrays and answers are those that it passes. Each of its calls makes one kernel
file, and beside it an .npy file for each array.

  -o, --output FILE  the kernel file; default: KERNEL.tuner.cu. Further calls add -2, -3, …
  -f, --force        replace files

  python -m tuner.convert vector_add.py
  python -m tuner.convert convolution.json -o convolution.tuner.cu
  tune ./convolution.tuner.cu
"""

import argparse
import contextlib
import inspect
import pathlib
import resource
import signal
import sys

from tuner import _kernel_file
from tuner._translation import Untranslatable


_MOST_SECONDS, _MOST_BYTES = 60, 4 << 30


class _TooLong(BaseException):
    """Not an Exception: a reader goes on after those."""


@contextlib.contextmanager
def _limited(file):
    """For what a stranger has written: its expressions end after a minute, and have 4 GiB."""
    def stop(*_):
        raise _TooLong

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + _MOST_BYTES
    before = signal.signal(signal.SIGALRM, stop)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(most, soft), hard))
        signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS)
        yield
    except (_TooLong, MemoryError):
        raise Untranslatable(f"{file}: to compute its values takes more than {_MOST_SECONDS} s or {_MOST_BYTES >> 30} GiB") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def main(arguments=None):
    """Returns the exit status: 0, 1 if no kernel file can be made, 2 for arguments that are not understood."""
    parser = argparse.ArgumentParser(prog="python -m tuner.convert", description=__doc__.partition("\n\n")[2], usage=__doc__.partition("\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False)
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("-f", "--force", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("file", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    files = _Files(given.output, given.force, given.file)
    try:
        if not given.file.is_file():
            raise Untranslatable(f"{given.file}: there is no such file")
        if given.file.suffix == ".json":
            from tuner import _t1
            with _limited(given.file):
                files.write(_t1.read(given.file))
        else:
            _run(given.file, given.rest, files)
    except (Untranslatable, OSError) as error:
        print(f"tuner.convert: {_kernel_file.printable(str(error))}", file=sys.stderr)
        return 1
    if not files.written:
        print(f"tuner.convert: {given.file} made no call of tune_kernel", file=sys.stderr)
    return 0 if files.written else 1


class _Files:
    """The kernel files that are written."""

    def __init__(self, output, force, original):
        self.output, self.force, self.original, self.written = output, force, original, []

    def write(self, made):
        path = self.output or pathlib.Path(f"{made.kernel}.tuner.cu")
        if self.written:
            stem, dot, ending = path.name.partition(".")
            path = path.with_name(f"{stem}-{len(self.written) + 1}{dot}{ending}")
        for other in (self.original, made.source):
            if other is not None and path.resolve() == pathlib.Path(other).resolve():
                raise Untranslatable(f"{path}: it is read for this kernel file: give another name by -o")
        if path.exists() and not self.force:
            raise Untranslatable(f"{path}: the file exists: give another name by -o, or replace it by -f")
        if not any(one.answer is not None for one in made.arguments):
            made.left.append("results are compared with those of the kernel's default configuration: write a `reference` that is "
                             "right, or make sure that this one is")
        path.parent.mkdir(parents=True, exist_ok=True)
        _kernel_file.write(made, path, may_replace=self.force)
        self.written.append(path)
        print(f"wrote {path}")
        for sentence in made.left:
            print(f"left: {_kernel_file.printable(sentence)}", file=sys.stderr)


def _file_with(text, script):
    """The kernel's file, if the script has read it itself."""
    for folder in dict.fromkeys((pathlib.Path.cwd(), script.absolute().parent)):
        for path in sorted(folder.glob("*.cu")):
            if path.stat().st_size < 4 * len(text) + 4 and path.read_text(encoding="utf-8", errors="replace") == text:
                return path
    return None


def _run(script, arguments, files):
    """Runs a script whose calls of tune_kernel write kernel files. A call returns one result, which was not measured."""
    from tuner import kernel_tuner
    from tuner.kernel_tuner import _describe, _instead, _results
    signature, read = inspect.signature(kernel_tuner.tune_kernel), inspect.signature(_describe.describe).parameters

    def recorded(*given, **options):
        bound = signature.bind(*given, **options).arguments
        kernel_tuner.require(bound.pop("lang", None), simulation_mode=bound.pop("simulation_mode", None))
        verify = bound.get("verify")
        described = _describe.describe(f"a call of tune_kernel in {script.name} by `python -m tuner.convert`", **{
            name: value for name, value in bound.items() if name in read and not (verify and name == "answer")})
        if verify:
            described.left.append("the script judges results by a function: write a `reference` or `compare` for it")
        described.source = described.source or _file_with(described.text, script)
        default = _kernel_file.default_of(described)
        if default is None:
            described.left.append(f"none of the first {_kernel_file.MOST_DEFAULTS} combinations holds all restrictions: give a `default`")
            default = {name: values[0] for name, values in described.parameters.items()}
        files.write(described)
        watched = _results.Observations(bound.get("observers"))
        result = {**default, "time": 1.0, "times": [1.0], **dict.fromkeys([*watched.metrics, *watched.resources], 1.0)}
        for name, metric in (bound.get("metrics") or {}).items():
            result[name] = metric(result) if callable(metric) else 1.0
        return [result], {"best_config": result, "device_name": ""}

    _instead.install(tune_kernel=recorded)
    try:
        _instead.run(str(script), [str(script), *arguments])
    except Untranslatable:
        raise
    except SystemExit as ended:
        if files.written:
            sys.exit(ended.code)
    except Exception as error:
        if not files.written:
            raise Untranslatable(f"{script}: the script ended before any call of tune_kernel: {type(error).__name__}: {error}") from error
        print(f"left: the script ended after {len(files.written)} calls of tune_kernel: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
