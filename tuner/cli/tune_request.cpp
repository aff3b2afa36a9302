#include <tuner/cli/tune_request.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/capture/capture.hpp>
#include <tuner/cli/arguments.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/metric_options.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::cli {
namespace {

using Text = std::string;

std::string checked_strategy(const std::string& name) {
  Texts known{"auto"};
  for (const search::StrategyInfo& one : search::strategies())
    if (one.name != "auto") known.push_back(one.name);
  for (const std::string& one : known)
    if (one == name) return name;
  throw UsageError(unknown_name("strategy", name, known));
}

std::map<std::string, double> read_strategy_options(const Texts& given, const std::string& strategy) {
  std::map<std::string, double> options;
  for (const std::string& text : given)
    for (const auto& [name, value] : parse_assignments(text, "--option"))
      options[name] = parse_number(value, "--option", -1e300, 1e300);
  try {
    search::check_options(strategy, options);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--option: ") + error.what());
  }
  return options;
}

Budget read_budget(const po::variables_map& given) {
  Budget budget;
  if (given.count("budget")) budget.wall_time = parse_duration(text_of(given, "budget"), "--budget");
  if (given.count("trials")) {
    budget.trials = static_cast<std::size_t>(parse_count(text_of(given, "trials"), "--trials"));
    if (*budget.trials == 0) throw UsageError("--trials: at least one trial is needed");
  }
  if (given.count("fraction")) budget.fraction = parse_number(text_of(given, "fraction"), "--fraction", 0, 1);
  if (given.count("target")) {
    const std::string text = text_of(given, "target");
    budget.target = parse_nanoseconds(text, "--target");
  }
  if (given.count("until-unlikely"))
    budget.until_unlikely = parse_number(text_of(given, "until-unlikely"), "--until-unlikely", 0, 1);
  return budget;
}

Isolation read_isolation(const std::string& text) {
  if (text == "process") return Isolation::process;
  if (text == "none") return Isolation::none;
  throw UsageError(unknown_name("isolation", text, {"process", "none"}));
}

/// What is one kernel's, or one writer's.
void check_list(const po::variables_map& given) {
  for (const char* option : {"kernel", "size", "type", "choice", "capture", "fix", "vary", "by", "csv", "report"})
    if (given.count(option)) throw UsageError(fmt::format("--problems and --{} do not go together", option));
  if (given["todo"].as<bool>()) throw UsageError("--problems and --todo do not go together");
}

/// The list says which problems, and what calls are served with is what it is about.
void check_todo(const po::variables_map& given) {
  for (const char* option : {"capture", "size", "type", "choice", "fix", "vary", "by", "csv", "report"})
    if (given.count(option)) throw UsageError(fmt::format("--todo and --{} do not go together", option));
  if (given["hot"].as<bool>() || text_of(given, "objective") != "time")
    throw UsageError(
        "--todo is about what calls are served with: their time, caches cold; tune for another objective "
        "with --kernel");
}

/// What is fastest with warm caches is another question than with cold ones, with another answer in the database.
void choose_objective(const po::variables_map& given, TuneRequest& request) {
  const ObjectiveChoice choice = read_objective(text_of(given, "objective"));
  const bool hot = given["hot"].as<bool>();
  Objective& objective = request.tuning.session.objective;
  MeasureOptions& measure = request.tuning.measure;
  objective.name = hot && choice.name == "time" ? "time_hot" : choice.name;
  measure.cold = !hot && objective.name != "time_hot";
  request.trade_off = choice.trade_off;
  for (const std::string& name : choice.trade_off)
    if (!Objective{name}.is_time()) measure.metrics.push_back(Objective{name}.metric());
  measure.metrics_for_all = !measure.metrics.empty();
}

void choose_metrics(const po::variables_map& given, MeasureOptions& measure) {
  for (std::string& name : read_metrics(texts_of(given, "metrics"), "--metrics"))
    measure.metrics.push_back(std::move(name));
  const std::string of = text_of(given, "metrics-for");
  if (of != "all" && of != "finalists")
    throw UsageError(unknown_name("value of --metrics-for", of, {"finalists", "all"}));
  if (measure.metrics.empty() && given["objective"].defaulted())
    refuse_options(given, {"metrics-for"}, "without --metrics");
  if (of == "all") measure.metrics_for_all = true;
}

/// `--dry-run` goes with everything: it looks at a command that is whole otherwise.
void check_effects(const po::variables_map& given) {
  const auto flag = [&](const char* option) { return given[option].as<bool>(); };
  if (flag("json")) refuse_options(given, {"rows"}, "with --json, which holds every trial");
  if (flag("quiet")) refuse_options(given, {"rows", "verbose"}, "with --quiet");
}

SweepRequest read_sweep(const po::variables_map& given) {
  SweepRequest sweep;
  try {
    sweep.fix = Configuration::parse(text_of(given, "fix"));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--fix: {}", error.what()));
  }
  sweep.vary = split(texts_of(given, "vary"), ',');
  sweep.by = split(texts_of(given, "by"), ',');
  sweep.csv = text_of(given, "csv");
  const Text rows = text_of(given, "rows");
  sweep.rows =
      rows == "all" ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(parse_count(rows, "--rows"));
  return sweep;
}

std::uint64_t read_seed(const std::string& text) { return static_cast<std::uint64_t>(parse_count(text, "--seed")); }

void add_named_problem(po::options_description& what) {
  auto add_what = what.add_options();
  add_what("kernel,k", po::value<Text>()->value_name("NAME|FILE.cu"), "the kernel: a name (`tune list`) or a file");
  add_what("size,s", po::value<Texts>()->value_name("nx=4096,ny=4k"),
           "problem size; 4k, 16M, 1e6, 2^24 are numbers; repeat it, or separate by `;`, for several sizes");
  add_what("type", po::value<Texts>()->value_name("float"), "element type; several are separated by commas");
  add_what("choice", po::value<Texts>()->value_name("NAME=VALUE"),
           "another choice the kernel offers, e.g. operation=max; several values are separated by commas");
}

void add_limits(po::options_description& stop) {
  auto add_stop = stop.add_options();
  add_stop("budget,b", po::value<Text>()->value_name("30s"),
           "wall time; without any limit 60s on a GPU, 30s on the host");
  add_stop("trials,n", po::value<Text>()->value_name("N"), "configurations tried");
  add_stop("fraction", po::value<Text>()->value_name("F"), "part of the valid configurations, 0 to 1");
  add_stop("target", po::value<Text>()->value_name("12us"), "good enough: stop at this median time");
  add_stop("until-unlikely", po::value<Text>()->value_name("P"),
           "stop when an improvement by 1% is less likely than this, 0 to 1");
}

}  // namespace

