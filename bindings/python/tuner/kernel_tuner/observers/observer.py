"""The common class of observers."""


class BenchmarkObserver:
    """tuner measures in a process of its own, without calling back: of a class of one's own, nothing can be observed."""

    metrics = None
    """The names of quantities, and the metrics of tuner that give them."""
