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

/// Configurations within this factor of the best are measured again, interleaved, before a winner is named.
constexpr double kFinalistFactor = 1.03;
constexpr std::size_t kMostFinalists = 8;
/// The largest part of the wall time that is reserved for measuring the finalists again.
constexpr double kMostForFinalists = 0.25;
/// The samples of a finalist (MeasureOptions::finalist_rounds and finalist_samples), and some to warm up and verify.
constexpr double kFinalistSamples = 36;
/// The runs of a finalist that even a short time has: to warm up, in three rounds, and to verify.
constexpr double kLeastFinalistRuns = 12;

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

void Contest::prefer_if_better(std::size_t i) {
  if (!can_win(result.trials[i])) return;
  const std::optional<double> objective = options_.objective(*result.trials[i].measurement());
  if (objective && (!best_ || *objective < best_objective())) best_ = i;
}

/// Positions of the fastest trials, and always that of the default.
std::vector<std::size_t> Contest::leaders() const {
  std::vector<std::size_t> leaders;
  if (!best_) return leaders;
  std::optional<std::size_t> the_default;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (!is_sound(trial) || !options_.objective(*trial.measurement())) continue;
    if (trial.configuration == spec_.default_configuration) the_default = i;
    if (can_win(trial) && objective_of(i) <= best_objective() * kFinalistFactor) leaders.push_back(i);
  }
  std::sort(leaders.begin(), leaders.end(), [&](auto a, auto b) { return objective_of(a) < objective_of(b); });
  if (leaders.size() > kMostFinalists) leaders.resize(kMostFinalists);
  if (the_default && std::find(leaders.begin(), leaders.end(), *the_default) == leaders.end())
    leaders.push_back(*the_default);
  return leaders;
}

double Contest::time_for_finalists() const {
  const double most = kMostForFinalists * options_.budget.wall_time->count();
  if (time_left() > most) return 0;  // not needed yet
  double seconds = 0;
  for (const std::size_t i : those_in_time(leaders(), most)) {
    const Trial& trial = result.trials[i];
    const auto samples = static_cast<double>(std::max<std::size_t>(trial.measurement()->samples_ns.size(), 1));
    seconds += trial.times.load + trial.times.measure / samples * kFinalistSamples;
  }
  return std::min(seconds, most);
}

double Contest::least_time_for(const std::vector<std::size_t>& trials) const {
  double seconds = 0;
  for (const std::size_t i : trials) {
    const Trial& trial = result.trials[i];
    seconds += trial.times.load + kLeastFinalistRuns * 1e-9 * trial.measurement()->median_ns;
  }
  return seconds;
}

/// Of \p all, as many as can be measured again in \p seconds: the fastest, and the default. None if those two cannot.
std::vector<std::size_t> Contest::those_in_time(std::vector<std::size_t> all, double seconds) const {
  while (!all.empty() && least_time_for(all) > seconds) {
    const bool default_is_last = result.trials[all.back()].configuration == spec_.default_configuration;
    if (all.size() <= 2)
      all.clear();
    else
      all.erase(all.end() - (default_is_last ? 2 : 1));
  }
  return all;
}

void Contest::settle_finalists() {
  std::vector<std::size_t> all = leaders();
  if (!options_.remeasure_one) all = those_in_time(std::move(all), time_left());
  if (all.empty() || (all.size() < 2 && !options_.remeasure_one) || time_left() <= 0 || must_not_go_on()) return;
  observer_.on_finalists(all.size());
  measure_again(all);
  choose_winner(all);
  confirm_winner(all);
}

