#include <tuner/session/tuning/contest.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

namespace tuner {
namespace {

/// Trials that fail alike before none_compiles() gives up.
constexpr std::size_t kEnough = 8;

bool says(std::string_view message, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view one) { return message.find(one) != std::string_view::npos; });
}

bool is_in_a_path(char c) { return is_word(c) || c == '/' || c == '.' || c == '-'; }

/// Whether \p message names \p file, and not a longer path that has it in it.
bool names(std::string_view message, std::string_view file) {
  for (std::size_t at = message.find(file); at != std::string_view::npos; at = message.find(file, at + 1)) {
    const std::size_t end = at + file.size();
    if ((at == 0 || !is_in_a_path(message[at - 1])) && (end == message.size() || !is_in_a_path(message[end])))
      return true;
  }
  return false;
}

/// Whether \p message says that a file is missing that \p text includes under all conditions.
bool misses_an_include(std::string_view message, std::string_view text) {
  if (!misses_a_file(message)) return false;
  const ScopedCode code(code_of(text, Literals::kept));
  const std::vector<DirectiveLine> lines = directives_of(code.text());
  return std::any_of(lines.begin(), lines.end(), [&](const DirectiveLine& line) {
    const std::string_view rest = line.rest();
    return line.name() == "include" && rest.size() > 2 && names(message, rest.substr(1, rest.size() - 2)) &&
           code.is_always_there(line.begin);
  });
}

}  // namespace

/// The output was right, and the process that ran it survived, even after the measurement. (Otherwise the configuration
/// is in quarantine.)
bool Contest::is_sound(const Trial& trial) const {
  return (trial.verified || options_.unverified) && trial.measurement() != nullptr && !trial.crashed;
}
/// A measurement that was stopped early shows only that the configuration was slower than the best at that moment.
bool Contest::can_win(const Trial& trial) const { return is_sound(trial) && !trial.measurement()->abandoned; }

void Contest::warn_of_missing_metrics(const Trial& trial) {
  const Measurement* const measured = trial.measurement();
  if (measured == nullptr || measured->no_metrics.empty()) return;
  if (!std::exchange(has_warned_of_metrics_, true))
    observer_.on_warning("metrics are missing: " + measured->no_metrics);
}

void Contest::keep(Trial trial) {
  result.trials.push_back(std::move(trial));
  prefer_if_better(result.trials.size() - 1);
}

/// Equal numbers are usual where they are counts, or steps of a clock. Who goes first must not depend on the order of
/// the trials, which the seed decides.
bool Contest::goes_before(std::size_t a, std::size_t b) const {
  const double x = objective_of(a), y = objective_of(b);
  if (x != y) return x < y;
  return std::pair(!is_default(a), simplicity(result.trials[a])) <
         std::pair(!is_default(b), simplicity(result.trials[b]));
}

void Contest::prefer_if_better(std::size_t i) {
  if (!can_win(result.trials[i]) || !options_.objective(*result.trials[i].measurement())) return;
  if (!best_ || goes_before(i, *best_)) best_ = i;
}

void Contest::check_winner() {
  while (options_.check != nullptr && best_ && !must_not_go_on()) {
    Trial& winner = result.trials[*best_];
    const auto [wrong, why_not, by] = options_.check->ask(winner.configuration);
    result.checked = why_not.empty() ? by : "no: " + why_not;
    if (!wrong) {
      if (!why_not.empty()) observer_.on_warning("the best is not checked for races: " + why_not);
      return;
    }
    result.checked.clear();
    winner.outcome = *wrong;
    winner.verified = false;
    if (store_) store_->append(winner);
    observer_.on_warning("passed over: " + winner.configuration.text() + ": " + wrong->message);
    choose_from_all();
    settle_finalists();
  }
}

