"""Files of results, by the schema of T4."""

import json
import pathlib
import time

from tuner.kernel_tuner import util

_VALIDITY = {"InvalidConfig": "constraints", "CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime"}


def _path(name):
    path = pathlib.Path(name)
    path = path if path.suffix == ".json" else path.with_name(path.name + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def get_t4_results(results, tune_params, objective="time"):
    """Results as a dictionary by T4's schema. Times are milliseconds."""
    rows = []
    for one in results:
        error = one.get("__error__")
        measured = [] if error else [{"name": name, "value": value, "unit": "ms" if name == "time" else ""}
                                     for name, value in one.items() if isinstance(value, (int, float)) and name not in tune_params and
                                     not name.endswith("_time")]
        rows.append({
            "timestamp": one.get("timestamp", time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())),
            "configuration": {name: one[name] for name in tune_params},
            "times": {"compilation_time": one.get("compile_time", 0), "framework": one.get("framework_time", 0),
                      "search_algorithm": one.get("strategy_time", 0), "validation": one.get("verification_time", 0),
                      "runtimes": [] if error else one.get("times", [])},
            "invalidity": _VALIDITY[type(error).__name__] if isinstance(error, util.ErrorConfig) else "correct",
            "correctness": 0 if error else 1, "measurements": measured,
            "objectives": [objective] if isinstance(objective, str) else list(objective)})
    return {"schema_version": "1.0.0", "results": rows}


def store_output_file(output_filename, results, tune_params, objective="time"):
    """Writes results to a file by T4's schema."""
    _path(output_filename).write_text(json.dumps(get_t4_results(results, tune_params, objective), default=str, indent=2), encoding="utf-8")


def store_metadata_file(metadata_filename):
    """Writes which tuner, on which system, made results."""
    import platform

    import tuner
    _path(metadata_filename).write_text(json.dumps({"schema_version": "1.0.0", "metadata": {
        "environment": {"tuner": tuner.__version__, "python": platform.python_version(), "system": platform.platform()}}}, indent=2),
        encoding="utf-8")
