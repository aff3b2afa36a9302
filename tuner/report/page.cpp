#include <tuner/report/page.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/sha256.hpp>

#include <tuner/core/configuration.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/report/page_files.hpp>

namespace tuner::report {
namespace {

using Json = nlohmann::ordered_json;

/// Reasons that are told apart, and how much of each is shown.
constexpr std::size_t kMostReasons = 60;
constexpr std::size_t kLongestReason = 240;
/// Finalists that are listed, and how many where none was measured again.
constexpr std::size_t kMostFinalists = 24;
constexpr std::size_t kMostLeaders = 8;

/// Six digits are more than any measurement has.
Json number(double value, int digits = 6) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::fabs(value) < 1e15) return static_cast<std::int64_t>(value);
  const std::string text = fmt::format("{:.{}g}", value, digits);
  double shorter = value;
  std::from_chars(text.data(), text.data() + text.size(), shorter);
  return shorter;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string shown(std::string_view text, std::size_t longest = 4000) {
  std::string out = printable(text);
  if (out.size() <= longest) return out;
  while (longest > 0 && (static_cast<unsigned char>(out[longest]) & 0xC0) == 0x80) --longest;  // whole characters
  return out.substr(0, longest) + "...";
}

/// A list in which equal things stand once.
class Shared {
 public:
  std::size_t place(const Json& one) {
    const auto [at, is_new] =
        places_.try_emplace(one.dump(-1, ' ', false, Json::error_handler_t::replace), list_.size());
    if (is_new) list_.push_back(one);
    return at->second;
  }
  const Json& list() const { return list_; }

