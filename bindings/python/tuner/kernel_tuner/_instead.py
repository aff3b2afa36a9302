"""Lets scripts that import kernel_tuner get tuner.kernel_tuner, and names what it does not have."""

import importlib
import importlib.abc
import importlib.machinery
import pathlib
import pkgutil
import runpy
import sys
import types


class _Absent(types.ModuleType):
    """A module of Kernel Tuner that tuner does not have. Its names raise NotImplementedError when they are called."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def absent(*_, **__):
            raise NotImplementedError(f"{self.__name__}.{name} is not supported")
        return absent


    def __call__(self, *_, **__):  # `from kernel_tuner import name` takes it for a module
        raise NotImplementedError(f"{self.__name__} is not supported")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module of a package."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith(self.package + ".") else None

    def create_module(self, spec):
        return _Absent(spec.name)

    def exec_module(self, module):
        pass


def install(**replaced):
    """From now on, `import kernel_tuner` gives tuner.kernel_tuner, with some names replaced."""
    package = importlib.import_module("tuner.kernel_tuner")
    sys.modules["kernel_tuner"] = package
    sys.meta_path.insert(0, Finder("kernel_tuner"))
    for module in pkgutil.walk_packages(package.__path__, "tuner.kernel_tuner."):
        if "._" not in module.name:
            sys.modules[module.name.removeprefix("tuner.")] = importlib.import_module(module.name)
    for name, value in replaced.items():
        setattr(package, name, value)


def run(script, arguments):
    """Runs a script as its own program would: with its folder first on the path."""
    sys.argv = list(arguments)
    sys.path.insert(0, str(pathlib.Path(script).resolve().parent))
    runpy.run_path(str(pathlib.Path(script).absolute()), run_name="__main__")
