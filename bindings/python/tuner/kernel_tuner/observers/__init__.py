"""Measurements besides the time."""

from tuner.kernel_tuner.observers import ncu, nvml, observer, register  # noqa: F401
from tuner.kernel_tuner.observers.observer import BenchmarkObserver

__all__ = ["BenchmarkObserver"]
