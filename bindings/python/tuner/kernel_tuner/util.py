"""The functions of kernel_tuner.util that scripts call, and the classes of configurations that fail."""

import inspect
import sys

import numpy


class ErrorConfig(str):
    """The reason for a configuration without a time."""

    def __new__(cls, *_):
        return super().__new__(cls, cls.__name__)


class InvalidConfig(ErrorConfig):
    """It cannot be launched."""


class CompilationFailedConfig(ErrorConfig):
    """It does not compile."""


class RuntimeFailedConfig(ErrorConfig):
    """It fails, hangs, or computes something wrong."""


def get_best_config(results, objective, objective_higher_is_better=False):
    """The best of the results that have an objective."""
    return (max if objective_higher_is_better else min)(
        results, key=lambda one: one[objective] if "__error__" not in one and isinstance(one.get(objective), float)
        else (-1 if objective_higher_is_better else 1) * sys.float_info.max)


def get_config_string(params, keys=None, units=None):
    """`block_size_x=128, time=0.123ms`"""
    return ", ".join(f"{name}={f'{value:.3f}' if isinstance(value, float) else value}{(units or {}).get(name, '')}"
                     for name, value in params.items() if (name in keys if keys else not isinstance(value, list)))


def call_verify(verify, answer, outputs, atol):
    """A user's function, which may have no atol."""
    if "atol" in inspect.signature(verify).parameters:
        return bool(numpy.all(verify(answer, outputs, atol=atol)))
    return bool(numpy.all(verify(answer, outputs)))
