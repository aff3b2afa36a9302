#include <tuner/session/batch/tune_together.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <cache/query/browse.hpp>
#include <cache/query/session.hpp>
#include <cache/records/json_value.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/session/tuning/try_configurations.hpp>
#include <tuner/session/tuning/winner_check.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/spent.hpp>

namespace tuner {
namespace {

constexpr const char* kStrategy = "together";
constexpr const char* kRule = "rule";

/// Of \p budget, \p part. Limits that are not amounts stay.
Budget part_of(Budget budget, double part) {
  if (budget.wall_time) *budget.wall_time *= part;
  if (budget.trials) budget.trials = static_cast<std::size_t>(std::ceil(part * static_cast<double>(*budget.trials)));
  if (budget.fraction) *budget.fraction *= part;
  return budget;
}

cache::SessionKey key_of(const JointJob& job, const ProblemSize& size, const Device& device) {
  return {context_of(*job.spec, size, device, job.tuning.session.objective), conditions_text(job.tuning, *job.spec)};
}

/// SessionRecord::spent of a race: `part`, because no size was searched by itself, and the rule.
std::string spent_text(const Budget& limits, const SizeRule& rule) {
  Spent spent;
  spent.limits = limits;
  spent.part = true;
  cache::JsonValue value = cache::read_json(text(spent));
  std::get<cache::JsonValue::Object>(value.value).emplace_back(kRule, cache::JsonValue{rule.text()});
  return value.text();
}

std::optional<SizeRule> rule_in(const std::string& spent) {
  const auto value = cache::read_json_or_nothing(spent);
  const cache::JsonValue* const member = value ? value->member(kRule) : nullptr;
  const std::string* const rule = member ? member->as<std::string>() : nullptr;
  return rule ? SizeRule::parse(*rule) : std::nullopt;
}

class JointTuning {
 public:
  JointTuning(const JointJob& job, const Device& device, Wisdom& wisdom, const JointActions& actions,
              JointListener& listener, const std::atomic<bool>& stop)
      : job_(job),
        device_(device),
        wisdom_(wisdom),
        actions_(actions),
        listener_(listener),
        stop_(stop),
        race_(joint_sizes(job)),
        limits_(limits_of(job.tuning, job.sizes.front(), device)),
        trials_(job.sizes.size()),
        storable_(job.sizes.size()) {}

  JointResult run() {
    for (std::size_t i = 0; i < job_.sizes.size() && job_.tuning.resume; ++i)
      learn(i, stored_trials(wisdom_, *job_.spec, job_.sizes[i], device_, job_.tuning));
    if (auto known = known_answer()) return std::move(*known);
    wisdom_.require_not_frozen("tune");
    while (!stop_) {
      const auto step = race_.next();
      if (!step) break;
      take(*step);
    }
    std::optional<JointRule> found;
    while (!stop_ && (found = race_.rule()) && !is_sound(*found)) {
    }
    JointResult result;
    result.trials = race_.trials();
    result.search_trials = race_.search_trials();
    result.is_interrupted = stop_;
    if (stop_ || !found) return result;
    fill(result, *found);
    store(result);
    return result;
  }

 private:
  static std::vector<JointSize> joint_sizes(const JointJob& job) {
    std::vector<JointSize> sizes;
    for (std::size_t i = 0; i < job.sizes.size(); ++i) sizes.push_back({job.sizes[i].sizes, job.weights[i]});
    return sizes;
  }

  void take(const SizeRace::Step& step) {
    const ProblemSize& size = job_.sizes[step.size];
    listener_.on_step(size, step, race_.trials());
    if (step.search <= 0) return learn(step.size, actions_.measure(size, step.measure));
    TuningOptions options = job_.tuning;
    options.effort.reset();
    options.session.budget = part_of(limits_, step.search);
    options.session.stop = &stop_;
    options.session.started.reset();
    options.host_check = false;
    options.decides = false;
    Prior prior;
    for (const auto& [configuration, time] : race_.outlook(step.size)) prior.results.push_back({configuration, time});
    prior.weight = kTrust;
    prior.origin = "the other sizes";
    if (!prior.results.empty() && options.learn_from_elsewhere) options.session.prior = std::move(prior);
    learn(step.size, actions_.search(size, options));
  }

  void learn(std::size_t size, const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      if (is_machine_fault(trial.outcome)) continue;
      const Measurement* const measured = trial.verified ? trial.measurement() : nullptr;
      race_.learn(size, trial.configuration, measured ? std::optional(measured->median_ns) : std::nullopt);
      trials_[size].insert_or_assign(trial.configuration, measured ? measured->median_ns : 0);
      if (measured && !measured->abandoned) storable_[size].insert(trial.configuration);
    }
  }

