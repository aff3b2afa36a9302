"""Hardware counters, by the names that Nsight Compute has for them."""

from tuner.kernel_tuner.observers.observer import BenchmarkObserver


class NCUObserver(BenchmarkObserver):
    """`metrics`: names such as "dram__bytes.sum", or tuner's own, such as "gld_efficiency"."""

    def __init__(self, metrics=None, device=0):
        del device
        self.metrics = {one: one for one in metrics or []}
