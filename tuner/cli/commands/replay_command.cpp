#include <tuner/cli/commands/program.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/input/standard_input.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/replay_run.hpp>
#include <tuner/replay/svg_report.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::cli {
namespace {

/// The columns that the scores of one space and the means of all share.
std::vector<Table::Column> scored_columns() {
  return {"strategy", "score", named("", "standard_error"), named("best/opt", "best_relative_to_optimum")};
}
std::vector<Cell> scored(const std::string& strategy, double score, double error, double share) {
  return {strategy, Cell(score, fmt::format("{:.3f}", score)), Cell(error, fmt::format("+- {:.3f}", error)),
          Cell::percent(share, 2)};
}

/// After so many trials, people see the mean share of the optimum.
constexpr std::array<std::size_t, 4> kShownTrials{1, 8, 20, 50};

Cell share_cell(double share) { return Cell::right(fmt::format("{:.3f}", share)); }

Cell cpu_cell(double ms) { return {ms, fmt::format("{:.3f}", ms)}; }

Table results_table(const std::vector<replay::ReplayResult>& results, std::size_t repeats) {
  std::vector<Table::Column> columns = scored_columns();
  columns.insert(columns.end(),
                 {named("<= 1%", "repeats_within_1_percent"), named("trials", "mean_trials"),
                  named("CPU ms/trial", "cpu_ms_per_proposal"), data("random_relative_to_optimum"),
                  data("repeats_at_optimum"), data("trials_to_1_percent"), data("shares"), data("curve")});
  Table table(std::move(columns));
  for (const replay::ReplayResult& result : results) {
    const replay::Score& score = result.score;
    auto cells = scored(result.strategy, score.value, score.standard_error, score.relative_to_optimum);
    const std::size_t close = result.trials_to_percent.size();
    cells.insert(cells.end(),
                 {Cell(close, format_percent(static_cast<double>(close) / static_cast<double>(repeats), 0)),
                  Cell(result.mean_trials, fmt::format("{:.0f}", result.mean_trials)),
                  cpu_cell(result.cpu_ms_per_proposal), score.random_to_optimum, result.repeats_at_optimum,
                  Cell(result.trials_to_percent, ""), Cell(result.shares, ""), Cell(score.curve, "")});
    table.add(std::move(cells));
  }
  return table;
}

Table means_table(const replay::ReplayReport& report) {
  std::vector<Table::Column> columns = scored_columns();
  columns.push_back(named("CPU ms/trial", "cpu_ms_per_proposal"));
  columns.push_back(data("shares"));
  for (const std::size_t trials : kShownTrials) columns.push_back(people(plural(trials, "trial")));
  Table table(std::move(columns));
  for (const replay::ReplayAggregate& one : report.aggregates) {
    auto cells = scored(one.strategy, one.score, one.standard_error, one.relative_to_optimum);
    cells.push_back(cpu_cell(one.cpu_ms_per_proposal));
    cells.push_back(Cell(one.shares, ""));
    for (std::size_t i = 0; i < one.shares.size(); ++i)
      if (contains(kShownTrials, replay::kShareTrials[i])) cells.push_back(share_cell(one.shares[i]));
    table.add(std::move(cells));
  }
  return table;
}

/// A table for each space, then the means.
Answer answer_of(const replay::ReplayReport& report) {
  Answer answer;
  Json spaces = Json::array();
  for (const replay::ReplaySpace& space : report.spaces) {
    Table table = results_table(space.results, report.repeats);
    spaces.push_back({{"name", space.name},
                      {"unit", space.unit},
                      {"configurations", space.configurations},
                      {"valid", space.valid},
                      {"optimum", space.optimum},
                      {"random_draws", space.random_draws},
                      {"first_time_s", space.times.front()},
                      {"last_time_s", space.times.back()},
                      {"baseline", space.baseline},
                      {"results", table.json()}});
    if (!space.results.empty())
      table.add({"(random)", 0, {}, Cell::percent(space.results.front().score.random_to_optimum, 2)});
    answer.text("{}: {} configurations, {} valid, optimum {:.6g} {}; scored until {:.4g} s, {:.0f} random draws\n{}\n",
                printable(space.name), space.configurations, space.valid, space.optimum, printable(space.unit),
                space.times.back(), space.random_draws, table.text());
  }
  return answer.data("repeats", report.repeats)
      .data("seed", report.seed)
      .data("spaces", std::move(spaces))
      .text(
          "mean of {}, {} repeats, seed {}; score: 0 = random search, 1 = the optimum at once; shares of the "
          "optimum after so many trials\n",
          plural(report.spaces.size(), "space"), report.repeats, report.seed)
      .rows("aggregate", means_table(report));
}

/// A row for each pair of spaces, and their means.
Answer answer_of_pairs(const std::vector<replay::ReplayPair>& pairs, const replay::ReplayOptions& options) {
  constexpr std::array<std::size_t, 2> shown{10, 20};
  Table table({"strategy", "space", named("known", "prior"), data("without"), data("with"), people("10 trials"),
               people("with it"), people("20 trials"), people("with it")});
  Answer answer;
  std::string means;
  for (const std::string& strategy : options.strategies) {
    replay::Shares without{};
    replay::Shares with{};
    replay::Shares loss{};
    std::size_t count = 0;
    for (const replay::ReplayPair& pair : pairs) {
      if (pair.strategy != strategy) continue;
      ++count;
      std::vector<Cell> cells{strategy, pair.space, pair.prior, Cell(pair.without, ""), Cell(pair.with, "")};
      for (std::size_t i = 0; i < without.size(); ++i) {
        without[i] += pair.without[i];
        with[i] += pair.with[i];
        loss[i] = std::max(loss[i], pair.without[i] - pair.with[i]);
        if (std::ranges::count(shown, replay::kShareTrials[i]) == 0) continue;
        cells.push_back(share_cell(pair.without[i]));
        cells.push_back(share_cell(pair.with[i]));
      }
      table.add(std::move(cells));
    }
    for (std::size_t i = 0; i < without.size(); ++i) {
      if (replay::kShareTrials[i] > options.budget.trials.value_or(replay::kPairTrials)) continue;
      means += fmt::format("{}, {}: {:.3f} without, {:.3f} with the other space known; largest loss {:.3f}\n", strategy,
                           plural(replay::kShareTrials[i], "trial"), without[i] / static_cast<double>(count),
                           with[i] / static_cast<double>(count), loss[i]);
    }
  }
  return answer.data("repeats", options.repeats)
      .data("seed", options.seed)
      .data("trials", replay::kShareTrials)
      .text("share of the optimum, mean of {}, seed {}\n", plural(options.repeats, "repeat"), options.seed)
      .rows("pairs", table)
      .text("mean of {}\n{}", plural(pairs.size() / options.strategies.size(), "pair"), means);
}

std::vector<replay::RecordedSpace> read_spaces(const Texts& paths) {
  std::vector<replay::RecordedSpace> out;
  for (const std::string& path : paths)
    for (replay::RecordedSpace& recorded : path == "-"
                                               ? replay::parse_recorded_spaces(standard_input(), "standard input", warn)
                                               : replay::read_recorded_spaces(path, warn))
      out.push_back(std::move(recorded));
  return out;
}

int list_strategies(const Given& given) {
  Answer answer;
  Json list = Json::array();
  for (const search::StrategyInfo& strategy : search::strategies()) {
    Table options({"name", "default", "minimum", "maximum"});
    std::string presets;
    for (const search::OptionInfo& option : strategy.options) {
      options.add({option.name, option.preset, option.minimum, option.maximum});
      presets += fmt::format(" {}={:g}", option.name, option.preset);
    }
    answer.text("{:<20} {}\n{:<20} source: {}\n", strategy.name, strategy.summary, "", strategy.source);
    if (!presets.empty()) answer.text("{:<20} options:{}\n", "", presets);
    list.push_back({{"name", strategy.name},
                    {"summary", strategy.summary},
                    {"source", strategy.source},
                    {"learns", strategy.learns},
                    {"options", options.json()}});
  }
  return answer.data("strategies", list).print(given);
}

replay::ReplayOptions read_replay_options(const Given& given) {
  replay::ReplayOptions options;
  options.strategies = split(given.texts("strategy"), ',');
  for (const std::string& name : options.strategies) require_known("strategy", name, names_of(search::strategies()));
  constexpr std::int64_t most = 10'000;  // each is kept until all are scored
  options.repeats = static_cast<std::size_t>(parse_count(given.text("repeats"), "--repeats", 1, most));
  options.seed = read_seed(given);
  options.budget = read_budget(given);
  options.strategy_options = read_strategy_options(given);
  for (const std::string& one : given.texts("first")) options.first.push_back(parse_configuration(one, "--first"));
  options.ahead = static_cast<std::size_t>(parse_count(given.text("ahead"), "--ahead", 1, most));
  return options;
}

/// The result of \p replay, a call of the room. Throws UsageError for what it refuses.
template <typename Replay>
auto replayed(Replay replay) {
  try {
    return replay();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

int run_replay(const Given& given) {
  if (!given.has("plot")) given.refuse({"force"}, "without --plot");
  if (given.flag("list")) {
    given.refuse({"strategy", "repeats", "seed", "budget", "trials", "target", "until-unlikely", "first", "option",
                  "prior", "pairs", "ahead", "plot"},
                 "with --list");
    return list_strategies(given);
  }
  if (!given.has("file")) throw UsageError("replay needs recorded spaces: tune replay FILE…");
  const std::string plot = given.text("plot");
  if (plot == "-") given.refuse({"json"}, "with --plot -");
  if (!plot.empty()) require_output_or_stdout(given, plot, OutputKind::picture, "--plot");
  replay::ReplayOptions replay_options = read_replay_options(given);
  const Texts files = given.texts("file");
  if (given.text("prior") == "-" && std::count(files.begin(), files.end(), "-") > 0)
    throw UsageError("standard input (-) can be read only once");
  if (given.flag("pairs")) given.refuse({"prior", "plot"}, "with --pairs");
  const auto spaces = read_spaces(files);
  if (given.flag("pairs")) {
    const auto pairs = replayed([&] { return replay::replay_pairs(spaces, replay_options); });
    return answer_of_pairs(pairs, replay_options).print(given);
  }
  std::vector<replay::RecordedSpace> prior;
  if (given.has("prior")) {
    prior = read_spaces({given.text("prior")});
    if (prior.size() != 1) throw UsageError("--prior: " + given.text("prior") + " holds several tunings; give one");
    replay_options.prior = &prior.front();
  }
  Console console(stderr, given.flag("json") && !isatty(STDERR_FILENO));
  const std::size_t runs = spaces.size() * replay_options.strategies.size();
  std::size_t finished = 0;
  const auto tell = [&](const replay::ReplayResult& result) {
    ++finished;
    console.status([&](std::size_t) {
      return fmt::format("{} of {}  {}: {} {:.3f}", finished, runs, result.space, result.strategy, result.score.value);
    });
  };
  const replay::ReplayReport report = replayed([&] { return replay::run_replay(spaces, replay_options, tell); });
  console.end_status();
  if (!plot.empty() && !write_or_print(plot, replay::svg_report(report))) return kDone;
  return answer_of(report).print(given);
}

}  // namespace

Command replay_command() {
  Options options(
      "Usage: tune replay FILE... [options]\n"
      "Runs search strategies on recorded spaces and scores them: 0 is random search, 1\n"
      "the optimum at once. Recorded spaces are CSV, Kernel Tuner cache files, T4\n"
      "results, tuner exports (plain or gzip) and databases; - is text on standard\n"
      "input. --strategy takes several names. A limit ends each run; without one a run\n"
      "ends where its score is complete.",
      "  tune replay gemm.csv.gz --strategy auto,genetic_algorithm --seed 1\n"
      "  tune replay *.csv.gz --plot curves.svg\n"
      "  tune replay cachefile.json --trials 200 --json\n"
      "  tune replay ~/.cache/tuner/wisdom.db --strategy auto,random\n"
      "  tune replay --list\n");
  options.add("strategy option seed");
  options.text("repeats,r", "N", "runs of each strategy on each space, with seeds that count up", "100");
  options.add("budget trials target until-unlikely");
  options.texts("first", "CONFIG", "tried first in every space that holds it, as a kernel's default; may be repeated");
  options.text("prior", "FILE",
               "a recorded space of the kernel at another size or on another device, known beforehand");
  options.flag("pairs", "each space with each other one of the same kernel known beforehand, and without");
  options.text("ahead", "N", "proposals that wait for the device, as when compilers work ahead of it", "1");
  options.flag("list", "the strategies, their sources and options");
  options.add("plot force json").arguments({"file..."});
  return {options, run_replay};
}

}  // namespace tuner::cli