 private:
  Json list_ = Json::array();
  std::map<std::string, std::size_t> places_;
};

/// A message with its numbers taken out: what failures of one kind have in common.
std::string pattern_of(std::string_view message) {
  std::string pattern;
  for (const char c : first_line(message)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      pattern += c;
    else if (pattern.empty() || pattern.back() != '#')
      pattern += '#';
  }
  return pattern;
}

/// The parameters of all trials: names, the values that occur, and the place of each row's value among them.
Json json_parameters(const std::vector<PlacedTrial>& trials) {
  std::map<std::string, std::set<Value>> values;
  std::vector<Configuration> configurations;
  for (const PlacedTrial& placed : trials) {
    Configuration configuration;
    try {
      configuration = Configuration::parse(placed.trial.configuration);
    } catch (const std::invalid_argument&) {
      configuration.set("configuration", Value(placed.trial.configuration));  // of a version to come
    }
    for (const auto& [name, value] : configuration.entries()) values[name].insert(value);
    configurations.push_back(std::move(configuration));
  }
  Json parameters = Json::array();
  for (const auto& [name, all] : values) {
    Json list = Json::array();
    std::map<Value, std::size_t> place;
    for (const Value& value : all) {
      place.emplace(value, list.size());
      if (value.is_integer() && std::abs(value.integer()) < (std::int64_t{1} << 53)) {
        list.push_back(value.integer());
      } else {
        list.push_back(shown(value.text(), kLongestReason));
      }
    }
    Json places = Json::array();
    bool is_missing = false;
    for (const Configuration& configuration : configurations) {
      const Value* value = configuration.find(name);
      is_missing = is_missing || value == nullptr;
      places.push_back(value ? place.at(*value) : place.size());
    }
    if (is_missing) list.push_back("");
    parameters.push_back(
        {{"name", shown(name, kLongestReason)}, {"values", std::move(list)}, {"places", std::move(places)}});
  }
  return parameters;
}

/// `v` verified, `t` throttled, `u` did not converge, `a` given up early, `r` measured again as a finalist.
std::string marks_of(const PlacedTrial& placed) {
  std::string marks;
  const cache::TrialRecord& trial = placed.trial;
  if (trial.verified) marks += 'v';
  if (trial.throttled) marks += 't';
  if (trial.kind == "ok" && !trial.converged) marks += 'u';
  if (trial.abandoned) marks += 'a';
  if (placed.again) marks += 'r';
  return marks;
}

/// What became of each trial: kind, marks and reason, of which few combinations occur.
Json json_states(const std::vector<PlacedTrial>& trials) {
  std::map<std::string, std::string> examples;  // the first message of each pattern
  Shared states;
  Json places = Json::array();
  for (const PlacedTrial& placed : trials) {
    const cache::TrialRecord& trial = placed.trial;
    std::string pattern, reason;
    if (trial.kind != "ok") {
      pattern = trial.kind + ' ' + pattern_of(trial.message);
      if (examples.size() >= kMostReasons && !examples.count(pattern)) pattern = "other";
      reason = examples
                   .try_emplace(pattern, pattern == "other" ? "(another reason)"
                                                            : shown(first_line(trial.message), kLongestReason))
                   .first->second;
    }
    places.push_back(states.place({shown(trial.kind), marks_of(placed), reason}));
  }
  return {{"words", states.list()}, {"places", std::move(places)}};
}

struct NumberSource {
  std::string name;
  std::function<std::optional<double>(const PlacedTrial&)> value;
  int digits = 5;  ///< that are kept, so that a page stays small
};

std::optional<double> positive(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

double seconds_spent(const cache::TrialRecord& trial) {
  double sum = 0;
  for (const auto& [part, seconds] : trial.times_s) sum += part == "wait" ? 0 : seconds;
  return sum;
}

std::vector<NumberSource> number_sources(const std::vector<PlacedTrial>& trials) {
  const auto measured = [](auto field) {
    return [field](const PlacedTrial& placed) -> std::optional<double> {
      return placed.trial.kind == "ok" ? std::optional(static_cast<double>(field(placed.trial))) : std::nullopt;
    };
  };
  const auto used = [](auto field) {
    return [field](const PlacedTrial& placed) -> std::optional<double> {
      return placed.trial.resources ? std::optional(static_cast<double>(field(*placed.trial.resources))) : std::nullopt;
    };
  };
  using Trial = cache::TrialRecord;
  using Used = cache::ResourceRecord;
  std::vector<NumberSource> all{
      {"at_s", [](const PlacedTrial& placed) { return std::optional(placed.at_s); }},
      {"median_ns", measured([](const Trial& t) { return t.median_ns; })},
      {"half_width", measured([](const Trial& t) { return (t.high_ns - t.low_ns) / 2 / t.median_ns; }), 3},
      {"samples", measured([](const Trial& t) { return t.samples_ns.size(); })},
      {"registers", used([](const Used& r) { return r.registers; })},
      {"spill_bytes", used([](const Used& r) { return r.spill_bytes; })},
      {"shared_bytes", used([](const Used& r) { return r.static_shared_bytes; })},
      {"blocks_per_sm", used([](const Used& r) { return r.blocks_per_sm; })},
      {"occupancy", used([](const Used& r) { return r.occupancy; })},
      {"clock_mhz", [](const PlacedTrial& placed) { return positive(placed.trial.clock_mhz); }, 4},
      {"seconds", [](const PlacedTrial& placed) { return positive(seconds_spent(placed.trial)); }},
  };
  std::set<std::string> metrics;
  for (const PlacedTrial& placed : trials)
    for (const auto& [name, value] : placed.trial.metrics) metrics.insert(name);
  for (const std::string& name : metrics)
    all.push_back({"metric " + name, [name](const PlacedTrial& placed) -> std::optional<double> {
                     const auto at = placed.trial.metrics.find(name);
                     return at == placed.trial.metrics.end() ? std::nullopt : std::optional(at->second);
                   }});
  return all;
}

/// Columns of numbers, null where a row has none; those without any number are left out.
Json json_columns(const std::vector<PlacedTrial>& trials) {
  Json columns = Json::array();
  for (const NumberSource& source : number_sources(trials)) {
    Json numbers = Json::array();
    for (const PlacedTrial& placed : trials) {
      const std::optional<double> value = source.value(placed);
      numbers.push_back(value ? number(*value, source.digits) : nullptr);
    }
    if (std::all_of(numbers.begin(), numbers.end(), [](const Json& one) { return one.is_null(); })) continue;
    columns.push_back({{"name", shown(source.name, kLongestReason)}, {"numbers", std::move(numbers)}});
  }
  return columns;
}

/// What a trial is judged by; nothing when it cannot win.
std::optional<double> objective_of(const cache::TrialRecord& trial, const std::string& objective) {
  if (trial.kind != "ok" || !trial.verified) return std::nullopt;
  return Objective{objective}(trial.median_ns, trial.metrics);
}

/// The rows that were measured side by side in the end, or else the best ones; the best first.
std::vector<std::size_t> finalists(const Tuning& tuning) {
  std::map<std::string_view, std::size_t> latest;
  bool any_again = false;
  for (const PlacedTrial& placed : tuning.trials) any_again = any_again || placed.again;
  for (std::size_t i = 0; i < tuning.trials.size(); ++i)
    if (tuning.trials[i].again == any_again && objective_of(tuning.trials[i].trial, tuning.key.kernel.objective))
      latest[tuning.trials[i].trial.configuration] = i;
  std::vector<std::pair<double, std::size_t>> order;
  for (const auto& [configuration, i] : latest)
    order.emplace_back(*objective_of(tuning.trials[i].trial, tuning.key.kernel.objective), i);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), any_again ? kMostFinalists : kMostLeaders));
  std::vector<std::size_t> rows;
  for (const auto& [value, i] : order) rows.push_back(i);
  return rows;
}

