"""Energy and power by NVML's sensors, under Kernel Tuner's names."""

from tuner.kernel_tuner.observers.observer import BenchmarkObserver

_METRICS = {"nvml_energy": "energy", "nvml_power": "power"}
_UNSUPPORTED = ("power_readings", "core_freq", "mem_freq", "temperature", "gr_voltage", "clocks", "throttle_reasons")


class NVMLObserver(BenchmarkObserver):
    """`nvml_energy`: joules of a run; `nvml_power`: watts. Raises NotImplementedError for quantities that are not measured."""

    def __init__(self, observables, device=0, save_all=False, nvidia_smi_fallback=None, use_locked_clocks=False,
                 continous_duration=1):
        del device, save_all, nvidia_smi_fallback, continous_duration
        if use_locked_clocks:
            raise NotImplementedError("use_locked_clocks: tuner leaves the clocks of a GPU as they are")
        unknown = [one for one in observables if one not in _METRICS]
        if unknown:
            raise NotImplementedError(f"NVMLObserver: {', '.join(unknown)} is not measured; {', '.join(_METRICS)} are")
        self.metrics = {one: _METRICS[one] for one in observables}
