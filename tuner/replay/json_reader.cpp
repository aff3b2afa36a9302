#include <tuner/replay/json_reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/interprocess/streams/bufferstream.hpp>
#include <cache/records/json.hpp>

namespace tuner::replay {
namespace {

using nlohmann::json;
/// Names of members and numbers of elements (from 0), from the outermost value to the innermost.
using Path = std::vector<std::string>;

/// `file:line:column: `; both count from 1, columns in bytes.
std::string place_at(std::string_view text, std::size_t position, const std::string& origin) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return origin + ':' + std::to_string(line) + ':' + std::to_string(column) + ": ";
}

/// An object or array whose end was not read yet.
struct Open {
  char closing;
  std::string name;       ///< of the present value in it
  std::size_t count = 0;  ///< of the values in it before the next one; for arrays
};

/// The value of \p text. If the text ends too early because its writer was interrupted, an incomplete entry at depth 2
/// is first cut off, and open brackets are closed. Sets \p found to the place of the value at \p wanted; if a name is
/// given twice, that of its last value.
json parse(std::string& text, const std::string& origin, const Path& wanted, std::size_t& found) {
  boost::interprocess::ibufferstream stream(text.data(), text.size());
  std::size_t end_of_last = 0;  // one past the last token
  std::size_t complete = 0;     // one past what an interrupted writer has finished
  bool has_entry = false;       // an entry at depth 2 is complete
  std::vector<Open> open;
  const auto beginning = [&] { return text.find_first_not_of(" \t\r\n,:\xEF\xBB\xBF", end_of_last); };
  const auto pass = [&](int, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    if (event == Event::key) {
      open.back().name = value.get<std::string>();
    } else if (event == Event::object_end || event == Event::array_end) {
      open.pop_back();
      has_entry = has_entry || open.size() == 2;
    } else {
      if (!open.empty() && open.back().closing == ']') open.back().name = std::to_string(open.back().count++);
      const auto is_named = [](const Open& one, const std::string& name) { return one.name == name; };
      if (std::equal(open.begin(), open.end(), wanted.begin(), wanted.end(), is_named)) found = beginning();
      if (event != Event::value && open.size() == kMostJsonDepth)
        throw RecordedSpaceError(place_at(text, beginning(), origin) + "nested more than " +
                                 std::to_string(kMostJsonDepth) + " levels deep; is this a recorded space?");
      if (event != Event::value) open.push_back({event == Event::object_start ? '}' : ']', {}});
    }
    // One more character than that of a number is read.
    end_of_last = event == Event::value && value.is_number()
                      ? std::min(text.find_first_not_of("+-.0123456789eE", beginning()), text.size())
                      : static_cast<std::size_t>(stream.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
    if (event != Event::key && open.size() <= 2) complete = end_of_last;
    return true;
  };
  try {
    return json::parse(stream, pass);
  } catch (const json::exception& error) {
    const auto* const misplaced = dynamic_cast<const json::parse_error*>(&error);
    if (misplaced != nullptr && misplaced->byte > text.size() && has_entry) {
      text.resize(complete);
      for (std::size_t i = std::min<std::size_t>(open.size(), 2); i-- > 0;) text += open[i].closing;
      return parse(text, origin, wanted, found);
    }
    const std::size_t at = misplaced != nullptr ? std::max<std::size_t>(misplaced->byte, 1) - 1 : beginning();
    throw RecordedSpaceError(place_at(text, at, origin) + "not JSON: " + json_fault(error));
  }
}

/// Adds the way from \p here to \p wanted to \p path; false when \p wanted is not in \p here.
bool find(const json& here, const json& wanted, Path& path) {
  if (&here == &wanted) return true;
  if (!here.is_structured()) return false;
  for (const auto& item : here.items()) {
    path.push_back(item.key());
    if (find(item.value(), wanted, path)) return true;
    path.pop_back();
  }
  return false;
}

/// A JSON text, its value, and the place of each part of the value in the text.
class JsonFile {
 public:
  /// Throws RecordedSpaceError with line and column when \p text is not JSON or nested too deeply, and without a place
  /// when it is too large.
  JsonFile(std::string_view text, std::string origin) : text_(text), origin_(std::move(origin)) {
    if (std::count(text.begin(), text.end(), ',') >= static_cast<std::ptrdiff_t>(kMostJsonValues))
      throw RecordedSpaceError(origin_ + ": more than " + std::to_string(kMostJsonValues) +
                               " values; is this a recorded space?");
    std::size_t ignored = 0;
    root_ = parse(text_, origin_, {}, ignored);
  }

  const json& root() const { return root_; }
  const std::string& origin() const { return origin_; }

  /// Throws RecordedSpaceError: `file:line:column: ` and \p complaint. The place is that of member \p key of \p object,
  /// a value in root(), or of \p object itself if it has no such member.
  [[noreturn]] void fail(const json& object, const std::string& key, const std::string& complaint) const {
    Path path;
    find(root_, object.contains(key) ? object[key] : object, path);
    std::string text = text_;
    std::size_t place = 0;
    parse(text, origin_, path, place);
    throw RecordedSpaceError(place_at(text, place, origin_) + complaint);
  }

 private:
  std::string text_;
  std::string origin_;
  json root_;
};

/// Complains about a member of an object: JsonFile::fail(), perhaps with more words.
using Fail = std::function<void(const json& object, const std::string& key, const std::string& complaint)>;

/// Member \p key of \p object; null when it is missing or \p object is not an object.
const json& member(const json& object, const std::string& key) {
  static const json none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

/// The text of this member; empty when it is not text.
std::string text_or_empty(const json& object, const std::string& key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// This member as a number; \p fallback when it is absent or null. Fails for anything else.
double number_or(const json& object, const std::string& key, double fallback, const Fail& fail) {
  const json& value = member(object, key);
  if (value.is_null()) return fallback;
  if (!value.is_number()) fail(object, key, '\'' + key + "' is not a number");
  return value.get<double>();
}

/// As number_or(), for a time. Fails if it is negative.
double time_or(const json& object, const std::string& key, double fallback, const Fail& fail) {
  const double value = number_or(object, key, fallback, fail);
  if (value < 0) fail(object, key, '\'' + key + "' is negative");
  return value;
}

/// This member as a number of which less is better. A rate becomes its reciprocal, because ratios of reciprocals are
/// ratios of rates. \p name: of the objective. Fails if a rate is not above 0 or a time is negative. Precondition: the
/// member is a number.
double objective(const json& object, const std::string& key, std::string_view name, bool rate, const Fail& fail) {
  const double value = object[key].get<double>();
  if (!rate && value < 0 && name.find("time") != std::string_view::npos) fail(object, key, "a time is negative");
  if (!rate) return value;
  if (!(value > 0)) fail(object, key, "a rate must be greater than 0");
  return 1 / value;
}

/// A parameter's value: numbers that are not integers of 64 bits become text, because a Value has no others.
Value json_value(const json& value) {
  if (value.is_boolean()) return Value(value.get<bool>());
  const bool is_wide =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (value.is_number_integer() && !is_wide) return Value(value.get<std::int64_t>());
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 9e15) return Value(static_cast<std::int64_t>(number));
  }
  return Value(value.is_string() ? value.get<std::string>() : value.dump());
}

/// True for rates such as GB/s, GFLOP/s, GFLOPS/W and GFLOP/J, of which more is better.
bool is_rate(std::string_view objective) {
  return objective.ends_with("/s") || objective.ends_with("/W") || objective.ends_with("/J");
}

// Kernel Tuner's cache files.

OutcomeKind failure(const std::string& word) {
  if (word.find("Compilation") != std::string::npos) return OutcomeKind::compile;
  if (word.find("Invalid") != std::string::npos) return OutcomeKind::invalid;
  if (word.find("Timeout") != std::string::npos) return OutcomeKind::timeout;
  if (word.find("Correctness") != std::string::npos || word.find("Verification") != std::string::npos)
    return OutcomeKind::wrong;
  return OutcomeKind::launch;
}

std::vector<std::string> parameter_names(const JsonFile& file) {
  const json& keys = member(file.root(), "tune_params_keys");
  if (!keys.is_array() || keys.empty())
    file.fail(file.root(), "tune_params_keys", "there is no list \"tune_params_keys\" with names");
  std::vector<std::string> names;
  for (const json& key : keys) {
    if (!key.is_string()) file.fail(key, "", key.dump() + " is not the name of a parameter");
    names.push_back(key.get<std::string>());
  }
  return names;
}

/// Kernel Tuner asks its user for the direction of an objective that it does not know. Newer files have the answer.
bool larger_is_better(const JsonFile& file, const std::string& objective) {
  const json& given = member(file.root(), "objective_higher_is_better");
  if (given.is_boolean()) return given.get<bool>();
  if (is_rate(objective)) return true;
  if (objective.find("time") == std::string::npos && objective.find("energy") == std::string::npos)
    file.fail(file.root(), "objective",
              "the file does not say whether a larger '" + objective +
                  "' is better; add \"objective_higher_is_better\": true or false to it");
  return false;
}

RecordedSpace parse_kernel_tuner(const JsonFile& file) {
  const Fail fail = [&](const auto&... of) { file.fail(of...); };
  const json& cache = member(file.root(), "cache");
  if (!cache.is_object()) fail(file.root(), "cache", "there is no object \"cache\"");
  const std::vector<std::string> names = parameter_names(file);
  const std::string given = text_or_empty(file.root(), "objective");
  const std::string name = given.empty() ? "time" : given;
  if (cache.empty()) fail(cache, "", "the cache is empty");
  const bool rate = larger_is_better(file, name);

  std::vector<RecordedTrial> trials;
  for (const auto& item : cache.items()) {
    const json& entry = item.value();
    const std::string it = "the entry '" + item.key() + "' ";
    if (!entry.is_object()) fail(entry, "", it + "is not an object");
    RecordedTrial& trial = trials.emplace_back();
    for (const std::string& parameter : names) {
      if (!entry.contains(parameter)) fail(entry, "", it + "has no value of '" + parameter + "'");
      trial.configuration.set(parameter, json_value(entry[parameter]));
    }
    // Some files have a failure in place of the time even if the objective is another. A time there has another unit.
    const std::string measured = entry.contains(name) ? name : "time";
    const json& result = member(entry, measured);
    if (const std::string why = text_or_empty(entry, "__error__"); !why.empty()) {
      trial.kind = failure(why);
    } else if (!entry.contains(measured) || (result.is_number() && measured != name)) {
      fail(entry, "", it + "has no '" + name + "'");
    } else if (result.is_number()) {
      trial.objective = objective(entry, measured, name, rate, fail);
    } else if (result.is_string() || result.is_null()) {
      trial.kind = failure(text_or_empty(entry, measured));
    } else {
      fail(entry, measured, '\'' + measured + "' is neither a number nor the name of a failure");
    }
    // The strategy's own time is left out: replays account for their own.
    for (const char* part : {"compile_time", "verification_time", "benchmark_time", "framework_time"})
      trial.eval_seconds += 1e-3 * time_or(entry, part, 0, fail);
  }
  return make_recorded_space(file.origin(), trials, name == "time" ? "ms" : rate ? "1 / (" + name + ")" : name);
}

// T4.

/// Seconds in a unit of `metadata.timeunit`. Milliseconds are the default, and may be misspelt.
double seconds_a_unit(const json& file) {
  const std::string word = text_or_empty(member(file, "metadata"), "timeunit");
  if (word.starts_with("mic") || word == "us") return 1e-6;
  if (word.starts_with("nan") || word == "ns") return 1e-9;
  return word.starts_with("s") ? 1 : 1e-3;
}

/// Time for compiling, running, checking and overhead, without the search's own.
double eval_time(const json& times, const Fail& fail) {
  double sum = 0;
  for (const char* part : {"compilation", "compilation_time", "framework", "validation"})
    sum += time_or(times, part, 0, fail);
  if (!member(times, "benchmark").is_null()) return sum + time_or(times, "benchmark", 0, fail);
  for (const json& run : member(times, "runtimes"))
    if (run.is_number()) {
      if (run.get<double>() < 0) fail(times, "runtimes", "a time in 'runtimes' is negative");
      sum += run.get<double>();
    }
  return sum;
}

OutcomeKind outcome(const json& result, const Fail& fail) {
  const json& word = member(result, "invalidity");
  if (word.is_null()) return number_or(result, "correctness", 1, fail) > 0 ? OutcomeKind::ok : OutcomeKind::wrong;
  const std::string text = word.is_string() ? word.get<std::string>() : word.dump();
  if (text == "correct" || text.empty()) return OutcomeKind::ok;
  if (text == "compile") return OutcomeKind::compile;
  if (text == "runtime") return OutcomeKind::launch;
  if (text == "timeout") return OutcomeKind::timeout;
  if (text == "correctness") return OutcomeKind::wrong;
  if (text != "constraints") fail(result, "invalidity", "unknown invalidity '" + text + "'");
  return OutcomeKind::invalid;
}

/// The first measurement of the first objective. \p name: set to that of the objective.
double first_measurement(const json& result, std::string& name, const Fail& fail) {
  const json& objectives = member(result, "objectives");
  const bool named = objectives.is_array() && !objectives.empty() && objectives.front().is_string();
  const std::string wanted = named ? objectives.front().get<std::string>() : "";
  const json& measurements = member(result, "measurements");
  if (measurements.is_array())
    for (const json& measurement : measurements) {
      name = text_or_empty(measurement, "name");
      if (!wanted.empty() && name != wanted) continue;
      if (!member(measurement, "value").is_number())
        fail(measurement, "value", "a correct result whose measurement has no number as its \"value\"");
      return objective(measurement, "value", name, is_rate(name), fail);
    }
  fail(result, "measurements",
       "a correct result without a measurement of its objective" + (named ? " '" + wanted + '\'' : ""));
  return 0;
}

RecordedSpace parse_t4(const JsonFile& file) {
  const json& results = member(file.root(), "results");
  if (!results.is_array()) file.fail(file.root(), "results", "there is no list \"results\"");
  if (results.empty()) file.fail(results, "", "the list of results is empty");
  const double unit = seconds_a_unit(file.root());
  std::string name;  // of the objective
  std::vector<RecordedTrial> trials;
  for (const json& result : results) {
    RecordedTrial& trial = trials.emplace_back();
    const Fail fail = [&](const auto& object, const auto& key, const auto& complaint) {
      file.fail(object, key, "result " + std::to_string(trials.size()) + ": " + complaint);
    };
    const json& configuration = member(result, "configuration");
    if (!configuration.is_object()) fail(result, "configuration", "there is no object \"configuration\"");
    for (const auto& [parameter, value] : configuration.items()) trial.configuration.set(parameter, json_value(value));
    trial.kind = outcome(result, fail);
    if (trial.kind == OutcomeKind::ok) trial.objective = first_measurement(result, name, fail);
    if (member(result, "times").is_object()) trial.eval_seconds = eval_time(result["times"], fail) * unit;
  }
  return make_recorded_space(file.origin(), trials, is_rate(name) ? "1 / (" + name + ")" : "ms");
}

}  // namespace

RecordedSpace parse_json(std::string_view text, const std::string& origin) {
  const JsonFile file(text, origin);
  if (file.root().contains("results")) return parse_t4(file);
  if (file.root().contains("cache")) return parse_kernel_tuner(file);
  throw RecordedSpaceError(origin + ":1:1: JSON with neither \"cache\" (a Kernel Tuner cache) nor \"results\" (T4)");
}

}  // namespace tuner::replay