std::string default_device() {
  const char* const device = std::getenv("TUNER_DEVICE");
  return device && *device ? device : "auto";
}

po::options_description tune_options() {
  po::options_description what("What to tune", 110), part("Part of the space, and its table", 110),
      stop("When to stop (the first limit reached)", 110), how("How", 110), output("Output and storage", 110);
  add_named_problem(what);
  auto add_what = what.add_options();
  add_what("capture", po::value<Text>()->value_name("FOLDER"),
           "a captured launch ($TUNER_CAPTURE): its kernel, sizes, types, choices and inputs");
  add_what("problems", po::value<Text>()->value_name("FILE"),
           "a list: on each line the options above of one kernel, perhaps with limits of its own; all are tuned, "
           "several at once on several GPUs; -: standard input");
  add_what("todo", po::bool_switch(),
           "what `tune todo` lists for this device instead, one after the other; --budget and its kin are for each");
  add_what(
      "device,d", po::value<Text>()->value_name("auto|cuda|0|0,1|all|host"),
      "where to run; auto: the first GPU, else the host; several GPUs of one kind share the work, those of another "
      "kind are tuned beside them; default: $TUNER_DEVICE, else auto");
  auto add_part = part.add_options();
  add_part("fix", po::value<Text>()->value_name("\"vector=1 unroll=1\""),
           "only configurations with these values; all of them are tried and none becomes the known best");
  add_part("vary", po::value<Texts>()->value_name("block_x,block_y"),
           "only these parameters vary; the others keep their --fix or their default");
  add_part("rows", po::value<Text>()->default_value("10")->value_name("N|all"),
           "lines of the table; all: what fails too, with the reason, and of a part what cannot run");
  add_part("by", po::value<Texts>()->value_name("NAME"),
           "the best for each value of a parameter, choice, type or size; may be repeated");
  add_part("csv", po::value<Text>()->value_name("FILE"), "every row, with what cannot run, as comma-separated values");
  add_limits(stop);
  auto add_how = how.add_options();
  add_how("strategy", po::value<Text>()->default_value("auto")->value_name("NAME"), "how the space is searched");
  add_how("option", po::value<Texts>()->value_name("NAME=X"),
          "option of the strategy, as `tune replay --list` prints them; may be repeated");
  add_how("seed", po::value<Text>()->default_value("1")->value_name("N"), "of the search");
  add_how("objective", po::value<Text>()->default_value("time")->value_name("NAME"),
          "what is best: time, time_hot as --hot does, energy, edp or another metric (the largest of shares and rates, "
          "the smallest of all else; max:NAME and min:NAME say which); several, as in time,energy, also print what no "
          "other configuration beats in all");
  add_how("metrics", po::value<Texts>()->value_name("LIST|textbook|roofline"),
          "hardware counters and energy to collect after timing, separated by commas (`tune metrics`)");
  add_how("metrics-for", po::value<Text>()->default_value("finalists")->value_name("finalists|all"),
          "of which configurations they are collected");
  add_how("hot", po::bool_switch(), "do not flush the L2 cache before each sample");
  add_how("measure-for", po::value<Text>()->default_value("1s")->value_name("1s"),
          "longest time for the samples of one configuration, of which ten are always taken; they end sooner where the "
          "median is known within 1%");
  add_how("isolation", po::value<Text>()->default_value("process")->value_name("process|none"),
          "run kernels in worker processes, so that one that crashes costs one trial, or in this one");
  add_how("no-host-check", po::bool_switch(),
          "do not run the best configuration of a GPU on the host too, where races show");
  add_how("unverified", po::bool_switch(),
          "compare results with nothing: for kernels without any reference; what is found is marked, and never served, "
          "exported as best or shipped");
  add_how("no-prior", po::bool_switch(), "do not start from results of other sizes, choices and devices");
  add_how("force,f", po::bool_switch(),
          "measure although the answer is known, and again what was measured; let --log append to, and --report "
          "replace, any file");
  add_how("template-path", po::value<Texts>()->value_name("DIR"), "look for kernels here first; may be repeated");
  auto add_output = output.add_options();
  add_output("db", po::value<Text>()->value_name("FILE"), "database; default: wisdom.db in the cache folder");
  add_output("log", po::value<Text>()->value_name("FILE"), "append one JSON line for each trial");
  add_output("report", po::value<Text>()->value_name("FILE.html"),
             "write what is found as a page to look at, again and again while tuning runs");
  add_output("json", po::bool_switch(), "one JSON document on stdout");
  add_output("quiet,q", po::bool_switch(), "no progress, only the result");
  add_output("verbose,v", po::bool_switch(), "a line for each trial");
  add_output("dry-run", po::bool_switch(), "print the space and stop");
  add_output("version", "print the version");
  add_help(output);
  po::options_description all("", 110);
  all.add(what).add(part).add(stop).add(how).add(output);
  return all;
}