Json json_trials(const Tuning& tuning) {
  const std::vector<PlacedTrial>& trials = tuning.trials;
  Json json{{"count", trials.size()}};
  json["parameters"] = json_parameters(trials);
  json["states"] = json_states(trials);
  json["columns"] = json_columns(trials);
  json["finalists"] = Json::array();
  for (const std::size_t row : finalists(tuning)) {
    const cache::TrialRecord& trial = trials[row].trial;
    json["finalists"].push_back({{"row", row},
                                 {"median_ns", number(trial.median_ns)},
                                 {"low_ns", number(trial.low_ns)},
                                 {"high_ns", number(trial.high_ns)},
                                 {"samples", trial.samples_ns.size()},
                                 {"again", trials[row].again}});
  }
  return json;
}

Json json_device(const cache::DeviceRecord& device) {
  Json json{{"key", shown(device.key)},         {"name", shown(device.name.empty() ? device.key : device.name)},
            {"backend", shown(device.backend)}, {"compute_capability", device.compute_capability},
            {"sm_count", device.sm_count},      {"l2_bytes", device.l2_bytes}};
  const Json seen = Json::parse(device.properties, nullptr, false);
  for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"})
    if (const auto at = seen.find(name); at != seen.end() && at->is_number() && at->get<double>() > 0)
      json[name] = number(at->get<double>());
  return json;
}

/// Texts that many results have in common.
class Texts {
 public:
  std::size_t place(std::string_view text) { return list_.place(shown(text)); }
  const Json& list() const { return list_.list(); }

 private:
  Shared list_;
};

Json json_served(const cache::WisdomMatch& match, const std::optional<cache::BestRecord>& best, Texts& texts) {
  Json json{{"tier", texts.place(cache::name(match.tier))},
            {"reason", texts.place(match.reason)},
            {"database", texts.place(match.database)}};
  if (match.shipped) json["shipped"] = true;
  if (match.best && (!best || match.best->configuration != best->configuration))
    json["configuration"] = shown(match.best->configuration);
  return json;
}

Json json_verdict(const Verdict& verdict) {
  const auto list = [](const std::vector<std::string>& texts) {
    Json all = Json::array();
    for (const std::string& text : texts) all.push_back(shown(text));
    return all;
  };
  return {{"limit", verdict.limit == Limit::unknown ? "" : name(verdict.limit)},
          {"reason", shown(verdict.reason)},
          {"counted", verdict.counted},
          {"numbers", list(verdict.numbers)},
          {"remarks", list(verdict.remarks)}};
}

Json json_sessions(const std::vector<cache::SessionRecord>& sessions) {
  Json list = Json::array();
  for (const cache::SessionRecord& one : sessions)
    list.push_back({{"strategy", shown(one.strategy)},
                    {"seed", std::to_string(one.seed)},
                    {"origin", shown(one.origin)},
                    {"started", one.started_ms},
                    {"finished", one.finished_ms ? Json(*one.finished_ms) : Json(nullptr)},
                    {"trials", one.trials}});
  return list;
}

