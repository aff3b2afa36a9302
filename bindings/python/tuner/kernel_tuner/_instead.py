"""Lets scripts that import kernel_tuner get tuner.kernel_tuner."""

import importlib
import pathlib
import pkgutil
import runpy
import sys


def install(**replaced):
    """From now on, `import kernel_tuner` gives tuner.kernel_tuner, with some names replaced."""
    package = importlib.import_module("tuner.kernel_tuner")
    sys.modules["kernel_tuner"] = package
    for module in pkgutil.walk_packages(package.__path__, "tuner.kernel_tuner."):
        if "._" not in module.name:
            sys.modules[module.name.removeprefix("tuner.")] = importlib.import_module(module.name)
    for name, value in replaced.items():
        setattr(package, name, value)


def run(script, arguments):
    """Runs a script as its own program would: with its folder first on the path."""
    sys.argv = list(arguments)
    sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")