void Contest::measure_again(const std::vector<std::size_t>& all) {
  std::vector<Configuration> finalists;
  for (const std::size_t i : all) finalists.push_back(result.trials[i].configuration);
  const std::vector<Trial> again = evaluator_.remeasure(finalists, time_left(), [this] { return must_not_go_on(); });
  for (std::size_t k = 0; k < again.size() && k < all.size(); ++k) {
    result.times += again[k].times;
    // The configuration is not the cause of any other failure, so its first measurement stays.
    const bool guilty = again[k].crashed || std::holds_alternative<WrongResult>(again[k].outcome);
    if (!again[k].measurement() && !guilty) continue;
    Trial& trial = result.trials[all[k]];
    trial.outcome = again[k].outcome;
    trial.crashed = again[k].crashed;
    trial.verified = again[k].verified;
    trial.lane = again[k].lane;
    trial.round = again[k].round;
    warn_of_missing_metrics(trial);
    if (store_) store_->append(trial);
  }
}

/// The fastest of several owes part of its lead to luck, and to the place of its code and data in memory. Therefore a
/// winner that is near the default must beat it again, loaded anew and alternating with it. Where another place could
/// turn the lead round, it must do so once more with the two places exchanged: what is loaded in the other order gets
/// the other's memory. If the winner fails now, the next one takes its place.
void Contest::confirm_winner(const std::vector<std::size_t>& finalists) {
  const auto at = std::find_if(result.trials.rbegin(), result.trials.rend(), [&](const Trial& trial) {
    return trial.configuration == spec_.default_configuration && can_win(trial);
  });
  if (!best_ || at == result.trials.rend() || !options_.objective.is_time()) return;
  const auto the_default = static_cast<std::size_t>(result.trials.rend() - at) - 1;
  const std::size_t winner = *best_;
  if (winner == the_default) return;
  const auto lead = [&] { return objective_of(the_default) - objective_of(winner); };
  constexpr double turned_by_places = 2 * kPlacementNs;
  double doubtful = std::max(turned_by_places, (1 - kClearLead) * objective_of(the_default));
  const auto may_go_on = [&] { return !must_not_go_on() && least_time_for({winner, the_default}) < time_left(); };
  for (int times = 0; times < 2 && lead() < doubtful && may_go_on(); ++times) {
    measure_again(times == 0 ? std::vector{winner, the_default} : std::vector{the_default, winner});
    if (!can_win(result.trials[winner])) {
      choose_winner(finalists);
      return confirm_winner(finalists);
    }
    if (!can_win(result.trials[the_default])) return;
    const std::vector<Trial> pair{result.trials[winner], result.trials[the_default]};
    DecideOptions how;
    how.default_at = 1;
    how.min_lead_ns = kPlacementNs;
    if (decide(pair, how).winner != 0) {
      best_ = the_default;
      result.ties = {result.trials[winner].configuration};
      return;
    }
    doubtful = turned_by_places;
  }
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
    choose_winner({});
    settle_finalists();
  }
}

void Contest::pass_over_quarantined() {
  while (store_ && best_) {
    Trial& winner = result.trials[*best_];
    const std::optional<std::string> reason = store_->objection(winner.configuration);
    if (!reason) return;
    winner.crashed = true;
    observer_.on_warning("passed over: " + winner.configuration.text() + ": in quarantine: " + *reason);
    choose_winner({});
  }
}

/// For times, leads within the noise are ties (decide()). For any other metric the smallest number wins.
void Contest::choose_winner(std::vector<std::size_t> finalists) {
  std::erase_if(finalists, [&](std::size_t i) { return !can_win(result.trials[i]); });
  best_.reset();
  result.ties.clear();
  const bool by_interval = !finalists.empty() && options_.objective.is_time();
  if (finalists.empty())
    for (std::size_t i = 0; i < result.trials.size(); ++i) finalists.push_back(i);
  if (!by_interval) {
    for (const std::size_t i : finalists) prefer_if_better(i);
    return;
  }
  std::vector<Trial> trials;
  for (const std::size_t i : finalists) trials.push_back(result.trials[i]);
  DecideOptions how;
  for (std::size_t k = 0; k < trials.size(); ++k)
    if (trials[k].configuration == spec_.default_configuration) how.default_at = k;
  const Standings standings = decide(trials, how);
  best_ = finalists[standings.winner];
  for (const std::size_t k : standings.ties) result.ties.push_back(trials[k].configuration);
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