TuneRequest read_tune_request(int argc, char** argv) {
  const po::variables_map given = parse_options(argc, argv, tune_options(), {"arguments..."});
  TuneRequest request;
  request.help = given.count("help") > 0;
  if (request.help) return request;
  if (const Texts extra = texts_of(given, "arguments"); !extra.empty())
    throw UsageError(fmt::format("unexpected argument '{}'; a kernel is given as --kernel {}", extra[0], extra[0]));
  check_effects(given);
  request.kernel = text_of(given, "kernel");
  request.capture = text_of(given, "capture");
  request.todo = given["todo"].as<bool>();
  if (request.todo) check_todo(given);
  request.problem_file = text_of(given, "problems");
  if (given.count("problems")) check_list(given);
  if (request.kernel.empty() && request.capture.empty() && !request.todo && request.problem_file.empty())
    throw UsageError("which kernel? Give --kernel NAME or --kernel FILE.cu; `tune list` names the known ones");
  if (!request.capture.empty())
    for (const char* option : {"kernel", "size", "type", "choice", "template-path"})
      if (given.count(option))
        throw UsageError(fmt::format("--capture and --{0}: the capture says what is tuned; leave --{0} out", option));
  request.template_path = template_path(given);
  request.problems = {texts_of(given, "size"), texts_of(given, "type"), texts_of(given, "choice")};
  request.device = given.count("device") ? text_of(given, "device") : default_device();
  request.database = text_of(given, "db");
  request.log = text_of(given, "log");
  request.report = text_of(given, "report");
  for (const auto& [option, field] : {std::pair{"json", &request.json},
                                      {"quiet", &request.quiet},
                                      {"verbose", &request.verbose},
                                      {"dry-run", &request.dry_run},
                                      {"force", &request.force}})
    *field = given[option].as<bool>();

  SessionOptions& session = request.tuning.session;
  session.budget = read_budget(given);
  session.strategy = checked_strategy(text_of(given, "strategy"));
  session.strategy_options = read_strategy_options(texts_of(given, "option"), session.strategy);
  session.seed = read_seed(text_of(given, "seed"));
  choose_objective(given, request);
  choose_metrics(given, request.tuning.measure);
  request.tuning.measure.max_seconds = parse_duration(text_of(given, "measure-for"), "--measure-for").count();
  request.tuning.isolation = read_isolation(text_of(given, "isolation"));
  request.tuning.measure.verify = !given["unverified"].as<bool>();
  request.tuning.host_check = !given["no-host-check"].as<bool>();
  request.tuning.learn_from_elsewhere = !given["no-prior"].as<bool>();
  request.tuning.resume = !request.force;
  request.sweep = read_sweep(given);
  if (request.sweep.is_part()) {
    // A table that is to be read compares every row: nothing is given up early, and all is tried.
    request.tuning.measure.abandon_factor = 0;
    request.tuning.decides = false;
    if (given["strategy"].defaulted()) session.strategy = "exhaustive";
  }
  if (!request.capture.empty() && request.device == "auto" && !given.count("device") &&
      backend_of_capture(request.capture) == kHostBackend)
    request.device = kHostBackend;
  return request;
}

