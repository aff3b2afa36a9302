"""The common class of observers."""


class BenchmarkObserver:
    """The base of the observers here. tuner does not call observers back, so a class of your own is refused."""

    metrics = None
    """The names of quantities, and the metrics of tuner that give them."""
    resources = {}
    """Of a configuration's resources, in the same way."""
