#include <tuner/session/earlier_results.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include <cache/browse.hpp>
#include <cache/session.hpp>

#include <tuner/session/records.hpp>

namespace tuner {
namespace {

/// Fewer measured trials than this say less than the best configurations of several problems.
constexpr std::size_t kFewestTrials = 8;
constexpr std::size_t kMostBest = 4;

// One is a factor of two in one size. What else differs counts like so many of them.
constexpr double kOtherSource = 2;
constexpr double kOtherChoice = 1.5;  // each: the same type and size says more than two sizes further
constexpr double kOtherDevice = 2;
constexpr double kOtherArchitecture = 4;
/// What all trials of a session are worth beside the best configurations of nearer problems.
constexpr double kWorthOfTrials = 2;

struct Here {
  cache::KernelRecord kernel;
  cache::DeviceRecord device;
  cache::EnvironmentRecord environment;
  cache::ProblemRecord problem;
};

std::optional<double> size_distance(const cache::Sizes& here, const cache::Sizes& there) {
  double sum = 0;
  for (const auto& [name, size] : here) {
    const auto other = there.find(name);
    if (other == there.end()) return std::nullopt;
    sum += std::abs(std::log2(static_cast<double>(size + 1) / static_cast<double>(other->second + 1)));
  }
  return sum;
}

/// How many words of `T=float operation=sum` differ.
std::size_t other_choices(const std::string& here, const std::string& there) {
  std::istringstream ours(here), theirs(there);
  std::size_t different = 0;
  for (std::string our, their;;) {
    our.clear(), their.clear();
    ours >> our, theirs >> their;
    if (our.empty() && their.empty()) return different;
    different += our != their ? 1 : 0;
  }
}

/// Nothing for what cannot be compared, and for the very same.
std::optional<double> distance(const Here& here, const cache::KernelRecord& kernel, const cache::DeviceRecord& device,
                               const cache::EnvironmentRecord& environment, const cache::ProblemRecord& problem) {
  if (kernel.name != here.kernel.name || kernel.objective != here.kernel.objective) return std::nullopt;
  if (device.backend != here.device.backend) return std::nullopt;
  std::optional<double> sum = size_distance(here.problem.sizes, problem.sizes);
  if (!sum) return std::nullopt;
  const bool same_device = device.key == here.device.key;
  if (same_device && kernel == here.kernel && problem == here.problem && environment.same_software(here.environment))
    return std::nullopt;
  if (kernel.source_hash != here.kernel.source_hash) *sum += kOtherSource;
  *sum += kOtherChoice * static_cast<double>(other_choices(here.problem.choices, problem.choices));
  if (!same_device) *sum += kOtherDevice;
  if (device.compute_capability != here.device.compute_capability) *sum += kOtherArchitecture;
  return sum;
}

double weight_of(double distance) { return 1 / (1 + distance / 8); }

std::string place(const cache::ProblemRecord& problem, const cache::DeviceRecord& device, const Here& here) {
  std::string text = cache::sizes_text(problem.sizes);
  if (problem.choices != here.problem.choices) text = problem.choices + " " + text;
  if (device.key != here.device.key) text += " on " + (device.name.empty() ? device.key : device.name);
  return text;
}

template <typename Record>
struct Near {
  double distance = 0;
  Record record;
  cache::Database* database = nullptr;
};

template <typename Record>
void nearest_first(std::vector<Near<Record>>& all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
}

Prior::Result result_of(const cache::TrialRecord& record, const Objective& objective) {
  const Trial trial = from_record(record);
  Prior::Result result{trial.configuration, std::nullopt};
  if (trial.verified && trial.measurement() != nullptr) result.objective = objective(*trial.measurement());
  return result;
}

struct Found {
  double distance = 0;
  Prior prior;
};

std::optional<Found> from_trials(const Here& here, std::span<cache::Database* const> databases,
                                 const Objective& objective) {
  std::vector<Near<cache::SessionRecord>> sessions;
  for (cache::Database* database : databases) {
    for (cache::SessionRecord& session : cache::sessions(*database, {.kernel = here.kernel.name})) {
      const cache::SessionKey& key = session.key;
      if (const auto far = distance(here, key.kernel, key.device, key.environment, key.problem))
        sessions.push_back({*far, std::move(session), database});
    }
  }
  nearest_first(sessions);
  for (const auto& [far, session, database] : sessions) {
    std::map<std::string, Prior::Result> last;  // finalists are measured, and stored, twice
    for (const cache::TrialRecord& record : cache::session_trials(*database, session.uuid)) {
      try {
        last.insert_or_assign(record.configuration, result_of(record, objective));
      } catch (const std::invalid_argument&) {
        // Not a configuration: some other program's row.
      }
    }
    Prior prior{{}, weight_of(far), place(session.key.problem, session.key.device, here)};
    for (auto& [configuration, result] : last) prior.results.push_back(std::move(result));
    const auto measured = static_cast<std::size_t>(
        std::count_if(prior.results.begin(), prior.results.end(), [](const auto& one) { return one.objective; }));
    if (measured >= kFewestTrials) return Found{far, std::move(prior)};
  }
  return std::nullopt;
}

std::optional<Found> from_best(const Here& here, std::span<cache::Database* const> databases) {
  std::vector<Near<cache::BestRecord>> rows;
  for (cache::Database* database : databases)
    for (cache::BestRecord& best : cache::best_rows(*database, {.kernel = here.kernel.name}))
      if (const auto far = distance(here, best.kernel, best.device, best.environment, best.problem))
        rows.push_back({*far, std::move(best), database});
  if (rows.empty()) return std::nullopt;
  nearest_first(rows);
  Prior prior{
      {}, weight_of(rows.front().distance), place(rows.front().record.problem, rows.front().record.device, here)};
  std::set<std::string> seen;
  for (const auto& [far, best, database] : rows) {
    if (prior.results.size() == kMostBest) break;
    if (!seen.insert(best.configuration).second) continue;
    try {  // the nearer, the better: their own times are of different problems
      prior.results.push_back({Configuration::parse(best.configuration), static_cast<double>(seen.size())});
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  return Found{rows.front().distance, std::move(prior)};
}

}  // namespace

std::optional<Prior> earlier_results(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                                     const Device& device, const Objective& objective) {
  const Here here{to_record(spec, objective), to_record(device), environment_record(device), to_record(size)};
  std::vector<cache::Database*> databases{&wisdom.user()};
  for (cache::Database& shipped : wisdom.shipped()) databases.push_back(&shipped);
  auto trials = from_trials(here, databases, objective);
  auto best = from_best(here, databases);
  if (trials && (!best || trials->distance <= best->distance + kWorthOfTrials)) return std::move(trials->prior);
  if (best) return std::move(best->prior);
  return std::nullopt;
}

}  // namespace tuner