  /// Asks about the choices. If one is wrong, no size has it any more.
  bool is_sound(const JointRule& found) {
    for (const SizeRule::Branch& branch : found.rule.branches) {
      if (!actions_.check || checked_.contains(branch.configuration)) continue;
      const auto is_its = [&](const ProblemSize& size) { return found.rule.branch(size.sizes) == &branch; };
      const auto size = std::ranges::find_if(job_.sizes, is_its);
      if (size == job_.sizes.end()) continue;
      const FinalistCheck::Answer answer = actions_.check(*size, branch.configuration);
      checked_[branch.configuration] = !answer.by.empty()        ? answer.by
                                       : !answer.why_not.empty() ? "no: " + answer.why_not
                                                                 : "";
      if (!answer.wrong) continue;
      listener_.on_warning("not chosen, as another check found it wrong: " + branch.configuration.text());
      for (std::size_t i = 0; i < job_.sizes.size(); ++i) race_.learn(i, branch.configuration, std::nullopt);
      return false;
    }
    return true;
  }

  void fill(JointResult& result, const JointRule& found) const {
    result.rule = found.rule;
    for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
      JointChoice& choice = result.choices.emplace_back();
      choice.configuration = found.rule.branch(job_.sizes[i].sizes)->configuration;
      choice.regret = found.regrets[i];
      if (const auto at = trials_[i].find(choice.configuration); at != trials_[i].end()) choice.median_ns = at->second;
    }
  }

  std::string effort() const {
    Spent spent;
    spent.limits = limits_;
    const Effort reached =
        job_.tuning.effort.value_or(effort_of(spent, traits(device_.key).is_gpu, job_.tuning.session.objective));
    return std::string(named(std::min(reached, Effort::quick)).name);  // a size by itself had few trials
  }

  /// Stores \p result. If it was known, results of later tunings stay, and so does what else is known about the others.
  void store(JointResult& result) {
    cache::Database& database = wisdom_.user();
    for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
      JointChoice& choice = result.choices[i];
      const cache::SessionKey key = key_of(job_, job_.sizes[i], device_);
      cache::SessionWriter writer(database, key, {kStrategy, job_.tuning.session.seed, job_.tuning.origin});
      const std::optional<cache::BestRecord> standing = writer.best();
      const bool is_same = standing && standing->configuration == choice.configuration.text();
      const bool stays = standing && job_.tuning.resume && !is_same && standing->rule.empty() &&
                         (result.is_known || standing->median_ns < choice.median_ns);
      if (storable_[i].contains(choice.configuration) && !stays) {
        cache::BestOrigin origin{effort(), checked_[choice.configuration], result.rule->text()};
        if (result.is_known && is_same) origin.effort = standing->effort;
        if (result.is_known && is_same) origin.checked = standing->checked;
        writer.set_best(choice.configuration.text(), origin);
        choice.is_stored = true;
      }
      writer.finish(spent_text(limits_, *result.rule));
    }
    result.is_stored = !database.is_in_memory();
    forget_answered_misses();
  }

  void forget_answered_misses() {
    const cache::KernelRecord kernel = key_of(job_, job_.sizes.front(), device_).kernel;
    const std::string choices = job_.sizes.front().choices_text();
    const cache::Filter filter{.kernel = kernel.name, .device_key = device_.key.text()};
    for (const cache::MissRecord& miss :
         cache::answer_or_nothing([&] { return cache::misses(wisdom_.user(), filter); })) {
      if (miss.kernel != kernel || miss.problem.choices != choices) continue;
      const auto match = wisdom_.lookup(*job_.spec, from_record(miss.problem), device_, job_.tuning.session.objective,
                                        miss.sizes_from);
      if (match.tier <= cache::Tier::rule) cache::forget_miss(wisdom_.user(), miss);
    }
  }

  /// The stored rule, if the last race of each size ended with it and had as much effort.
  std::optional<JointResult> known_answer() {
    if (!job_.tuning.resume) return std::nullopt;
    std::optional<SizeRule> common;
    for (const ProblemSize& size : job_.sizes) {
      const cache::SessionKey key = key_of(job_, size, device_);
      std::optional<SizeRule> rule;
      for (const cache::SessionRecord& session :
           cache::answer_or_nothing([&] { return cache::sessions_of(wisdom_.user(), key); })) {
        auto its = rule_in(session.spent);
        if (!its || !covers(parse_spent(session.spent).limits, limits_, job_.tuning.session.objective)) continue;
        rule = std::move(its);
      }
      if (!rule || (common && *common != *rule)) return std::nullopt;
      common = std::move(rule);
    }
    if (!is_made_of(*common)) return std::nullopt;
    JointResult result;
    JointRule found{*common, {}};
    for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
      const Configuration& chosen = common->branch(job_.sizes[i].sizes)->configuration;
      const auto at = trials_[i].find(chosen);
      if (at == trials_[i].end() || at->second <= 0) return std::nullopt;
      double best = at->second;
      for (const auto& [configuration, time] : trials_[i])
        if (time > 0) best = std::min(best, time);
      found.regrets.emplace_back(at->second / best - 1);
    }
    fill(result, found);
    result.trials = race_.trials();
    result.is_known = result.is_stored = true;
    bool lacks_rule = false;  // results of an older format or an imported text have none
    for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
      const auto match = wisdom_.lookup(*job_.spec, job_.sizes[i], device_, job_.tuning.session.objective);
      const bool is_its = match.tier == cache::Tier::exact;
      result.choices[i].is_stored = is_its && match.best->configuration == result.choices[i].configuration.text();
      const bool is_tuned_alone = is_its && !result.choices[i].is_stored && match.best->rule.empty();
      if (storable_[i].contains(result.choices[i].configuration) && !is_tuned_alone &&
          (!is_its || match.best->rule != common->text()))
        lacks_rule = true;
    }
    if (lacks_rule && !wisdom_.frozen()) store(result);
    return result;
  }

  /// Whether the range of \p rule is that of the sizes.
  bool is_made_of(const SizeRule& rule) const {
    std::map<std::string, SizeRule::Range> range;
    for (const ProblemSize& size : job_.sizes) {
      if (rule.branch(size.sizes) == nullptr) return false;
      for (const auto& [name, value] : size.sizes) {
        SizeRule::Range& ends = range.try_emplace(name, SizeRule::Range{value, value}).first->second;
        ends = {std::min(ends.least, value), std::max(ends.most, value)};
      }
    }
    return range == rule.range;
  }

  /// In what the model expects of a size, relative to a measurement.
  static constexpr double kTrust = 0.7;

  const JointJob& job_;
  const Device& device_;
  Wisdom& wisdom_;
  const JointActions& actions_;
  JointListener& listener_;
  const std::atomic<bool>& stop_;
  SizeRace race_;
  const Budget limits_;                                  // of one size
  std::vector<std::map<Configuration, double>> trials_;  // by size: times in ns; 0: failed
  std::vector<std::set<Configuration>> storable_;        // by size: those with a whole measurement
  std::map<Configuration, std::string> checked_;
};

}  // namespace

