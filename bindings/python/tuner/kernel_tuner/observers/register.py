"""The registers that a configuration needs, under Kernel Tuner's name."""

from tuner.kernel_tuner.observers.observer import BenchmarkObserver


class RegisterObserver(BenchmarkObserver):
    """`num_regs`: the registers of a thread. Only a GPU has them."""

    metrics = {}
    resources = {"num_regs": "registers"}
