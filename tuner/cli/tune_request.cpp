#include <tuner/cli/tune_request.hpp>

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

constexpr const char* kTuneExamples =
    "  tune --kernel sumMatrix2D                       tune with all defaults\n"
    "  tune --kernel reduce --size n=2^24 --type float,int --budget 60s\n"
    "  tune --kernel ./mine.cu --device host --trials 100 --seed 7\n"
    "  tune --capture axpy-n=4096-1a2b3c4d.capture     for the inputs of a program's own launch ($TUNER_CAPTURE=axpy)\n"
    "  tune --kernel reduce --dry-run                  what would be searched\n"
    "  tune --kernel sumMatrix2D --metrics textbook    why: counters of the finalists\n"
    "  tune --kernel reduce --device all               on all GPUs of this machine at once\n"
    "  tune --problems overnight.txt                   a list of problems; with --device all several at once\n"
    "  tune --kernel reduce --json > result.json       everything, for programs\n"
    "  tune --kernel sumMatrix2D --fix \"vector=1 unroll=1\" --vary block_x,block_y --rows all\n"
    "  tune --kernel reduceClassic --by step           the best of each step, and the speed-up\n"
    "  tune --todo --budget 5m                         what programs called and nothing was known of (tune todo)\n"
    "\nOther commands: tune run, list, devices, occupancy, metrics, show, explain, report, compare, export, import,\n"
    "merge, freeze, cache, todo, replay; `tune help`.\n";

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

Budget read_budget(const Given& given) {
  Budget budget;
  if (given.has("budget")) budget.wall_time = parse_duration(given.text("budget"), "--budget");
  if (given.has("trials")) {
    budget.trials = static_cast<std::size_t>(parse_count(given.text("trials"), "--trials"));
    if (*budget.trials == 0) throw UsageError("--trials: at least one trial is needed");
  }
  if (given.has("fraction")) budget.fraction = parse_number(given.text("fraction"), "--fraction", 0, 1);
  if (given.has("target")) {
    const std::string text = given.text("target");
    budget.target = parse_nanoseconds(text, "--target");
  }
  if (given.has("until-unlikely"))
    budget.until_unlikely = parse_number(given.text("until-unlikely"), "--until-unlikely", 0, 1);
  return budget;
}

Isolation read_isolation(const std::string& text) {
  require_known("isolation", text, {"process", "none"});
  return text == "none" ? Isolation::none : Isolation::process;
}

/// What is one kernel's, or one writer's.
void check_list(const Given& given) {
  for (const char* option : {"kernel", "size", "type", "choice", "capture", "fix", "vary", "by", "csv", "report"})
    if (given.has(option)) throw UsageError(fmt::format("--problems and --{} do not go together", option));
  if (given.flag("todo")) throw UsageError("--problems and --todo do not go together");
}

/// The list says which problems, and what calls are served with is what it is about.
void check_todo(const Given& given) {
  for (const char* option : {"capture", "size", "type", "choice", "fix", "vary", "by", "csv", "report"})
    if (given.has(option)) throw UsageError(fmt::format("--todo and --{} do not go together", option));
  if (given.flag("hot") || given.text("objective") != "time")
    throw UsageError(
        "--todo is about what calls are served with: their time, caches cold; tune for another objective "
        "with --kernel");
}

/// What is fastest with warm caches is another question than with cold ones, with another answer in the database.
void choose_objective(const Given& given, TuneRequest& request) {
  const ObjectiveChoice choice = read_objective(given.text("objective"));
  const bool hot = given.flag("hot");
  Objective& objective = request.tuning.session.objective;
  MeasureOptions& measure = request.tuning.measure;
  objective.name = hot && choice.name == "time" ? "time_hot" : choice.name;
  measure.cold = !hot && objective.name != "time_hot";
  request.trade_off = choice.trade_off;
  for (const std::string& name : choice.trade_off)
    if (!Objective{name}.is_time()) measure.metrics.push_back(Objective{name}.metric());
  measure.metrics_for_all = !measure.metrics.empty();
}

void choose_metrics(const Given& given, MeasureOptions& measure) {
  for (std::string& name : read_metrics(given.texts("metrics"), "--metrics"))
    measure.metrics.push_back(std::move(name));
  const std::string of = given.text("metrics-for");
  require_known("value of --metrics-for", of, {"finalists", "all"});
  if (measure.metrics.empty() && !given.has("objective")) given.refuse({"metrics-for"}, "without --metrics");
  if (of == "all") measure.metrics_for_all = true;
}

/// `--dry-run` goes with everything: it looks at a command that is whole otherwise.
void check_effects(const Given& given) {
  if (given.flag("json")) given.refuse({"rows"}, "with --json, which holds every trial");
  if (given.flag("quiet")) given.refuse({"rows", "verbose"}, "with --quiet");
}

