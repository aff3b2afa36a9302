"""The results of a tuning in Kernel Tuner's words."""

import json
import math
import os
import pathlib
import time

import numpy

from tuner._translation import possible_name, value_texts
from tuner.kernel_tuner import util
from tuner.kernel_tuner.observers import BenchmarkObserver

_ERRORS = {"invalid": util.InvalidConfig, "compile": util.CompilationFailedConfig}
# Whether more of it is better, as Kernel Tuner has it.
_HIGHER = {"time": False, "energy": False, "fitness": True, "cost": False, "loss": False, "GFLOP/s": True, "TFLOP/s": True,
           "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True}


def read_log(trials):
    """The trials that `tune --log` has written."""
    return [json.loads(line) for line in trials.read_text(encoding="utf-8").splitlines()] if trials.exists() else []


class Observations:
    """The metrics of all observers."""

    def __init__(self, observers):
        self.metrics, self.resources = {}, {}
        for one in observers or []:
            one = one() if callable(one) and not isinstance(one, BenchmarkObserver) else one
            if getattr(one, "metrics", None) is None:
                raise NotImplementedError(f"an observer of your own, {type(one).__name__}, is not supported: NVMLObserver, "
                                          "NCUObserver and RegisterObserver are")
            self.metrics.update(one.metrics)
            self.resources.update(one.resources)

    def options(self):
        return ["--metrics", ",".join(dict.fromkeys(self.metrics.values())), "--metrics-for", "all"] if self.metrics else []


class Objectives:
    """The objectives and the metrics of the user."""

    def __init__(self, objective, higher_is_better, objectives, metrics):
        self.metrics = dict(metrics or {})
        if objectives:
            self.names, self.higher = list(objectives.keys()), list(objectives.values())
            return
        self.names = objective if isinstance(objective, list) else [objective or "time"]
        if higher_is_better is None:
            unknown = [name for name in self.names if name not in _HIGHER]
            if unknown:
                raise ValueError(f"give objective_higher_is_better for the objective {unknown[0]}")
            higher_is_better = [_HIGHER[name] for name in self.names]
        self.higher = higher_is_better if isinstance(higher_is_better, list) else [higher_is_better]

    def compute(self, results):
        """Adds the user's metrics to all results."""
        for result in results:
            if "__error__" not in result:
                self._compute(result)
        missing = [name for name in self.names if any(name not in one for one in results if "__error__" not in one)]
        if missing:
            raise ValueError(f"the objective {missing[0]} is neither measured by an observer nor among the metrics")

    def _compute(self, result):
        for name, metric in self.metrics.items():
            result[name] = metric(result) if callable(metric) else eval(metric, {"math": math, "numpy": numpy}, dict(result))

    def sorted(self, results):
        """The results that work, the best first."""
        return sorted((one for one in results if "__error__" not in one), key=lambda one: one[self.names[0]], reverse=self.higher[0])

    def finish(self, results, tune_params, about, quiet, milliseconds):
        """The results and the environment that tune_kernel returns."""
        working = [one for one in results if "__error__" not in one]
        device = about.get("device", {})
        environment = {"device_name": device.get("name", ""), "compute_capability": device.get("compute_capability", 0),
                       "driver": device.get("driver", ""), "compiler": device.get("compiler", ""), "tuner": about.get("tuner", ""),
                       "total_time": milliseconds}
        for name in ("compile_time", "verification_time", "benchmark_time"):
            environment["total_" + name] = sum(one.get(name, 0) for one in results)
        if not working:
            if not quiet:
                print("no results to report")
            return results, environment
        if len(self.names) == 1:
            environment["best_config"] = best = self.sorted(working)[0]
            shown = [best]
        else:
            environment["best_config"] = shown = self._front(working)
        if not quiet:
            keys = [*tune_params, *self.names, *self.metrics]
            print(f"best configuration{'s' if len(shown) > 1 else ''} for {', '.join(self.names)}:")
            for one in shown:
                print("  " + util.get_config_string(one, keys, {"time": "ms"}))
        return results, environment

    def _front(self, working):
        """The results that no other beats in every objective."""
        costs = [[-one[name] if higher else one[name] for name, higher in zip(self.names, self.higher)] for one in working]
        return [one for one, cost in zip(working, costs)
                if not any(all(a <= b for a, b in zip(other, cost)) and other != cost for other in costs)]


class Cache:
    """A cache file as Kernel Tuner writes and reads it, or None."""

    def __init__(self, path, kernel_name, problem_size, tune_params, wanted):
        self.path = None if path is None else pathlib.Path(str(path) if str(path).endswith(".json") else f"{path}.json")
        self.parameters, self.wanted, self.about, self.entries = list(tune_params), wanted, {}, {}
        self.head = {"device_name": "", "kernel_name": kernel_name,
                     "problem_size": "callable" if callable(problem_size) else problem_size, "tune_params_keys": self.parameters,
                     "tune_params": {name: list(values) for name, values in tune_params.items()}, "objective": wanted.names}
        if self.path is not None and not os.access(self.path.parent, os.W_OK):
            raise PermissionError(f"{self.path}: its folder cannot be written, so that no result would be kept")
        if self.path is None or not self.path.exists():
            return
        stored = json.loads(_closed(self.path.read_text(encoding="utf-8")))
        for name in ("kernel_name", "tune_params_keys", "problem_size"):
            if name in stored and _jsons(stored[name]) != _jsons(self.head[name]):
                raise ValueError(f"{self.path}: it is a cache of another {name}, {stored[name]}")
        self.about = {"device": {"name": stored.get("device_name", "")}}
        for one in stored["cache"].values():
            failed = next((value for value in one.values() if isinstance(value, str) and
                           (value.endswith("FailedConfig") or value == "InvalidConfig")), None)
            if failed is not None:
                one["__error__"] = getattr(util, failed)()
            self.entries[self.key(one)] = one

    def key(self, result):
        return ",".join(str(result[name]) for name in self.parameters)

    def is_complete(self, described, device_name):
        """Whether every valid configuration is known already. Raises ValueError if they are another device's."""
        if not self.entries:
            return False
        known = self.about["device"]["name"]
        if known != device_name():
            raise ValueError(f"{self.path}: it is a cache of another device, {known}")
        return all(self.key(one) in self.entries for one in described.configurations())

    def add(self, trials, described, watched):
        """The results of a log of trials take the place of earlier ones."""
        texts = {name: value_texts(values) for name, values in described.parameters.items()}
        for one in read_log(trials):
            result = _result(one, texts, watched)
            self.entries[self.key(result)] = result

    def results(self, described):
        """The results of the space: the file may have more."""
        values = {name: [str(value) for value in values] for name, values in described.parameters.items()}
        return [one for one in self.entries.values()
                if all(str(one[name]) in known for name, known in values.items()) and described.is_valid(one)]

    def store(self, about):
        """Writes all results, also earlier ones of other configurations."""
        if self.path is None or not self.entries:
            return
        name = about.get("device", {}).get("name", "") or self.about.get("device", {}).get("name", "")
        whole = {**self.head, "device_name": name, "cache": self.entries}
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(whole, default=_plain, indent=0), encoding="utf-8")
        temporary.replace(self.path)


