#include <tuner/session/tuning/tuning.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include <cache/query/browse.hpp>
#include <cache/records/json_value.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/winner_check.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

namespace tuner {
namespace {

/// The settings of measuring for the session's objective. Slow configurations are abandoned early only if the objective
/// is time. Any other objective must be measured for every configuration.
MeasureOptions measuring(const TuningOptions& options, std::vector<std::string> metrics) {
  MeasureOptions measure = options.measure;
  measure.metrics = std::move(metrics);
  if (options.session.objective.is_time()) return measure;
  measure.abandon_factor = 0;
  measure.metrics_for_all = true;
  return measure;
}

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

/// The records that \p list finds in each database, with their distances, if they can be compared with \p here.
template <typename Record>
auto nearest_first(const cache::Context& here, std::span<cache::Database* const> databases,
                   std::vector<Record> (*list)(cache::Database&, const cache::Filter&)) {
  std::vector<std::tuple<double, Record, cache::Database*>> all;
  for (cache::Database* database : databases)
    for (Record& record : cache::answer_or_nothing([&] { return list(*database, {.kernel = here.kernel.name}); }))
      if (const auto far = distance(here, context_of(record))) all.emplace_back(*far, std::move(record), database);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  return all;
}

std::optional<Found> from_trials(const cache::Context& here, std::span<cache::Database* const> databases,
                                 const Objective& objective) {
  for (const auto& nearest : nearest_first(here, databases, cache::sessions)) {
    const auto& [far, session, owner] = nearest;
    cache::Database& database = *owner;
    const cache::SessionKey& key = session.key;
    Found result = found(far, here, key);
    std::vector<Prior::Result>& results = result.prior.results;
    for (const cache::TrialRecord& record :
         cache::answer_or_nothing([&] { return cache::finished_trials(database, key); })) {
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

/// When the wall time ends. nullopt: never.
std::optional<Clock::time_point> end_of(const SessionOptions& session) {
  constexpr std::chrono::hours longest{24 * 365};
  if (!session.budget.wall_time || *session.budget.wall_time > longest) return std::nullopt;
  return *session.started + std::chrono::duration_cast<Clock::duration>(*session.budget.wall_time);
}

}  // namespace

std::string conditions_text(const TuningOptions& options, const KernelSpec& spec) {
  const MeasureOptions& measure = options.measure;
  const std::string reference = weaker_reference(spec, measure.recorded);
  // By name: equal conditions are equal texts. The usual is left out where earlier releases did not store it.
  cache::JsonValue::Object conditions;
  const auto add = [&](const char* name, auto value) { conditions.emplace_back(name, cache::JsonValue{value}); };
  add("cold", measure.use == Use::single);
  if (measure.max_seconds != MeasureOptions{}.max_seconds) add("max_seconds", measure.max_seconds);
  add("min_samples", std::uint64_t{measure.min_samples});
  if (!measure.recorded.digest.empty()) add("recorded", measure.recorded.digest);
  if (measure.verify && !reference.empty()) add("reference", reference);
  add("seed", std::uint64_t{measure.seed});
  add("target_width", measure.target_width);
  add("verify", measure.verify);
  return cache::JsonValue{std::move(conditions)}.text();
}

std::vector<std::string> measurable_metrics(const TuningOptions& options, const Device& device,
                                            const std::function<void(std::string_view)>& warn) {
  std::vector<std::string> asked = options.measure.metrics;
  const Objective& objective = options.session.objective;
  if (!objective.is_time()) asked.insert(asked.begin(), objective.metric());
  asked = expand_metrics(asked);
  if (asked.empty()) return {};
  const std::vector<std::string> reasons = why_not_measurable(device, asked);
  std::vector<std::string> measurable, told;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (reasons[i].empty()) {
      measurable.push_back(asked[i]);
      continue;
    }
    if (asked[i] == objective.metric())
      throw Error(ErrorCode::invalid_argument, "the objective " + asked[i] + " cannot be measured: " + reasons[i]);
    if (contains(told, reasons[i])) continue;
    told.push_back(reasons[i]);
    warn("not collected: " + reasons[i]);
  }
  return measurable;
}

void require_use(Use use, const Device& device) {
  if (traits(device.key).is_gpu || use == Use::single || use == Use::hot) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} has no streams and no graphs, so no kernel can be timed as '{}' there: use a GPU, or "
                          "time it as 'single'",
                          device.name, named(use).name));
}