SweepRequest read_sweep(const Given& given) {
  SweepRequest sweep;
  try {
    sweep.fix = Configuration::parse(given.text("fix"));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--fix: {}", error.what()));
  }
  sweep.vary = split(given.texts("vary"), ',');
  sweep.by = split(given.texts("by"), ',');
  sweep.csv = given.text("csv");
  const std::string rows = given.text("rows");
  sweep.rows =
      rows == "all" ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(parse_count(rows, "--rows"));
  return sweep;
}

std::uint64_t read_seed(const std::string& text) { return static_cast<std::uint64_t>(parse_count(text, "--seed")); }

void add_named_problem(Options& options) {
  options.text("kernel,k", "NAME|FILE.cu", "the kernel: a name (`tune list`) or a file");
  options.texts("size,s", "nx=4096,ny=4k",
                "problem size; 4k, 16M, 1e6, 2^24 are numbers; repeat it, or separate by `;`, for several sizes");
  options.texts("type", "float", "element type; several are separated by commas");
  options.texts("choice", "NAME=VALUE",
                "another choice the kernel offers, e.g. operation=max; several values are separated by commas");
}

void add_limits(Options& options) {
  options.text("budget,b", "30s", "wall time; without any limit 60s on a GPU, 30s on the host");
  options.text("trials,n", "N", "configurations tried");
  options.text("fraction", "F", "part of the valid configurations, 0 to 1");
  options.text("target", "12us", "good enough: stop at this median time");
  options.text("until-unlikely", "P", "stop when an improvement by 1% is less likely than this, 0 to 1");
}

}  // namespace

std::string wanted_device(const Given& given) {
  if (given.has("device")) return given.text("device");
  const char* const device = std::getenv("TUNER_DEVICE");
  return device && *device ? device : "auto";
}

Options tune_options() {
  Options options(
      "Usage: tune --kernel NAME|FILE.cu [options]\n"
      "       tune --capture FOLDER [options]\n"
      "       tune --problems FILE [options]\n"
      "       tune --todo [options]\n"
      "Finds the fastest correct configuration of a kernel on this machine and remembers it.",
      kTuneExamples);
  options.group("What to tune");
  add_named_problem(options);
  options.text("capture", "FOLDER", "a captured launch ($TUNER_CAPTURE): its kernel, sizes, types, choices and inputs");
  options.text("problems", "FILE",
               "a list: on each line the options above of one kernel, perhaps with limits of its own; all are tuned, "
               "several at once on several GPUs; -: standard input");
  options.flag("todo", "what `tune todo` lists for this device instead; --budget and its kin are for each");
  options.text(
      "device,d", "auto|cuda|0|0,1|all|host",
      "where to run; auto: the first GPU, else the host; several GPUs of one kind share the work, those of another "
      "kind are tuned beside them; default: $TUNER_DEVICE, else auto");
  options.group("Part of the space, and its table");
  options.text("fix", "\"vector=1 unroll=1\"",
               "only configurations with these values; all of them are tried and none becomes the known best");
  options.texts("vary", "block_x,block_y", "only these parameters vary; the others keep their --fix or their default");
  options.text("rows", "N|all",
               "lines of the table; all: what fails too, with the reason, and of a part what cannot run", "10");
  options.texts("by", "NAME", "the best for each value of a parameter, choice, type or size; may be repeated");
  options.text("csv", "FILE", "every row, with what cannot run, as comma-separated values");
  options.group("When to stop (the first limit reached)");
  add_limits(options);
  options.group("How");
  options.text("strategy", "NAME", "how the space is searched", "auto");
  options.texts("option", "NAME=X", "option of the strategy, as `tune replay --list` prints them; may be repeated");
  options.text("seed", "N", "of the search", "1");
  options.text(
      "objective", "NAME",
      "what is best: time, time_hot as --hot does, energy, edp or another metric (the largest of shares and rates, "
      "the smallest of all else; max:NAME and min:NAME say which); several, as in time,energy, also print what no "
      "other configuration beats in all",
      "time");
  options.texts("metrics", "LIST|textbook|roofline",
                "hardware counters and energy to collect after timing, separated by commas (`tune metrics`)");
  options.text("metrics-for", "finalists|all", "of which configurations they are collected", "finalists");
  options.flag("hot", "do not flush the L2 cache before each sample");
  options.text(
      "measure-for", "1s",
      "longest time for the samples of one configuration, of which ten are always taken; they end sooner where the "
      "median is known within 1%",
      "1s");
  options.text("isolation", "process|none",
               "run kernels in worker processes, so that one that crashes costs one trial, or in this one", "process");
  options.flag("no-host-check", "do not run the best configuration of a GPU on the host too, where races show");
  options.flag(
      "unverified",
      "compare results with nothing: for kernels without any reference; what is found is marked, and never served, "
      "exported as best or shipped");
  options.flag("no-prior", "do not start from results of other sizes, choices and devices");
  options.flag("force,f",
               "measure although the answer is known, and again what was measured; let --log append to, and --report "
               "replace, any file");
  options.texts("template-path", "DIR", "look for kernels here first; may be repeated");
  options.group("Output and storage");
  options.text("db", "FILE", "database; default: wisdom.db in the cache folder");
  options.text("log", "FILE", "append one JSON line for each trial");
  options.text("report", "FILE.html", "write what is found as a page to look at, again and again while tuning runs");
  options.json();
  options.flag("quiet,q", "no progress, only the result");
  options.flag("verbose,v", "a line for each trial");
  options.flag("dry-run", "print the space and stop");
  options.flag("version", "print the version");
  options.arguments({"arguments..."});
  return options;
}

