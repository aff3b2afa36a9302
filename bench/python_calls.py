#!/usr/bin/env python3
"""Measures the host's time of a call from Python: tuner.reduce beside torch.sum and a launch by CuPy's RawKernel. Needs a GPU.

    PYTHONPATH=FOLDER_WITH_tuner bench/python_calls.py

Prints the median of many batches, in nanoseconds a call, for a sum of 1024 floats that is enqueued and not waited for.
"""

import statistics
import time

import torch

import tuner

try:
    import cupy
except ImportError:
    cupy = None

BATCH, ROUNDS = 200, 101


def main():
    x, out = torch.ones(1024, device="cuda"), torch.empty((), device="cuda")
    calls = {
        "tuner.reduce(x)": lambda: tuner.reduce(x),
        "tuner.reduce(x, out=out)": lambda: tuner.reduce(x, out=out),
        "torch.sum(x)": lambda: torch.sum(x),
        "torch.sum(x, dim=0, out=out)": lambda: torch.sum(x, dim=0, out=out),
    }
    if cupy is not None:
        nothing = cupy.RawKernel('extern "C" __global__ void nothing(const float* x, float* y) {}', "nothing")
        a, b = cupy.ones(1024, cupy.float32), cupy.empty((), cupy.float32)
        calls["CuPy: RawKernel that does nothing"] = lambda: nothing((1,), (256,), (a, b))
        calls["CuPy: tuner.reduce(a, out=b)"] = lambda: tuner.reduce(a, out=b)
        calls["CuPy: a.sum()"] = lambda: a.sum()
    spent = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            torch.cuda.synchronize()
            begun = time.perf_counter_ns()
            for _ in range(BATCH):
                call()
            spent[name].append((time.perf_counter_ns() - begun) / BATCH)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}: ns a call")
    for name, times in spent.items():
        print(f"{statistics.median(times):8.0f}  {name}")


if __name__ == "__main__":
    main()
