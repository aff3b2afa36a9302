#include <tuner/session/batch/stored_answer.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include <cache/query/session.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/session/tuning/unmeasured.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/spent.hpp>

namespace tuner {
namespace {

/// For a valid configuration, where nothing is stored and the default is not valid.
constexpr std::chrono::seconds kPatienceForOne{10};

bool needs_measurements(const TuningOptions& options) {
  const MeasureOptions& measure = options.measure;
  return !options.resume || !options.decides || !measure.recorded.digest.empty() || measure.use == Use::hot ||
         !measure.verify || !measure.metrics.empty();
}

/// The configurations that need no trial. Faults of the machine do not count, because they are not stored.
std::size_t tried(cache::Database& database, const cache::SessionKey& key) {
  std::set<std::string> all;
  for (const cache::TrialRecord& trial : cache::finished_trials(database, key)) all.insert(trial.configuration);
  if (all.empty()) return 0;
  for (const auto& one : database.quarantined(key.device.key, key.kernel, key.problem)) all.insert(one.configuration);
  return all.size();
}

/// Whether the finished session \p session went as far as \p options ask for, or reached one of their limits.
bool is_enough(const cache::SessionRecord& session, const TuningOptions& options, const Budget& asked, bool is_gpu) {
  if (session.spent.empty()) return true;  // nothing is known
  const Spent spent = parse_spent(session.spent);
  if (spent.part) return false;
  if (options.effort && effort_of(spent, is_gpu, options.session.objective) >= *options.effort) return true;
  if (covers(spent.limits, asked, options.session.objective)) return true;
  if (spent.nothing_left && session.strategy == options.session.strategy) return true;
  return asked.wall_time && spent.seconds >= asked.wall_time->count();
}

/// Whether a limit of \p asked has been reached.
bool is_reached(const StoredAnswer& so_far, const Budget& asked, const Objective& objective) {
  if (so_far.is_whole_space()) return true;
  if (asked.fraction && so_far.valid == 0) return false;
  if (const auto limit = asked.trials_of(so_far.valid); limit && so_far.tried >= *limit) return true;
  return asked.target && objective.is_time() && so_far.match.best->median_ns <= *asked.target;
}

/// Answers like a call for which no exact result is stored.
void take_served(StoredAnswer& answer, Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                 const Device& device, const Objective& objective) {
  if (const std::optional<Use> use = objective.use(); use && answer.match.tier != cache::Tier::exact) {
    answer.match = wisdom.lookup_in_use(*use, spec, size, device);
    answer.is_of_other_use = answer.match && answer.match.best->kernel.objective != objective.name;
  }
  answer.configuration = answer.match ? answer.match.best->configuration
                                      : unmeasured_configuration(spec, size, device.limits, kPatienceForOne).text();
}

/// stored_answer() without TuningOptions::stored_trials.
StoredAnswer answer_of_databases(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                 const TuningOptions& options) {
  StoredAnswer answer;
  const bool measures = options.effort != Effort::none;
  if (measures && (unknown_headers(spec) != nullptr || needs_measurements(options))) return answer;
  const Objective& objective = options.session.objective;
  answer.match = wisdom.lookup(spec, size, device, objective);
  if (answer.match) answer.configuration = answer.match.best->configuration;
  if (!measures) {
    take_served(answer, wisdom, spec, size, device, objective);
    answer.is_answer = true;
    return answer;
  }
  if (answer.match.tier != cache::Tier::exact) {
    if (answer.match) answer.why_tune = "nothing for exactly this (" + answer.match.reason + ")";
    return answer;
  }
  answer.is_answer = true;
  if (wisdom.frozen()) return answer;
  const Effort stored = stored_effort(*answer.match.best);
  const bool has_effort = options.effort && stored >= *options.effort;
  const auto too_little = [&answer, stored] {
    answer.is_answer = false;
    answer.why_tune = "the effort of what is stored is " + std::string(named(stored).name);
  };
  if (answer.match.shipped) {
    if (options.effort && !has_effort) too_little();
    return answer;
  }

  const cache::SessionKey key{context_of(spec, size, device, objective), conditions_text(options, spec)};
  // A database that cannot be asked now says nothing of its sessions: the result stands.
  const std::vector<cache::SessionRecord> sessions =
      cache::answer_or_nothing([&] { return cache::sessions_of(wisdom.user(), key); });
  if (sessions.empty()) {
    if (options.effort && !has_effort) too_little();
    return answer;
  }
  answer.tried = cache::answer_or_nothing([&] { return tried(wisdom.user(), key); });
  for (const cache::SessionRecord& session : sessions) {
    const Spent spent = parse_spent(session.spent);
    if (!spent.part) answer.valid = std::max(answer.valid, spent.valid);
    for (const std::string& remark : spent.remarks)
      if (!contains(answer.remarks, remark)) answer.remarks.push_back(remark);
  }
  if (!sessions.back().finished_ms && sessions.back().trials > 0) {
    answer.is_answer = false;
    answer.why_tune = "the last tuning of this was interrupted";
    return answer;
  }
  const Budget asked = limits_of(options, size, device);
  const bool is_spent = std::any_of(sessions.begin(), sessions.end(), [&](const cache::SessionRecord& session) {
    return session.finished_ms && is_enough(session, options, asked, traits(device.key).is_gpu);
  });
  if (has_effort || is_spent || is_reached(answer, asked, objective)) return answer;
  answer.is_answer = false;
  answer.why_tune = "this asks for more than the last search";
  return answer;
}

}  // namespace

Budget limits_of(const TuningOptions& options, const ProblemSize& size, const Device& device) {
  if (!options.effort) return options.session.budget;
  // All configurations do nothing for a size of 0, so one is enough.
  Budget one_trial;
  one_trial.trials = 1;
  if (std::ranges::any_of(size.sizes, [](const auto& one) { return one.second == 0; })) return one_trial;
  return limits_of(*options.effort, traits(device.key).is_gpu);
}

StoredAnswer stored_answer(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                           const TuningOptions& options) {
  StoredAnswer answer = answer_of_databases(wisdom, spec, size, device, options);
  if (!answer.is_answer || options.stored_trials == StoredTrials::none) return answer;
  answer.trials = stored_trials(wisdom, spec, size, device, options);
  answer.is_answer =
      !answer.trials.empty() || options.stored_trials != StoredTrials::required || options.effort == Effort::none;
  return answer;
}

std::vector<Trial> stored_trials(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                 const TuningOptions& options) {
  const cache::SessionKey key{context_of(spec, size, device, options.session.objective),
                              conditions_text(options, spec)};
  std::vector<Trial> trials;
  for (const cache::TrialRecord& record :
       cache::answer_or_nothing([&] { return cache::finished_trials(wisdom.user(), key); }))
    if (std::optional<Trial> trial = from_record(record)) trials.push_back(std::move(*trial));
  return trials;
}

TuneAnswer answer_or_tune(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                          const TuningOptions& options, Observer& observer, const BeforeTuning& before) {
  TuneAnswer answer{stored_answer(wisdom, spec, size, device, options), std::nullopt};
  if (answer.known.is_answer) {
    for (const std::string& remark : answer.known.remarks) observer.on_warning(remark);
    return answer;
  }
  wisdom.require_not_frozen("tune");
  Backend* const backend = before(answer.known);
  TuningOptions limited = options;
  limited.session.budget = limits_of(options, size, device);
  answer.found = tune_kernel(spec, size, device, wisdom, limited, &observer, backend);
  return answer;
}

}  // namespace tuner
