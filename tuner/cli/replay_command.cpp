#include <tuner/cli/commands.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/replay_report.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/cli/tune_request.hpp>
#include <tuner/core/named.hpp>
#include <tuner/replay/read_recording.hpp>
#include <tuner/replay/replay_run.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::cli {
namespace {

constexpr const char* kReplayExamples =
    "  tune replay gemm.csv.gz --strategy auto,genetic_algorithm --seed 1\n"
    "  tune replay *.csv.gz --plot curves.svg\n"
    "  tune replay cachefile.json --trials 200 --json\n"
    "  tune replay ~/.cache/tuner/wisdom.db --strategy auto,random\n"
    "  tune replay --list\n";

std::vector<replay::Recording> read_spaces(const std::vector<std::string>& paths) {
  std::vector<replay::Recording> out;
  for (const std::string& path : paths)
    for (replay::Recording& recording : replay::read_recordings(path, warn)) out.push_back(std::move(recording));
  return out;
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
  options.seed = read_seed(given);
  options.budget = read_budget(given);
  if (given.has("target")) options.budget.target = parse_number(given.text("target"), "--target", -1e300, 1e300);
  options.strategy_options = read_strategy_options(given);
  for (const std::string& one : given.texts("first")) {
    try {
      options.first.push_back(Configuration::parse(one));
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--first: ") + error.what());
    }
  }
  options.ahead = static_cast<std::size_t>(parse_count(given.text("ahead"), "--ahead"));
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

int run_replay(const Given& given) {
  if (!given.has("plot")) given.refuse({"force"}, "without --plot");
  if (given.flag("list")) {
    given.refuse({"strategy", "repeats", "seed", "budget", "trials", "target", "until-unlikely", "first", "option",
                  "prior", "ahead", "plot"},
                 "with --list");
    return list_strategies(given);
  }
  if (!given.has("file")) throw UsageError("replay needs recordings: tune replay FILE…");
  const std::string plot = given.text("plot");
  if (plot == "-") given.refuse({"json"}, "with --plot -");
  if (!plot.empty()) require_output_or_stdout(given, plot, OutputKind::picture, "--plot");
  replay::ReplayOptions replay_options = read_replay_options(given);
  const auto recordings = read_spaces(given.texts("file"));
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
  if (!plot.empty() && !write_or_print(plot, replay::svg_report(report))) return kDone;
  return answer(given, to_json(report), replay_tables(report));
}

}  // namespace

Command replay_command() {
  Options options(
      "Usage: tune replay FILE... [options]\n"
      "Runs search strategies on recorded spaces and scores them: 0 is random search, 1\n"
      "the optimum at once. Recordings are CSV, Kernel Tuner cache files, T4 results,\n"
      "tuner exports (plain or gzip) and databases. --strategy takes several names. A\n"
      "limit ends each run; without one a run ends where its score is complete.",
      kReplayExamples);
  options.add("strategy option seed");
  options.text("repeats,r", "N", "runs of each strategy on each space, with seeds that count up", "100");
  options.add("budget trials target until-unlikely");
  options.texts("first", "CONFIG", "tried first in every space that holds it, as a kernel's default; may be repeated");
  options.text("prior", "FILE", "a recording of the kernel at another size or on another device, known beforehand");
  options.text("ahead", "N", "proposals that wait for the device, as when compilers work ahead of it", "1");
  options.flag("list", "the strategies, their sources and options");
  options.add("plot force json").arguments({"file..."});
  return {options, run_replay};
}

}  // namespace tuner::cli