ListedRequest read_listed_request(const std::string& place, const Texts& words) try {
  po::options_description options;
  add_named_problem(options);
  add_limits(options);
  options.add_options()("isolation", po::value<Text>(), "");
  std::vector<char*> argv;
  Texts texts{"tune"};
  texts.insert(texts.end(), words.begin(), words.end());
  for (std::string& text : texts) argv.push_back(text.data());
  const po::variables_map given = parse_options(static_cast<int>(argv.size()), argv.data(), options, {"arguments..."});
  if (const Texts extra = texts_of(given, "arguments"); !extra.empty())
    throw UsageError(fmt::format("unexpected argument '{}'; a kernel is given as --kernel {}", extra[0], extra[0]));
  ListedRequest line{place, text_of(given, "kernel"), problem_options(given), std::nullopt, std::nullopt};
  if (line.kernel.empty()) throw UsageError("which kernel? Give --kernel NAME or --kernel FILE.cu");
  for (const char* limit : {"budget", "trials", "fraction", "target", "until-unlikely"})
    if (given.count(limit)) line.budget = read_budget(given);
  if (given.count("isolation")) line.isolation = read_isolation(text_of(given, "isolation"));
  return line;
} catch (const UsageError& error) {
  throw UsageError(place + ": " + error.what());
}

}  // namespace tuner::cli
