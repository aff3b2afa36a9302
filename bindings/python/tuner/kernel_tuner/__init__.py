"""Kernel Tuner's interface for CUDA kernels, on tuner.

    from tuner.kernel_tuner import tune_kernel, run_kernel

A script runs with this line changed, or unchanged as `python -m tuner.kernel_tuner SCRIPT.py`. Kernel Tuner's
documentation says what the arguments mean. tuner differs in this:

- Configurations are compiled side by side, by NVRTC, and run in a process of their own.
- `time` is the median in milliseconds, of as many runs with a cold L2 cache as it takes to know it; `times` are all of them.
- Without a strategy every configuration is measured. "random_sample" is tuner's "random"; every other strategy that
  tuner does not have itself is tuner's own, "auto".
- A `verify` function judges the fastest configurations, one after the other, until one passes.

Other languages than CUDA, texture references and simulation_mode raise NotImplementedError.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy

import tuner
from tuner import _kernel_file
from tuner._translation import Untranslatable
from tuner._program import PROGRAM
from tuner.kernel_tuner import _describe, _instead, _results, file_utils, observers, strategies, util
from tuner.kernel_tuner.file_utils import store_metadata_file, store_output_file

__all__ = ["file_utils", "observers", "run_kernel", "store_metadata_file", "store_output_file", "store_results", "strategies", "tune_cache",
           "tune_kernel", "util"]

_LANGUAGES = (None, "CUDA", "CUPY", "NVCUDA")
_MEASURED = frozenset(("time", "times", "compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time",
                       "timestamp", "__error__"))


def require(lang, **unsupported):
    """Raises NotImplementedError, which names what tuner does not support."""
    if (lang.upper() if isinstance(lang, str) else lang) not in _LANGUAGES:
        raise NotImplementedError(f"lang={lang!r}: tuner tunes CUDA kernels; code of the host and other languages are not supported")
    for name, value in unsupported.items():
        if value:
            raise NotImplementedError(f"{name} is not supported")


def _translated(kernel_name, function, *arguments, **options):
    """Calls a function. What a kernel file cannot have becomes NotImplementedError, which names the kernel."""
    try:
        return function(*arguments, **options)
    except Untranslatable as error:
        raise NotImplementedError(f"{kernel_name}: {error}") from error


def _described(kernel_name, *arguments, **options):
    return _translated(kernel_name, _describe.describe, f"a call of tune_kernel for {kernel_name}", kernel_name, *arguments, **options)


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None, grid_div_z=None,
                restrictions=None, answer=None, atol=1e-6, verify=None, verbose=False, lang=None, device=0, platform=0,
                smem_args=None, cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None, log=None,
                iterations=7, block_size_names=None, quiet=False, strategy=None, strategy_options=None, cache=None, metrics=None,
                simulation_mode=None, parallel=None, observers=None, objective=None, objective_higher_is_better=None,
                objectives=None, seed=None):
    """Measures configurations of a kernel. Returns Kernel Tuner's results: a dictionary for each configuration, with
    `__error__` for one that does not work, and one about the environment."""
    started = time.perf_counter()
    require(lang, simulation_mode=simulation_mode)
    clocks = [name for name in ("nvml_gr_clock", "nvml_mem_clock", "nvml_pwr_limit") if len(tune_params.get(name, [])) > 1]
    require(lang, **({f"the parameter {clocks[0]}": observers} if clocks else {}))
    wanted = _results.Objectives(objective, objective_higher_is_better, objectives, metrics)
    launch = dict(grid_div_x=grid_div_x, grid_div_y=grid_div_y, grid_div_z=grid_div_z, smem_args=smem_args, cmem_args=cmem_args,
                  compiler_options=compiler_options, defines=defines, block_size_names=block_size_names)
    described = _described(kernel_name, kernel_source, problem_size, arguments, tune_params, restrictions=restrictions,
                           answer=None if verify else answer, atol=atol, texmem_args=texmem_args, **launch)
    described.compare_by_default = False
    watched = _results.Observations(observers)
    known = _results.Cache(cache, kernel_name, problem_size, tune_params, wanted)
    on_device = ["--device", str(device)] if device and not os.environ.get("TUNER_DEVICE") else []
    with tempfile.TemporaryDirectory(prefix="tuner-") as folder:
        file, trials = pathlib.Path(folder) / f"{described.kernel}.cu", pathlib.Path(folder) / "trials.jsonl"
        # Nothing but the configurations' times is of use here, and the database is new.
        options = ["--strategy", strategies.name_of(strategy), "--db", str(file.with_suffix(".db")), "--log", str(trials), "--json",
                   "--force", "--no-prior", "--no-ceilings", "--no-host-check", "--parent", str(os.getpid())]
        options += strategies.limits_of(strategy, strategy_options, time.perf_counter() - started)
        options += watched.options() + (["--seed", str(seed)] if seed is not None else []) + on_device
        options += [] if any(one.answer is not None for one in described.arguments) else ["--unverified"]
        options += ["--quiet"] if quiet else ["--verbose"] if verbose else []
        about = known.about
        if not known.is_complete(described, lambda: _device_name(on_device)):
            _translated(described.kernel, _kernel_file.write, described, file)
            try:
                about = _tune(file, options, trials)
            finally:  # also after Ctrl-C
                known.add(trials, described, watched)
                known.store(about)
    results = known.results(described)
    wanted.compute(results)
    if verify:
        _verify(verify, answer, atol, results, wanted, tune_params, (kernel_name, kernel_source, problem_size, arguments), launch)
    known.store(about)
    return wanted.finish(results, tune_params, about, quiet, 1000 * (time.perf_counter() - started))


def _device_name(options):
    """Of the device that a tuning would use."""
    devices = json.loads(subprocess.run([PROGRAM, "devices", "--json"], capture_output=True, text=True, check=True).stdout)["devices"]
    wanted = os.environ.get("TUNER_DEVICE") or (options[1] if options else "0")
    gpus = [one["name"] for one in devices if one["backend"] == "cuda"] if wanted != "host" else []
    return gpus[int(wanted) if wanted.isdigit() else 0] if gpus else next(one["name"] for one in devices if one["backend"] == "host")


def _tune(file, options, trials):
    """Runs the program, whose progress is on stderr. Returns what it prints about the device."""
    process = subprocess.Popen([str(PROGRAM), str(file), *options], stdout=subprocess.PIPE, text=True)
    try:
        printed = process.communicate()[0]
    except KeyboardInterrupt:
        try:
            process.communicate(timeout=1)  # a terminal's Ctrl-C reaches it as well, and it stops with what it has
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.communicate()
        raise
    if not printed:
        reasons = ["see its message above", *(one["message"] for one in _results.read_log(trials) if "message" in one)]
        raise tuner.Error(f"tune ended with status {process.returncode}: {reasons[-1]}", "other error")
    about = json.loads(printed)
    if about.get("interrupted"):
        raise KeyboardInterrupt
    return about


def _verify(verify, answer, atol, results, wanted, tune_params, call, launch):
    """Takes configurations whose outputs `verify` refuses out of the results, from the best on until one passes."""
    for result in wanted.sorted(results):
        outputs = run_kernel(*call, {name: result[name] for name in tune_params}, **launch)
        compared = outputs if answer is None else [None if right is None else one for right, one in zip(answer, outputs)]
        if util.call_verify(verify, answer, compared, atol):
            return
        result["__error__"] = util.RuntimeFailedConfig()


def run_kernel(kernel_name, kernel_source, problem_size, arguments, params, grid_div_x=None, grid_div_y=None, grid_div_z=None,
               lang=None, device=0, platform=0, smem_args=None, cmem_args=None, texmem_args=None, compiler=None,
               compiler_options=None, defines=None, block_size_names=None, quiet=False, log=None):
    """Runs one configuration, `params`, which may be a result of tune_kernel. Returns all arguments as they are afterwards."""
    require(lang)
    described = _described(
        kernel_name, kernel_source, problem_size, arguments,
        {name: [value] for name, value in params.items() if name not in _MEASURED and not isinstance(value, list)},
        grid_div_x=grid_div_x, grid_div_y=grid_div_y, grid_div_z=grid_div_z, smem_args=smem_args, cmem_args=cmem_args, texmem_args=texmem_args,
        compiler_options=compiler_options, defines=defines, block_size_names=block_size_names)
    with tempfile.TemporaryDirectory(prefix="tuner-") as folder:
        file = pathlib.Path(folder) / f"{described.kernel}.cu"
        _translated(described.kernel, _describe.put_constants_into_text, described)
        _translated(described.kernel, _kernel_file.write, described, file, with_contents=False)
        kernel = tuner.Kernel(str(file))
        given, buffers = [], []
        for argument in described.arguments:
            if isinstance(argument.value, numpy.ndarray):
                buffers.append(_describe.DeviceArray(argument.value))
                given.append(buffers[-1])
            elif argument.value is not None:
                given.append(_describe.plain(argument.value))
        kernel.launch([described.sizes[name] for name in kernel.sizes], *given)
    outputs = iter(buffers)
    return [next(outputs).download() if isinstance(one.value, numpy.ndarray) else one.value for one in described.arguments]


_UNSUPPORTED = {"tune_cache": "`tune replay FILE` searches recorded spaces",
                "store_results": "`tune db export --as header` writes a header for programs"}


def __getattr__(name):
    if name not in _UNSUPPORTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def refuse(*_, **__):
        raise NotImplementedError(f"{name} is not supported: {_UNSUPPORTED[name]}")
    return refuse


sys.meta_path.append(_instead.Finder(__name__))  # after all others, for modules of Kernel Tuner that are not here