Json json_tuning(const Tuning& tuning, Shared& kernels, Shared& devices, Shared& environments, Texts& texts) {
  const cache::SessionKey& key = tuning.key;
  const cache::EnvironmentRecord& software = key.environment;
  const Objective objective{key.kernel.objective};
  Json json{{"kernel", kernels.place({{"name", shown(key.kernel.name)},
                                      {"source", key.kernel.source_hash.substr(0, 12)},
                                      {"objective", shown(key.kernel.objective)},
                                      {"metric", shown(objective.metric())},
                                      {"is_larger_better", objective.is_larger_better()},
                                      {"is_time", objective.is_time()}})},
            {"device", devices.place(json_device(key.device))},
            {"environment", environments.place({{"driver", shown(software.driver)},
                                                {"compiler", shown(software.compiler)},
                                                {"tuner", shown(software.tuner)},
                                                {"os", shown(software.os)}})},
            {"choices", texts.place(key.problem.choices)},
            {"sizes", shown(cache::sizes_text(key.problem.sizes))},
            {"database", texts.place(tuning.database)}};
  if (!key.conditions.empty()) json["conditions"] = texts.place(key.conditions);
  if (tuning.best) {
    const cache::BestRecord& best = *tuning.best;
    json["best"] = {{"text", shown(best.configuration)}, {"median_ns", number(best.median_ns)},
                    {"low_ns", number(best.low_ns)},     {"high_ns", number(best.high_ns)},
                    {"samples", best.samples},           {"measured", best.measured_ms}};
    const Json conditions = Json::parse(key.conditions, nullptr, false);
    if (conditions.is_object() && conditions.contains("reference") && conditions["reference"].is_string())
      json["best"]["reference"] = shown(conditions["reference"].get<std::string>());
    for (std::size_t i = tuning.trials.size(); i-- > 0;)
      if (tuning.trials[i].trial.configuration == best.configuration && tuning.trials[i].trial.kind == "ok") {
        json["best"]["row"] = i;
        break;
      }
  }
  json["served"] = json_served(tuning.served, tuning.best, texts);
  const Amounts& amounts = tuning.amounts;
  if (amounts.bytes) json["bytes"] = number(*amounts.bytes), json["written"] = number(amounts.written);
  if (amounts.flops) json["flops"] = number(*amounts.flops);
  if (amounts.arithmetic_ceiling > 0) json["arithmetic_ceiling"] = number(amounts.arithmetic_ceiling);
  if (tuning.verdict) json["verdict"] = json_verdict(*tuning.verdict);
  if (!amounts.default_configuration.empty()) {
    json["default"] = shown(amounts.default_configuration);
    for (std::size_t i = tuning.trials.size(); i-- > 0;)
      if (tuning.trials[i].trial.configuration == amounts.default_configuration &&
          tuning.trials[i].trial.kind == "ok") {
        json["default_ns"] = number(tuning.trials[i].trial.median_ns);
        break;
      }
  }
  if (!tuning.quarantined.empty()) {
    json["quarantined"] = Json::array();
    for (const cache::QuarantineRecord& one : tuning.quarantined)
      json["quarantined"].push_back({shown(one.configuration), shown(one.reason, kLongestReason)});
  }
  if (!tuning.sessions.empty()) json["sessions"] = json_sessions(tuning.sessions);
  if (!tuning.trials.empty()) json["trials"] = json_trials(tuning);
  return json;
}

std::string json_text(std::span<const Tuning> tunings, const PageOptions& options) {
  Shared kernels, devices, environments;
  Texts texts;
  Json list = Json::array();
  for (const Tuning& tuning : tunings) list.push_back(json_tuning(tuning, kernels, devices, environments, texts));
  Json databases = Json::array();
  for (const std::string& one : options.databases) databases.push_back(shown(one));
  Json json{{"tuner", options.tuner},    {"made", options.made_ms},   {"databases", std::move(databases)},
            {"kernels", kernels.list()}, {"devices", devices.list()}, {"environments", environments.list()},
            {"texts", texts.list()},     {"tunings", std::move(list)}};
  if (options.live) {
    json["live"] = {{"every_ms", options.live->every.count()},
                    {"finished", options.live->finished},
                    {"remaining_s", number(options.live->remaining_s)}};
    if (options.live->planned) json["live"]["planned"] = *options.live->planned;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view part = bytes.substr(i, 3);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < part.size() ? static_cast<unsigned char>(part[k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= part.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// As the browser's DecompressionStream("deflate") reads it.
std::string deflated(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size());
  out.resize(size);
  return out;
}

/// What a Content-Security-Policy knows \p text by.
std::string source_of(std::string_view text) {
  const std::string hex = cache::sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

std::string file_text(std::string_view name) {
  for (const PageFile& file : page_files())
    if (file.name == name) return std::string(file.text);
  throw std::logic_error("report: no embedded file " + std::string(name));
}

/// Without indentation and lines of comment: readers of the sources have those.
std::string slimmed(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line.starts_with("//")) continue;
    out += line;
    out += '\n';
  }
  return out;
}

std::string all_scripts() {
  std::string text = "\"use strict\";\n";
  for (const PageFile& file : page_files())
    if (file.name.ends_with(".js")) text += slimmed(file.text);
  return text;
}

}  // namespace

std::string page(std::span<const Tuning> tunings, const PageOptions& options) {
  const std::string style = slimmed(file_text("page.css")), script = all_scripts(), frame = file_text("page.html");
  const std::string policy =
      fmt::format("default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                  source_of(script), source_of(style));
  const std::map<std::string_view, std::string> parts{{"policy", policy},
                                                      {"style", style},
                                                      {"script", script},
                                                      {"data", base64(deflated(json_text(tunings, options)))}};
  // One pass: nothing that is put in is looked at again.
  std::string out;
  std::string_view rest = frame;
  for (;;) {
    const std::size_t begin = rest.find("{{");
    out += rest.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const std::size_t end = rest.find("}}", begin);
    out += parts.at(rest.substr(begin + 2, end - begin - 2));
    rest.remove_prefix(end + 2);
  }
}

}  // namespace tuner::report
