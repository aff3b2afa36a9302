#pragma once
/// The table of strategies: one function a strategy, each in its own file. Internal to the room.

#include <tuner/search/basic_strategy.hpp>

namespace tuner::search {

StrategyEntry auto_entry();
StrategyEntry exhaustive_entry();
StrategyEntry random_entry();
StrategyEntry simulated_annealing_entry();
StrategyEntry greedy_ils_entry();
StrategyEntry mls_entry();
StrategyEntry genetic_algorithm_entry();
StrategyEntry diff_evo_entry();
StrategyEntry pso_entry();
StrategyEntry basin_hopping_entry();
StrategyEntry bandit_entry();
StrategyEntry bayes_opt_entry();

}  // namespace tuner::search