void weigh_by_misses(JointJob& job, Wisdom& wisdom, const Device& device) {
  const cache::Filter filter{.kernel = job.spec->name, .device_key = device.key.text()};
  const std::string choices = job.sizes.front().choices_text();
  for (const cache::MissRecord& miss : cache::answer_or_nothing([&] { return cache::misses(wisdom.user(), filter); })) {
    if (miss.problem.choices != choices) continue;
    std::vector<std::size_t> its;
    for (std::size_t i = 0; i < job.sizes.size(); ++i)
      if (is_of_class(job.sizes[i].sizes, miss.sizes_from)) its.push_back(i);
    for (const std::size_t i : its) job.weights[i] += double(miss.calls) / double(its.size());
  }
}

JointResult tune_together(const JointJob& job, const Device& device, Wisdom& wisdom, const JointActions& actions,
                          JointListener& listener, const std::atomic<bool>& stop) {
  return JointTuning(job, device, wisdom, actions, listener, stop).run();
}

JointResult tune_together(const JointJob& job, const Device& device, Wisdom& wisdom, Backend* backend,
                          JointListener& listener, const std::atomic<bool>& stop) {
  TuningOptions base = job.tuning;
  base.session.stop = &stop;
  JointActions actions;
  actions.search = [&](const ProblemSize& size, const TuningOptions& options) {
    return tune_kernel(*job.spec, size, device, wisdom, options, &listener, backend).trials;
  };
  actions.measure = [&](const ProblemSize& size, const std::vector<Configuration>& configurations) {
    return try_configurations(*job.spec, size, device, wisdom, base, configurations, listener, backend);
  };
  if (base.host_check && traits(device.key).is_gpu && base.measure.verify)
    actions.check = [&](const ProblemSize& size, const Configuration& configuration) {
      WinnerCheck check(*job.spec, size, {.seed = base.measure.seed, .device = device, .stop = &stop});
      return check.ask(configuration);
    };
  if (base.measure.verify) require_reference(*job.spec);
  return tune_together(job, device, wisdom, actions, listener, stop);
}

}  // namespace tuner