void require_reference(const KernelSpec& spec) {
  if (spec.reference_kind() != ReferenceKind::none) return;
  throw Error(
      ErrorCode::invalid_argument,
      spec.program.file + ": kernel '" + spec.name +
          "' has no reference, so no configuration could be verified and "
          "none named best. Write a kernel that computes the outputs in the simplest way and name it: "
          "'#pragma tuner reference NAME'. Or compare with the results of the default configuration: "
          "'#pragma tuner reference default'. --unverified measures without a reference, but no call is served with "
          "the result");
}

IsolatedOptions workers_on(const Device& device, const std::function<void(std::string_view)>& warn) {
  return {.gpus = traits(device.key).is_gpu ? compute_capabilities() : std::vector<int>(),
          .devices = {device.index},
          .known_device = device,
          .images = traits(device.key).keeps_objects ? ImageStore{} : image_cache(warn),
          .warn = warn};
}

SessionResult tune_kernel(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                          const TuningOptions& options, Observer* observer, Backend* backend) {
  const Clock::time_point started = options.session.started.value_or(Clock::now());
  const bool isolate = options.isolation == Isolation::process;
  if (!isolate && (!options.more_devices.empty() || !options.hosts.empty()))
    throw Error(ErrorCode::invalid_argument,
                "tuning on several devices needs worker processes: leave isolation on, or name one device");
  if (options.measure.verify && !options.measure.recorded.has_answers()) require_reference(spec);
  const auto warn = [observer](std::string_view message) {
    if (observer) observer->on_warning(message);
  };
  require_use(options.measure.use, device);
  const MeasureOptions measure = measuring(options, measurable_metrics(options, device, warn));
  std::unique_ptr<Backend> opened;
  if (!isolate && backend == nullptr) {
    opened = open_backend(device, PreloadedKernels::trials);
    backend = opened.get();
  }
  const bool reuse = options.resume && unknown_headers(spec) == nullptr;
  IsolatedOptions workers = workers_on(device, warn);
  workers.here = isolate ? nullptr : backend;
  workers.compile_workers = options.compile_workers;
  workers.search_learns = search::strategy_info(options.session.strategy).learns;
  workers.hosts = options.hosts;
  workers.devices.insert(workers.devices.end(), options.more_devices.begin(), options.more_devices.end());
  if (isolate) workers.grace = options.session.grace;  // threads cannot be killed
  IsolatedEvaluator evaluator(spec, size, measure, workers);
  // Only now: hashing large data files takes as long as the workers need to start.
  TrialStore store(wisdom.user(), spec, size, device,
                   {.session = {options.session.strategy, options.session.seed, options.origin},
                    .conditions = conditions_text(options, spec),
                    .objective = options.session.objective,
                    .resume = reuse,
                    .metrics = measure.metrics_for_all ? measure.metrics : std::vector<std::string>(),
                    .decides = options.decides && measure.verify});
  SessionOptions session = options.session;
  session.started = started;
  session.unverified = !measure.verify;
  session.remeasure_one = !measure.metrics.empty();
  session.estimate &= options.learn_from_elsewhere;
  if (options.learn_from_elsewhere && unknown_headers(spec) == nullptr && !session.prior)
    session.prior = earlier_results(wisdom, spec, size, device, session.objective);
  std::optional<WinnerCheck> check;
  if (options.host_check && traits(device.key).is_gpu && measure.verify)
    session.check = &check.emplace(
        spec, size,
        WinnerCheckOptions{
            .seed = measure.seed, .device = device, .stop = options.session.stop, .until = end_of(session)});
  return run_session(spec, size, device, evaluator, &store, session, observer);
}

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
