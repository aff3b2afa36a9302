#!/usr/bin/env python3
"""Runs scripts for Kernel Tuner with Kernel Tuner and with tuner, and compares how long they take and what they find.

    bench/against_kernel_tuner.py vector_add.py stencil.py        needs kernel_tuner, CuPy and tuner's Python package

For each call of tune_kernel it prints the seconds of both, their ratio, and how much slower the configuration that Kernel
Tuner chose is than the one that tuner chose, both as tuner measured them. Kernel Tuner compiles with CuPy, by NVRTC.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def record(which, script, to):
    """Runs a script in this process and writes what each of its calls gives."""
    import runpy
    calls = []
    if which == "tuner":
        from tuner.kernel_tuner import _instead
        _instead.install()
    import kernel_tuner
    real = kernel_tuner.tune_kernel

    def timed(*arguments, **options):
        options["quiet"] = True
        options.pop("verbose", None)
        if which != "tuner":
            options["lang"] = "cupy"
        parameters = list(options["tune_params"] if "tune_params" in options else arguments[4])
        started = time.perf_counter()
        results, environment = real(*arguments, **options)
        calls.append({"kernel": arguments[0] if arguments else options["kernel_name"], "seconds": time.perf_counter() - started, "results": [
            {"time": one["time"], **{name: one[name] for name in parameters}}
            for one in results if "__error__" not in one]})
        return results, environment

    kernel_tuner.tune_kernel = timed
    os.chdir(pathlib.Path(script).parent)
    sys.path.insert(0, os.getcwd())
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        pathlib.Path(to).write_text(json.dumps(calls))


def outcome(which, script, folder):
    to = pathlib.Path(folder) / f"{which}.json"
    process = subprocess.run([sys.executable, __file__, "--record", which, str(pathlib.Path(script).resolve()), str(to)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if process.returncode != 0:
        print(f"{script} with {which}: {process.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return json.loads(to.read_text()) if to.exists() else []


def main():
    if sys.argv[1:2] == ["--record"]:
        return record(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", nargs="+")
    scripts = parser.parse_args().script
    print(f"{'script':28} {'kernel':24} {'configurations':>14} {'Kernel Tuner':>12} {'tuner':>8} {'ratio':>6} {'its choice is slower by':>23}")
    for script in scripts:
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = outcome("tuner", script, folder), outcome("kernel_tuner", script, folder)
        for mine, other in zip(ours, theirs):
            if not mine["results"] or not other["results"]:
                continue
            best, chosen = (min(one["results"], key=lambda result: result["time"]) for one in (mine, other))
            same = next((one for one in mine["results"] if all(one[name] == chosen[name] for name in best if name != "time")), None)
            slower = f"{100 * (same['time'] / best['time'] - 1):.1f}%" if same else "not measured"
            print(f"{pathlib.Path(script).name:28} {mine['kernel'][:24]:24} {len(mine['results']):14} {other['seconds']:10.2f} s "
                  f"{mine['seconds']:6.2f} s {mine['seconds'] / other['seconds']:6.2f} {slower:>23}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
