#include <tuner/session/tuning.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <cache/browse.hpp>
#include <cache/session.hpp>

#include <tuner/session/records.hpp>

namespace tuner {
namespace {

/// With fewer measured trials than this, the best configurations of several problems are more useful.
constexpr std::ptrdiff_t kFewestTrials = 8;
constexpr std::size_t kMostBest = 4;

// The unit of distance is a factor of two in one size. Other differences count as much as this many of them.
constexpr double kOtherSource = 2;
constexpr double kOtherChoice = 1.5;  // for each choice that differs
constexpr double kOtherDevice = 2;
constexpr double kOtherArchitecture = 4;
/// All trials of a session are preferred to the best configurations of problems that are nearer by at most this.
constexpr double kWorthOfTrials = 2;

/// The number of words that differ in texts such as `T=float operation=sum`.
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

/// nullopt when the two cannot be compared, and when they are the same.
std::optional<double> distance(const cache::Context& here, const cache::Context& there) {
  if (there.kernel.name != here.kernel.name || there.kernel.objective != here.kernel.objective) return std::nullopt;
  if (there.device.backend != here.device.backend) return std::nullopt;
  std::optional<double> sum = cache::distance(here.problem.sizes, there.problem.sizes);
  if (!sum) return std::nullopt;
  if (there.identity() == here.identity()) return std::nullopt;
  if (there.kernel.source_hash != here.kernel.source_hash) *sum += kOtherSource;
  *sum += kOtherChoice * static_cast<double>(other_choices(here.problem.choices, there.problem.choices));
  if (there.device.key != here.device.key) *sum += kOtherDevice;
  if (there.device.compute_capability != here.device.compute_capability) *sum += kOtherArchitecture;
  return sum;
}

struct Found {
  double distance = 0;
  Prior prior;
};

/// The place \p there, without results yet.
Found found(double distance, const cache::Context& here, const cache::Context& there) {
  std::string place = cache::sizes_text(there.problem.sizes);
  if (there.problem.choices != here.problem.choices) place = there.problem.choices + " " + place;
  if (there.device.key != here.device.key)
    place += " on " + (there.device.name.empty() ? there.device.key : there.device.name);
  return {distance, {{}, 1 / (1 + distance / 8), std::move(place)}};
}

const cache::Context& context_of(const cache::SessionRecord& session) { return session.key; }
const cache::Context& context_of(const cache::BestRecord& best) { return best; }

template <typename Record>
struct Near {
  double distance = 0;
  Record record;
  cache::Database* database = nullptr;
};

/// The records that \p list finds in each database, if they can be compared with \p here.
template <typename Record>
std::vector<Near<Record>> nearest_first(const cache::Context& here, std::span<cache::Database* const> databases,
                                        std::vector<Record> (*list)(cache::Database&, const cache::Filter&)) {
  std::vector<Near<Record>> all;
  for (cache::Database* database : databases)
    for (Record& record : list(*database, {.kernel = here.kernel.name}))
      if (const auto far = distance(here, context_of(record))) all.push_back({*far, std::move(record), database});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  return all;
}

std::optional<Found> from_trials(const cache::Context& here, std::span<cache::Database* const> databases,
                                 const Objective& objective) {
  for (const auto& [far, session, database] : nearest_first(here, databases, cache::sessions)) {
    Found result = found(far, here, session.key);
    std::vector<Prior::Result>& results = result.prior.results;
    for (const cache::TrialRecord& record : cache::finished_trials(*database, session.key)) {
      const std::optional<Trial> trial = from_record(record);
      if (!trial) continue;
      const Measurement* const measurement = trial->verified ? trial->measurement() : nullptr;
      results.push_back({trial->configuration, measurement ? objective(*measurement) : std::nullopt});
    }
    const auto measured = std::count_if(results.begin(), results.end(), [](const auto& one) { return one.objective; });
    if (measured >= kFewestTrials) return result;
  }
  return std::nullopt;
}

std::optional<Found> from_best(const cache::Context& here, std::span<cache::Database* const> databases) {
  std::optional<Found> result;
  std::set<std::string> seen;
  for (const auto& [far, best, database] : nearest_first(here, databases, cache::best_rows)) {
    if (!result) result = found(far, here, best);
    std::vector<Prior::Result>& results = result->prior.results;
    if (results.size() == kMostBest) break;
    if (!seen.insert(best.configuration).second) continue;
    try {  // ranked by nearness: their times are of different problems
      results.push_back({Configuration::parse(best.configuration), static_cast<double>(seen.size())});
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  return result;
}

}  // namespace

std::optional<Prior> earlier_results(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                                     const Device& device, const Objective& objective) {
  const cache::Context here = context_of(spec, size, device, objective);
  const std::vector<cache::Database*> databases = wisdom.databases();
  auto trials = from_trials(here, databases, objective);
  auto best = from_best(here, databases);
  if (trials && (!best || trials->distance <= best->distance + kWorthOfTrials)) return std::move(trials->prior);
  if (best) return std::move(best->prior);
  return std::nullopt;
}

}  // namespace tuner
