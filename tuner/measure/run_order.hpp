#pragma once
/// Changes the queue of compiled configurations for Evaluator::prefer() and withdraw().

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include <tuner/core/configuration.hpp>

namespace tuner {

/// Sorts \p line by \p order. Other jobs come last, in their old order. \p configuration_of returns that of a job.
template <typename Job, typename ConfigurationOf>
void put_in_order(std::deque<Job>& line, std::span<const Configuration> order, ConfigurationOf configuration_of) {
  std::map<Configuration, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank.emplace(order[i], i);
  const auto rank_of = [&](const Job& job) {
    const auto at = rank.find(std::invoke(configuration_of, job));
    return at == rank.end() ? order.size() : at->second;
  };
  std::stable_sort(line.begin(), line.end(), [&](const Job& a, const Job& b) { return rank_of(a) < rank_of(b); });
}

/// Removes the jobs of \p configurations from \p line and returns them.
template <typename Job, typename ConfigurationOf>
std::vector<Job> take_out(std::deque<Job>& line, std::span<const Configuration> configurations,
                          ConfigurationOf configuration_of) {
  const auto stays = std::stable_partition(line.begin(), line.end(), [&](const Job& job) {
    return std::find(configurations.begin(), configurations.end(), std::invoke(configuration_of, job)) ==
           configurations.end();
  });
  std::vector<Job> taken(std::make_move_iterator(stays), std::make_move_iterator(line.end()));
  line.erase(stays, line.end());
  return taken;
}

}  // namespace tuner