def _jsons(value):
    """As it is read again."""
    return json.loads(json.dumps(value, default=_plain))


def _closed(text):
    """A cache file of an interrupted tuning lacks its last two brackets."""
    text = text.strip()
    return text if text.replace("\n", "").endswith(("}}}", "{}}")) or text.endswith("}\n}") else text.rstrip(",") + "}\n}"


def _plain(value):
    return value.item() if isinstance(value, numpy.generic) else value.tolist() if isinstance(value, numpy.ndarray) else str(value)


def _result(trial, texts, watched):
    """A line of the log of trials. The values of parameters are the user's own."""
    result = {}
    for name, values in texts.items():
        given = trial["configuration"][possible_name(name)]
        result[name] = values[str(given).lower() if isinstance(given, bool) else str(given)]
    seconds = trial.get("times_s", {})
    if trial["outcome"] == "ok":
        result["time"] = trial["median_ns"] / 1e6
        result["times"] = [one / 1e6 for one in trial["samples_ns"]]
        metrics = trial.get("metrics", {})
        result.update({name: metrics[metric] for name, metric in watched.metrics.items() if metric in metrics})
        resources = trial.get("resources", {})
        result.update({name: resources[resource] for name, resource in watched.resources.items() if resource in resources})
    else:
        result["__error__"] = result["time"] = _ERRORS.get(trial["outcome"], util.RuntimeFailedConfig)()
    result.update(compile_time=1000 * seconds.get("compile", 0), verification_time=1000 * seconds.get("verify", 0),
                  benchmark_time=1000 * seconds.get("measure", 0), strategy_time=0, framework_time=0,
                  timestamp=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()))
    return result
