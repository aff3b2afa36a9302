#include <tuner/cli/input/tune_arguments.hpp>

#include <cstdlib>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/input/metric_options.hpp>
#include <tuner/cli/input/standard_input.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/effort.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/recording/launch_recording.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner::cli {
namespace {

Isolation read_isolation(const std::string& text) {
  require_known("isolation", text, {"process", "none"});
  return text == "none" ? Isolation::none : Isolation::process;
}

/// Throws UsageError for the first of \p options that was given beside \p option. \p why: the end of the message.
void refuse_beside(const Given& given, std::string_view option, std::initializer_list<const char*> options,
                   std::string_view why = {}) {
  for (const char* one : options)
    if (given.has(one)) throw UsageError("{} and --{} do not go together{}", option, one, why);
}

/// A list names the problems itself, and a recording its one. Some options are about one kernel, or would have several
/// writers.
void check_subject(const Given& given) {
  if (given.has("problems"))
    refuse_beside(given, "--problems",
                  {"size", "type", "choice", "recording", "fix", "vary", "by", "csv", "report", "missed"});
  if (given.has("problems") && !given.flag("together")) refuse_beside(given, "--problems", {"kernel"});
  if (given.flag("together"))
    refuse_beside(given, "--together",
                  {"recording", "fix", "vary", "by", "csv", "report", "rows", "metrics", "unverified"});
  if (given.flag("missed"))
    refuse_beside(given, "--missed", {"recording", "size", "type", "choice", "fix", "vary", "by", "csv", "report"});
  if (given.flag("missed") && (given.has("as") || given.text("objective") != "time"))
    throw UsageError(
        "--missed is about the time of calls, with cold caches; name a kernel to tune it for another objective");
  if (given.has("recording"))
    refuse_beside(given, "--recording", {"kernel", "size", "type", "choice"}, ": the recording says what is tuned");
  if (!given.has("kernel") && !given.has("recording") && !given.flag("missed") && !given.has("problems"))
    throw UsageError(kWhichKernel);
}

/// Times of different uses are different objectives, with different results in the database.
void choose_objective(const Given& given, TuneArguments& request) {
  const std::vector<std::string> names = read_objectives(given.text("objective"));
  Objective& objective = request.tuning.session.objective;
  MeasureOptions& measure = request.tuning.measure;
  objective.name = names.front();
  if (given.has("as") && objective.name != "time")
    throw UsageError("--as and --objective {} do not go together: --as names the use whose time is minimised",
                     objective.name);
  measure.use = given_use(given);
  if (objective.name == "time") objective = Objective::time_of(measure.use);
  if (const std::optional<Use> use = objective.use()) measure.use = *use;
  for (const std::string& name : names)
    if (const std::optional<Use> use = Objective{name}.use(); use && name != "time" && *use != measure.use)
      throw UsageError("--objective {}: times of several uses are not measured in one tuning", given.text("objective"));
  if (names.size() > 1) request.trade_off = names;
  for (const std::string& name : request.trade_off)
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

/// `--dry-run` goes with all options: it can be added to any command.
void check_effects(const Given& given) {
  if (given.flag("json")) given.refuse({"rows"}, "with --json, which holds every trial");
  if (given.flag("quiet")) given.refuse({"rows", "verbose"}, "with --quiet");
  int writers = given.flag("json");
  for (const char* option : {"csv", "log", "report"}) {
    if (given.text(option) != "-") continue;
    ++writers;
    given.refuse({"rows", "by"}, fmt::format("with --{} -, which takes the place of tables", option));
  }
  if (writers > 1) throw UsageError("standard output takes only one of --json, --csv -, --log - and --report -");
}

SweepRequest read_sweep(const Given& given) {
  SweepRequest sweep;
  sweep.fix = parse_configuration(given.text("fix"), "--fix");
  sweep.vary = split(given.texts("vary"), ',');
  sweep.by = split(given.texts("by"), ',');
  sweep.csv = given.text("csv");
  const std::string rows = given.text("rows");
  sweep.rows =
      rows == "all" ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(parse_count(rows, "--rows"));
  return sweep;
}

/// The options that a line of a list may have too.
void add_problem_and_limits(Options& options) {
  options.add("kernel size type choice effort");
  options.group("When to stop in place of --effort (the first limit reached)")
      .add("budget trials target until-unlikely");
}

bool has_limit(const Given& given) {
  return given.has("budget") || given.has("trials") || given.has("target") || given.has("until-unlikely");
}

Effort read_effort(const std::string& word, std::string_view option) {
  const std::optional<Effort> effort = effort_named(word);
  if (!effort) throw UsageError("{}: {}", option, unknown_name("effort", word, names_of(kEfforts)));
  return *effort;
}

/// The effort of --effort, else of $TUNER_EFFORT.
Effort wanted_effort(const Given& given) {
  if (given.has("effort")) return read_effort(given.text("effort"), "--effort");
  const char* const word = std::getenv("TUNER_EFFORT");
  return word != nullptr && *word != '\0' ? read_effort(word, "TUNER_EFFORT") : Effort::normal;
}

void check_limits(const Given& given) {
  if (given.has("effort"))
    refuse_beside(given, "--effort", {"budget", "trials", "target", "until-unlikely"},
                  ": both say when the search ends");
}

/// Precondition: the effort is `none`. The lines of a list may say otherwise than the environment.
void check_that_measures_nothing(const Given& given) {
  if (given.has("problems") && !given.has("effort")) return;
  given.refuse({"recording", "fix", "vary", "by", "csv", "metrics", "force", "unverified", "together"},
               fmt::format("with {}, which measures nothing", given.has("effort") ? "--effort none" : kNoEffort));
}

ListedRequest read_listed_request(const std::string& place, const Texts& words, const Objective& objective,
                                  const std::string& kernel) try {
  Options options;
  add_problem_and_limits(options);
  options.text("isolation", "", "").arguments({"kernel"});
  const Given given = options.read(words);
  ListedRequest line{place, given.text("kernel"), problem_options(given), std::nullopt, std::nullopt, std::nullopt};
  if (line.kernel.empty()) line.kernel = kernel;
  if (line.kernel.empty()) throw UsageError(kWhichKernel);
  check_limits(given);
  if (given.has("effort")) line.effort = wanted_effort(given);
  if (has_limit(given)) line.budget = read_budget(given, objective);
  if (given.has("isolation")) line.isolation = read_isolation(given.text("isolation"));
  return line;
} catch (const UsageError& error) {
  throw UsageError(place + ": " + error.what());
}

}  // namespace

Options tune_options() {
  Options options(
      "Usage: tune KERNEL [options]\n"
      "       tune --recording FOLDER | --problems FILE | --missed [options]\n"
      "Finds the fastest correct configuration of a kernel on this machine and stores\n"
      "it. --effort says how much it may cost: normal, the default, is 60 s on a GPU\n"
      "and 30 s on the host. Several GPUs of one kind (--device 0,1 or all) share the\n"
      "work.\n"
      "Other commands: run, check, init, list, devices, occupancy, show, report,\n"
      "compare, db, replay (`tune help`).",
      "  tune sumMatrix2D                        tune with all defaults\n"
      "  tune reduce --size n=2^24 --type float,int --effort quick\n"
      "  tune ./mine.cu --device host --trials 100 --seed 7\n"
      "  tune --recording axpy-n=4096-1a2b3c4d.recording     the launch of a program\n"
      "  tune reduce --dry-run                   what would be searched\n"
      "  tune sumMatrix2D --metrics textbook     why: counters of the finalists\n"
      "  tune reduce --device all                on all GPUs of this machine at once\n"
      "  tune --problems overnight.txt           a list of problems\n"
      "  tune reduce --problems sizes.txt --together   one rule for all sizes\n"
      "  tune reduce --json > result.json        everything, for programs\n"
      "  tune sumMatrix2D --fix \"vector=1 unroll=1\" --vary block_x,block_y --rows all\n"
      "  tune reduceClassic --by step            the best of each step\n"
      "  tune --missed --effort thorough         what calls found no result for\n");
  options.group("What to tune");
  add_problem_and_limits(options);
  options.group("Where, and in place of a kernel").add("device db");
  options.text("recording", "FOLDER", "a recorded launch ($TUNER_RECORD) with its sizes and inputs");
  options.text("problems", "FILE",
               "a list: on each line a kernel with the options above; several GPUs tune several at once; -: standard "
               "input");
  options.flag("together",
               "one search for all sizes: at most four configurations and a rule by size. In a list, lines without a "
               "kernel are of KERNEL");
  options.flag("missed", "the problems that `tune show --missed` lists; limits are for each");
  options.group("Part of the space, and its table");
  options.text("fix", "\"vector=1\"",
               "only configurations with these values; all are tried, and none becomes the known best");
  options.texts("vary", "a,b", "only these parameters vary; the others keep their default");
  options.text("rows", "N|all", "lines of the table; all: failures too, with the reason", "10");
  options.texts("by", "NAME", "the best for each value of a parameter, choice, type or size");
  options.text("csv", "FILE", "every row as comma-separated values");
  options.group("How").add("strategy option seed");
  options.text(
      "objective", "NAME",
      "what is best: time (--as names the use), energy, edp or a metric, also as max:NAME or min:NAME; with several, "
      "separated by commas, their trade-off is printed",
      "time");
  options.add("metrics");
  options.text("metrics-for", "finalists|all", "collect metrics for finalists only, or for all", "finalists");
  options.add("as");
  options.text("measure-for", "TIME", "longest time for the samples of one configuration", "1s");
  options.text("isolation", "process|none",
               "run kernels in worker processes, where a crash costs one trial, or in this process", "process");
  options.flag("no-host-check",
               "do not check the best configuration of a GPU for races, on the host or with compute-sanitizer");
  options.flag("no-ceilings",
               "do not measure how fast the device streams and computes; results then show no share of it");
  options.flag("unverified", "for kernels without a reference; what is found is marked and never served");
  options.flag("no-prior", "start from nothing: no results of other sizes, choices and devices, no estimates");
  options.group("Output").add("force json");
  options.text("log", "FILE", "append one JSON line for each trial");
  options.text("report", "FILE.html", "write the page of `tune report` at the end");
  options.flag("quiet,q", "no progress, only the result");
  options.flag("verbose,v", "a line for each trial");
  options.text("parent", "PID", "stop when the parent process PID exits");
  options.flag("dry-run", "print the space and stop");
  options.arguments({"kernel"});
  return options;
}

TuneArguments read_tune_arguments(const Texts& words) {
  const Given given = tune_options().read(words);
  TuneArguments request;
  request.help = given.has("help");
  if (request.help) return request;
  check_effects(given);
  check_subject(given);
  check_limits(given);
  request.what.kernel = given.text("kernel");
  request.what.recording = given.text("recording");
  request.what.missed = given.flag("missed");
  request.what.problem_file = given.text("problems");
  request.what.problems = problem_options(given);
  request.device = wanted_device(given);
  request.database = given.text("db");
  request.log = given.text("log");
  request.report = given.text("report");
  request.json = given.flag("json");
  request.quiet = given.flag("quiet");
  request.verbose = given.flag("verbose");
  request.dry_run = given.flag("dry-run");
  request.force = given.flag("force");

  SessionOptions& session = request.tuning.session;
  choose_objective(given, request);
  session.budget = read_budget(given, session.objective);
  session.strategy = given.only("strategy");
  require_known("strategy", session.strategy, names_of(search::strategies()));
  session.strategy_options = read_strategy_options(given);
  try {
    search::check_options(session.strategy, session.strategy_options);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--option: ") + error.what());
  }
  session.seed = read_seed(given);
  choose_metrics(given, request.tuning.measure);
  request.tuning.measure.max_seconds = parse_duration(given.text("measure-for"), "--measure-for").count();
  request.tuning.isolation = read_isolation(given.text("isolation"));
  request.tuning.measure.verify = !given.flag("unverified");
  request.tuning.host_check = !given.flag("no-host-check");
  if (given.has("parent"))
    request.parent =
        static_cast<int>(parse_count(given.text("parent"), "--parent", 1, std::numeric_limits<int>::max()));
  request.without_ceilings = given.flag("no-ceilings");
  request.together = given.flag("together");
  request.tuning.learn_from_elsewhere = !given.flag("no-prior");
  request.tuning.resume = !request.force;
  request.sweep = read_sweep(given);
  if (given.has("rows")) request.tuning.stored_trials = StoredTrials::if_known;
  if (request.sweep.needs_trials()) request.tuning.stored_trials = StoredTrials::required;
  if (request.sweep.is_part()) {
    // A table that is to be read compares every row: nothing is given up early, and all is tried.
    request.tuning.measure.abandon_factor = 0;
    request.tuning.decides = false;
    if (!given.has("strategy")) session.strategy = "exhaustive";
  }
  if (given.has("effort") || (!has_limit(given) && request.tuning.decides))
    request.tuning.effort = wanted_effort(given);
  if (request.tuning.effort == Effort::none) check_that_measures_nothing(given);
  if (request.together && !session.objective.is_time())
    throw UsageError("--together is about times; --objective {} is tuned for each size by itself",
                     session.objective.name);
  if (!request.what.recording.empty() && request.device == "auto" && !given.has("device") &&
      backend_of_recording(request.what.recording) == kHostBackend)
    request.device = kHostBackend;
  return request;
}

std::vector<ListedRequest> parse_problem_list(std::string_view text, const std::string& file,
                                              const Objective& objective, const std::string& kernel) {
  std::vector<ListedRequest> list;
  std::size_t number = 0;
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string place = fmt::format("{}:{}", file, ++number);
    const std::vector<std::string> words = split_words(text.substr(0, end), place);
    if (!words.empty()) list.push_back(read_listed_request(place, words, objective, kernel));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (list.empty())
    throw UsageError("--problems {}: it names no problem; a line reads like --kernel reduce --size n=2^20 --type float",
                     file);
  return list;
}

std::vector<ListedRequest> read_problem_list(const std::string& file, const Objective& objective,
                                             const std::string& kernel) {
  if (file == "-") return parse_problem_list(standard_input(), "standard input", objective, kernel);
  constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;
  std::string text;
  try {
    text = read_input_file(file, kMostBytes, "list of problems");
  } catch (const Error& error) {
    throw UsageError("--problems: {}", error.what());
  }
  return parse_problem_list(text, file, objective, kernel);
}

}  // namespace tuner::cli
