#include <tuner/search/registry.hpp>

#include <algorithm>
#include <stdexcept>

namespace tuner::search {

namespace {

const std::vector<StrategyEntry>& table() {
  static const std::vector<StrategyEntry> entries{auto_entry(),
                                                  exhaustive_entry(),
                                                  random_entry(),
                                                  simulated_annealing_entry(),
                                                  greedy_ils_entry(),
                                                  mls_entry(),
                                                  genetic_algorithm_entry(),
                                                  diff_evo_entry(),
                                                  pso_entry(),
                                                  basin_hopping_entry(),
                                                  bandit_entry(),
                                                  bayes_opt_entry()};
  return entries;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

/// `; did you mean 'x'?` or the list of what exists.
std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "; there is none";
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  if (edit_distance(name, *nearest) <= 2 + name.size() / 4) return "; did you mean '" + *nearest + "'?";
  std::string list = "; there are";
  for (const std::string& one : known) list += (&one == &known.front() ? " " : ", ") + one;
  return list;
}

}  // namespace

std::span<const StrategyInfo> strategies() {
  static const std::vector<StrategyInfo> infos = [] {
    std::vector<StrategyInfo> out;
    for (const StrategyEntry& entry : table()) out.push_back(entry.info);
    return out;
  }();
  return infos;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : table()) {
    names.push_back(entry.info.name);
    if (entry.info.name != name) continue;
    StrategyOptions complete = options;
    complete.values = entry.info.options;
    std::vector<std::string> known;
    for (const auto& [option, value] : entry.info.options) known.push_back(option);
    for (const auto& [option, value] : options.values) {
      if (!complete.values.count(option))
        throw std::invalid_argument("strategy '" + entry.info.name + "' has no option '" + option + "'" +
                                    suggestion(option, known));
      complete.values[option] = value;
    }
    return entry.make(space, complete);
  }
  throw std::invalid_argument("there is no strategy '" + std::string(name) + "'" + suggestion(name, names));
}

}  // namespace tuner::search
