#include <tuner/cli/commands.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/replay_report.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/replay/read_recording.hpp>
#include <tuner/replay/replay_run.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::cli {
namespace {

constexpr const char* kReplayExamples =
    "  tune replay --space gemm.csv.gz --strategy auto,genetic_algorithm --repeats 100 --seed 1\n"
    "  tune replay --space *.csv.gz --strategy auto --plot curves.svg\n"
    "  tune replay --space cachefile.json --budget 200 --json\n"
    "  tune replay --space ~/.cache/tuner/wisdom.db --strategy auto,random    (your own kernels)\n"
    "  tune replay --list\n";

std::vector<replay::Recording> read_spaces(const std::vector<std::string>& paths) {
  std::vector<replay::Recording> out;
  for (const std::string& path : paths)
    for (replay::Recording& recording : replay::read_recordings(path, warn)) out.push_back(std::move(recording));
  return out;
}

/// `200` trials, `5%` of the space, `90s` of recorded time.
void read_budget(std::string_view text, Budget& budget) {
  if (text.ends_with('%')) {
    budget.fraction = parse_number(text.substr(0, text.size() - 1), "--budget", 0, 100) / 100;
  } else if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    budget.trials = static_cast<std::size_t>(parse_count(text, "--budget"));
  } else {
    budget.wall_time = parse_duration(text, "--budget");
  }
}

int list_strategies(const Given& given) {
  Json list = Json::array();
  std::string text;
  for (const search::StrategyInfo& strategy : search::strategies()) {
    text += fmt::format("{:<20} {}\n{:<20} source: {}\n", strategy.name, strategy.summary, "", strategy.source);
    Json options = Json::array();
    std::string presets;
    for (const search::OptionInfo& option : strategy.options) {
      options.push_back({{"name", option.name},
                         {"default", option.preset},
                         {"minimum", option.minimum},
                         {"maximum", option.maximum}});
      presets += fmt::format(" {}={:g}", option.name, option.preset);
    }
    if (!presets.empty()) text += fmt::format("{:<20} options:{}\n", "", presets);
    list.push_back({{"name", strategy.name},
                    {"summary", strategy.summary},
                    {"source", strategy.source},
                    {"learns", strategy.learns},
                    {"options", options}});
  }
  return answer(given, {{"strategies", list}}, text);
}

replay::ReplayOptions read_replay_options(const Given& given) {
  replay::ReplayOptions options;
  options.strategies = split(given.texts("strategy"), ',');
  for (const std::string& name : options.strategies) require_known("strategy", name, names_of(search::strategies()));
  options.repeats = static_cast<std::size_t>(parse_count(given.text("repeats"), "--repeats"));
  if (options.repeats == 0) throw UsageError("--repeats: at least 1");
  options.seed = static_cast<std::uint64_t>(parse_count(given.text("seed"), "--seed"));
  if (given.has("budget")) read_budget(given.text("budget"), options.budget);
  if (given.has("target")) options.budget.target = parse_number(given.text("target"), "--target", -1e300, 1e300);
  if (given.has("until-unlikely"))
    options.budget.until_unlikely = parse_number(given.text("until-unlikely"), "--until-unlikely", 0, 1);
  if (given.has("option"))
    for (const std::string& text : given.texts("option"))
      for (const auto& [name, value] : parse_assignments(text, "--option"))
        options.strategy_options[name] = parse_number(value, "--option", -1e300, 1e300);
  for (const std::string& one : given.texts("first")) {
    try {
      options.first.push_back(Configuration::parse(one));
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--first: ") + error.what());
    }
  }
  options.ahead = static_cast<std::size_t>(parse_count(given.text("ahead"), "--ahead"));
  options.threads = static_cast<std::size_t>(parse_count(given.text("threads"), "--threads"));
  if (options.threads == 0) options.threads = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

int run_replay(const Given& given) {
  if (!given.has("plot")) given.refuse({"force"}, "without --plot");
  if (given.flag("list")) {
    given.refuse({"space", "strategy", "repeats", "seed", "budget", "target", "until-unlikely", "first", "option",
                  "prior", "ahead", "threads", "plot"},
                 "with --list");
    return list_strategies(given);
  }
  if (!given.has("space")) throw UsageError("replay needs recordings: tune replay --space FILE…");
  if (given.has("plot")) require_output(given.text("plot"), OutputKind::picture, given.flag("force"), "--plot");
  replay::ReplayOptions replay_options = read_replay_options(given);
  const auto recordings = read_spaces(given.texts("space"));
  std::vector<replay::Recording> prior;
  if (given.has("prior")) {
    prior = read_spaces({given.text("prior")});
    if (prior.size() != 1) throw UsageError("--prior: " + given.text("prior") + " holds several tunings; give one");
    replay_options.prior = &prior.front();
  }
  Console console(stderr, given.flag("json") && !isatty(STDERR_FILENO));
  const std::size_t runs = recordings.size() * replay_options.strategies.size();
  std::size_t finished = 0;
  const auto tell = [&](const replay::ReplayResult& result) {
    ++finished;
    console.status([&](std::size_t) {
      return fmt::format("{} of {}  {}: {} {:.3f}", finished, runs, result.space, result.strategy, result.score.value);
    });
  };
  const replay::ReplayReport report = [&] {
    try {
      return replay::run_replay(recordings, replay_options, tell);
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  }();
  console.end_status();
  if (given.has("plot")) cache::write_text(given.text("plot"), replay::svg_report(report));
  return answer(given, to_json(report), replay_tables(report));
}

}  // namespace

Command replay_command() {
  Options options(
      "Usage: tune replay --space FILE… [options]\n"
      "Runs search strategies on recorded spaces and scores them: 0 is random search, 1 the optimum at once.",
      kReplayExamples);
  options.texts(
      "space,s", "FILE...",
      "recordings: CSV, Kernel Tuner cache files, T4 results, tuner exports (plain or gzip), tuner databases");
  options.texts("strategy", "NAME,…", "strategies to compare", "auto");
  options.text("repeats,r", "N", "runs of each strategy on each space", "100");
  options.text("seed", "S", "of the first repeat; the next ones count up", "1");
  options.text("budget", "LIMIT",
               "end each run after 200 (trials), 5% (of the space) or 90s (recorded); default: what is scored");
  options.text("target", "OBJECTIVE", "end each run at an objective at or below this");
  options.text("until-unlikely", "P", "end each run when an improvement of 1% has a probability below P");
  options.texts(
      "first", "CONFIG",
      "tried first in every space that holds it, as a tuning does with the kernel's default; may be repeated");
  options.texts("option", "NAME=X", "option of the strategy; may be repeated");
  options.text("prior", "FILE",
               "a recording of the same kernel at another size or on another device, known beforehand");
  options.text("ahead", "N", "proposals outstanding, as on a machine that compiles so far ahead of the device", "1");
  options.text("threads", "N", "repeats run side by side; 0: one a core", "0");
  options.json();
  options.text("plot", "FILE.svg", "draw the curves against random search");
  options.flag("force,f", "let --plot replace a file that tuner did not write");
  options.flag("list", "the strategies, their sources and options");
  options.arguments({"space..."});
  return {options, run_replay};
}

}  // namespace tuner::cli