void Contest::pass_over_quarantined() {
  while (store_ && best_) {
    Trial& winner = result.trials[*best_];
    const std::optional<std::string> reason = store_->objection(winner.configuration);
    if (!reason) return;
    result.checked.clear();
    winner.crashed = true;
    observer_.on_warning("passed over: " + winner.configuration.text() + ": in quarantine: " + *reason);
    choose_from_all();
  }
}

void Contest::compare_with_default() {
  if (!best_ || !options_.objective.is_time()) return;
  const Finalist *winner = nullptr, *fastest_other = nullptr;
  const Finalist* the_default = beaten_default_ ? &*beaten_default_ : nullptr;
  for (const Finalist& one : finals_) {
    if (one.placements.empty() || !can_win(result.trials[one.trial])) continue;
    if (one.trial == best_) winner = &one;
    if (is_default(one.trial))
      the_default = &one;
    else if (fastest_other == nullptr || objective_of(one.trial) < objective_of(fastest_other->trial))
      fastest_other = &one;
  }
  if (winner == nullptr || the_default == nullptr) return;
  if (winner == the_default)
    result.default_over_best = fastest_other ? compared_finalists(*the_default, *fastest_other) : TimeRatio{};
  else
    result.default_over_best = compared_finalists(*the_default, *winner);
}

/// Compares the two at the placements that they share, or else by all their times.
TimeRatio Contest::compared_finalists(const Finalist& one, const Finalist& other) const {
  const std::size_t begin = std::max(one.from, other.from);
  const std::size_t end = std::min(one.from + one.placements.size(), other.from + other.placements.size());
  const bool side_by_side = one.in_pairs && other.in_pairs && begin < end;
  Placements samples;
  const auto trial_of = [&](const Finalist& finalist) {
    const std::span<const Measurement> all = finalist.placements;
    const std::span<const Measurement> shared = side_by_side ? all.subspan(begin - finalist.from, end - begin) : all;
    samples.clear();
    for (const Measurement& part : shared) samples.push_back(part.samples_ns.size());
    Trial trial;
    trial.configuration = result.trials[finalist.trial].configuration;
    trial.outcome = combined(shared);
    trial.round = side_by_side ? 1 : 0;
    return trial;
  };
  const Trial a = trial_of(one);
  const Placements of_one = samples;
  Trial b = trial_of(other);
  if (samples != of_one) b.round = 0;
  return compared_times(a, b, samples);
}

void Contest::choose_from_all() {
  best_.reset();
  result.ties.clear();
  for (std::size_t i = 0; i < result.trials.size(); ++i) prefer_if_better(i);
}

bool none_compiles(const KernelSpec& spec, std::span<const Trial> trials) {
  std::vector<const Trial*> failed;
  for (const Trial& trial : trials) {
    if (std::holds_alternative<Invalid>(trial.outcome)) continue;
    const auto* const error = std::get_if<CompileError>(&trial.outcome);
    if (error == nullptr || error->machine_fault ||
        message(failed.empty() ? trial.outcome : failed.front()->outcome) != error->message)
      return false;
    failed.push_back(&trial);
  }
  if (failed.empty()) return false;
  const std::string_view first = message(failed.front()->outcome);
  if (misses_an_include(first, spec.program.text)) return true;
  if (failed.size() < kEnough || says(first, {"static assertion", "static_assert", "#error"})) return false;
  const auto has_failed = [&](const auto& is_it) {
    return std::any_of(failed.begin(), failed.end(), [&](const Trial* trial) { return is_it(trial->configuration); });
  };
  if (const auto& common = spec.default_configuration;
      common && !has_failed([&](const Configuration& one) { return one == *common; }))
    return false;
  const auto& parameters = spec.space.parameters();
  return std::all_of(parameters.begin(), parameters.end(), [&](const TuningParameter& parameter) {
    return std::all_of(parameter.values.begin(), parameter.values.end(), [&](const Value& value) {
      return has_failed([&](const Configuration& one) { return *one.find(parameter.name) == value; });
    });
  });
}

}  // namespace tuner
