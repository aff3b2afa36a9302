"""Kernel Tuner's strategies, as those of tuner (docs/search.md)."""

_NAMES = {None: "exhaustive", "brute_force": "exhaustive", "random_sample": "random", "basinhopping": "basin_hopping"}
_SAME = ("simulated_annealing", "genetic_algorithm", "diff_evo", "greedy_ils", "mls", "pso", "bayes_opt")
_OTHERS = ("minimize", "greedy_mls", "ordered_greedy_mls", "dual_annealing", "skopt", "firefly_algorithm", "pyatf_strategies",
           "hybrid_vndx", "adaptive_tabu_greywolf", "HybridVNDX", "AdaptiveTabuGreyWolf", "nsga2", "nsga3")


class _Strategy:
    """Stands for a module such as `kernel_tuner.strategies.minimize`."""

    def __init__(self, name):
        self.name = name


globals().update({name: _Strategy(name) for name in [*_NAMES, *_SAME, *_OTHERS] if name})


def name_of(strategy):
    """tuner's strategy for one of Kernel Tuner's. Raises ValueError for an unknown one."""
    name = getattr(strategy, "name", strategy)
    name = name.replace(" ", "_") if isinstance(name, str) else name
    if name in _NAMES:
        return _NAMES[name]
    if name in _SAME:
        return name
    if name in _OTHERS:
        return "auto"
    if not isinstance(name, str):
        raise NotImplementedError("a strategy of one's own is not supported: give the name of one")
    raise ValueError(f"unknown strategy {name!r}: it is one of {', '.join(sorted(map(str, [*_NAMES, *_SAME, *_OTHERS])))}")


def limits_of(strategy, options, spent):
    """The options of the program for max_fevals, and for time_limit, of which `spent` seconds are over. Without a limit
    "exhaustive" measures every configuration."""
    options, made = dict(options or {}), []
    evaluations, seconds = options.pop("max_fevals", None), options.pop("time_limit", None)
    if evaluations is not None:
        made += ["--trials", str(int(evaluations))]
    if seconds is not None:
        if seconds <= spent:
            raise RuntimeError(f"the time limit of {seconds} s was over before the first configuration")
        made += ["--budget", f"{seconds - spent:g}s"]
    return made or (["--budget", "100%"] if name_of(strategy) == "exhaustive" else [])