TuneRequest read_tune_request(int argc, char** argv) {
  const Given given = tune_options().read(argc, argv);
  TuneRequest request;
  request.help = given.has("help");
  if (request.help) return request;
  if (const Texts extra = given.texts("arguments"); !extra.empty())
    throw UsageError(fmt::format("unexpected argument '{}'; a kernel is given as --kernel {}", extra[0], extra[0]));
  check_effects(given);
  request.kernel = given.text("kernel");
  request.capture = given.text("capture");
  request.todo = given.flag("todo");
  if (request.todo) check_todo(given);
  request.problem_file = given.text("problems");
  if (given.has("problems")) check_list(given);
  if (request.kernel.empty() && request.capture.empty() && !request.todo && request.problem_file.empty())
    throw UsageError("which kernel? Give --kernel NAME or --kernel FILE.cu; `tune list` names the known ones");
  if (!request.capture.empty())
    for (const char* option : {"kernel", "size", "type", "choice", "template-path"})
      if (given.has(option))
        throw UsageError(fmt::format("--capture and --{0}: the capture says what is tuned; leave --{0} out", option));
  request.template_path = template_path(given);
  request.problems = {given.texts("size"), given.texts("type"), given.texts("choice")};
  request.device = wanted_device(given);
  request.database = given.text("db");
  request.log = given.text("log");
  request.report = given.text("report");
  for (const auto& [option, field] : {std::pair{"json", &request.json},
                                      {"quiet", &request.quiet},
                                      {"verbose", &request.verbose},
                                      {"dry-run", &request.dry_run},
                                      {"force", &request.force}})
    *field = given.flag(option);

  SessionOptions& session = request.tuning.session;
  session.budget = read_budget(given);
  session.strategy = given.text("strategy");
  require_known("strategy", session.strategy, names_of(search::strategies()));
  session.strategy_options = read_strategy_options(given.texts("option"), session.strategy);
  session.seed = read_seed(given.text("seed"));
  choose_objective(given, request);
  choose_metrics(given, request.tuning.measure);
  request.tuning.measure.max_seconds = parse_duration(given.text("measure-for"), "--measure-for").count();
  request.tuning.isolation = read_isolation(given.text("isolation"));
  request.tuning.measure.verify = !given.flag("unverified");
  request.tuning.host_check = !given.flag("no-host-check");
  request.tuning.learn_from_elsewhere = !given.flag("no-prior");
  request.tuning.resume = !request.force;
  request.sweep = read_sweep(given);
  if (request.sweep.is_part()) {
    // A table that is to be read compares every row: nothing is given up early, and all is tried.
    request.tuning.measure.abandon_factor = 0;
    request.tuning.decides = false;
    if (!given.has("strategy")) session.strategy = "exhaustive";
  }
  if (!request.capture.empty() && request.device == "auto" && !given.has("device") &&
      backend_of_capture(request.capture) == kHostBackend)
    request.device = kHostBackend;
  return request;
}

ListedRequest read_listed_request(const std::string& place, const Texts& words) try {
  Options options;
  add_named_problem(options);
  add_limits(options);
  options.text("isolation", "", "").arguments({"arguments..."});
  std::vector<char*> argv;
  Texts texts{"tune"};
  texts.insert(texts.end(), words.begin(), words.end());
  for (std::string& text : texts) argv.push_back(text.data());
  const Given given = options.read(static_cast<int>(argv.size()), argv.data());
  if (const Texts extra = given.texts("arguments"); !extra.empty())
    throw UsageError(fmt::format("unexpected argument '{}'; a kernel is given as --kernel {}", extra[0], extra[0]));
  ListedRequest line{place, given.text("kernel"), problem_options(given), std::nullopt, std::nullopt};
  if (line.kernel.empty()) throw UsageError("which kernel? Give --kernel NAME or --kernel FILE.cu");
  for (const char* limit : {"budget", "trials", "fraction", "target", "until-unlikely"})
    if (given.has(limit)) line.budget = read_budget(given);
  if (given.has("isolation")) line.isolation = read_isolation(given.text("isolation"));
  return line;
} catch (const UsageError& error) {
  throw UsageError(place + ": " + error.what());
}

}  // namespace tuner::cli
