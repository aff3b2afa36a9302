"""Kernel Tuner's tunable precision, which tuner does not support: give the kernel a template parameter in place of it."""


def _unsupported(name):
    def refuse(*arguments, **options):
        raise NotImplementedError(f"{name} is not supported: write a kernel file with a parameter that is a type")
    return refuse


TunablePrecision = _unsupported("TunablePrecision")
AccuracyObserver = _unsupported("AccuracyObserver")
error_metric_from_name = _unsupported("error_metric_from_name")
