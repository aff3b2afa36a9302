#include <tuner/replay/recorded_space.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <tuner/core/space/enumerated_space.hpp>

namespace tuner::replay {

std::size_t RecordedSpace::valid_count() const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const RecordedRow& row) { return row.objective.has_value(); }));
}

RecordedSpace make_recorded_space(std::string name, std::span<const RecordedTrial> trials, std::string unit) {
  if (trials.empty()) throw RecordedSpaceError(name + ": no trials are recorded");
  std::map<Configuration, std::size_t> position;
  std::vector<Configuration> configurations;
  RecordedSpace out;
  for (const RecordedTrial& trial : trials) {
    RecordedRow row = trial;
    if (row.objective && !std::isfinite(*row.objective)) row.objective.reset();
    if (!row.objective && row.kind == OutcomeKind::ok) row.kind = OutcomeKind::launch;
    if (row.objective && row.kind != OutcomeKind::ok) row.objective.reset();
    const auto [at, is_new] = position.emplace(trial.configuration, out.rows.size());
    if (is_new) {
      configurations.push_back(trial.configuration);
      out.rows.push_back(row);
    } else {
      out.rows[at->second] = row;
    }
  }
  try {
    out.space = std::make_shared<EnumeratedSpace>(EnumeratedSpace::from_configurations(configurations));
  } catch (const std::exception& error) {
    throw RecordedSpaceError(name + ": " + error.what());
  }
  out.name = std::move(name);
  out.unit = std::move(unit);
  return out;
}

}  // namespace tuner::replay
