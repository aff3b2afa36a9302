#include <tuner/report/page.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <regex>
#include <stdexcept>

#include <zlib.h>

#include <fmt/format.h>

#include <cache/records/json.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/report/page_files.hpp>

namespace tuner::report {
namespace {

/// The most different reasons of failures, and the most bytes of each, that are shown.
constexpr std::size_t kMostReasons = 60;
constexpr std::size_t kLongestReason = 240;
/// The most finalists that are listed, and the most leaders if none was measured again.
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

std::string shown(std::string_view text, std::size_t longest = 4000) {
  std::string out = printable(text);
  if (out.size() <= longest) return out;
  while (longest > 0 && (static_cast<unsigned char>(out[longest]) & 0xC0) == 0x80) --longest;  // whole characters
  return out.substr(0, longest) + "...";
}

Json texts(const std::vector<std::string>& all) {
  Json list = Json::array();
  for (const std::string& text : all) list.push_back(shown(text));
  return list;
}

/// An integer that JavaScript holds exactly, or a text.
Json json_value(const Value& value) {
  if (value.is_integer() && std::abs(value.integer()) < (std::int64_t{1} << 53)) return value.integer();
  return shown(value.text(), kLongestReason);
}

Configuration configuration_of(const cache::TrialRecord& trial) try {
  return Configuration::parse(trial.configuration);
} catch (const std::invalid_argument&) {  // of a later version
  return {{"configuration", trial.configuration}};
}

/// The parameters of all trials: names, and the value in each row, "" where a row has none.
Json json_parameters(const std::vector<PlacedTrial>& trials) {
  std::map<std::string, Json> columns;
  for (std::size_t row = 0; row < trials.size(); ++row) {
    const Configuration configuration = configuration_of(trials[row].trial);
    for (const auto& [name, value] : configuration.entries()) {
      Json& values = columns[name];
      if (values.is_null()) values = Json(trials.size(), "");
      values[row] = json_value(value);
    }
  }
  Json parameters = Json::array();
  for (auto& [name, values] : columns)
    parameters.push_back({{"name", shown(name, kLongestReason)}, {"rows", std::move(values)}});
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

/// The outcome of each trial: kind, marks and reason. Reasons that differ only in numbers become the first of them.
Json json_states(const std::vector<PlacedTrial>& trials) {
  static const std::regex digits("[0-9]+");
  std::map<std::string, std::string> examples;  // by pattern
  Json states = Json::array();
  for (const PlacedTrial& placed : trials) {
    const cache::TrialRecord& trial = placed.trial;
    std::string reason;
    if (trial.kind != "ok") {
      reason = shown(first_line(trial.message), kLongestReason);
      std::string pattern = trial.kind + ' ' + std::regex_replace(reason, digits, "#");
      if (examples.size() >= kMostReasons && !examples.count(pattern)) pattern = reason = "(another reason)";
      reason = examples.try_emplace(pattern, reason).first->second;
    }
    states.push_back({shown(trial.kind), marks_of(placed), reason});
  }
  return states;
}

double seconds_spent(const cache::TrialRecord& trial) {
  double sum = 0;
  for (const auto& [part, seconds] : trial.times_s) sum += part == "wait" ? 0 : seconds;
  return sum;
}

/// Columns of numbers by name, null where a row has none. Leaves out columns without any number.
Json json_columns(const std::vector<PlacedTrial>& trials) {
  Json columns = Json::object();
  for (std::size_t row = 0; row < trials.size(); ++row) {
    const auto put = [&](const std::string& name, auto value, int digits = 5) {  // few, so that a page stays small
      const Json rounded = number(static_cast<double>(value), digits);
      if (rounded.is_null()) return;
      Json& numbers = columns[name];
      if (numbers.is_null()) numbers = Json(trials.size(), nullptr);
      numbers[row] = rounded;
    };
    const cache::TrialRecord& trial = trials[row].trial;
    put("at_s", trials[row].at_s);
    if (trial.kind == "ok") {
      put("median_ns", trial.median_ns);
      put("half_width", (trial.high_ns - trial.low_ns) / 2 / trial.median_ns, 3);
      put("samples", trial.samples_ns.size());
    }
    if (trial.resources) {
      put("registers", trial.resources->registers);
      put("spill_bytes", trial.resources->spill_bytes);
      put("shared_bytes", trial.resources->static_shared_bytes);
      put("blocks_per_sm", trial.resources->blocks_per_sm);
      put("occupancy", trial.resources->occupancy);
    }
    if (trial.clock_mhz > 0) put("clock_mhz", trial.clock_mhz, 4);
    if (const double seconds = seconds_spent(trial); seconds > 0) put("seconds", seconds);
    for (const auto& [name, value] : trial.metrics) put("metric " + shown(name, kLongestReason), value);
  }
  return columns;
}

/// The objective of a trial; nullopt when the trial cannot win.
std::optional<double> objective_of(const cache::TrialRecord& trial, const std::string& objective) {
  if (trial.kind != "ok" || !trial.verified) return std::nullopt;
  return Objective{objective}(trial.median_ns, trial.metrics);
}

/// The row of the last measurement of \p configuration.
std::optional<std::size_t> row_of(const Tuning& tuning, const std::string& configuration) {
  for (std::size_t i = tuning.trials.size(); i-- > 0;)
    if (tuning.trials[i].trial.configuration == configuration && tuning.trials[i].trial.kind == "ok") return i;
  return std::nullopt;
}

/// The rows that were measured side by side at the end, or the best ones if there are none. The best comes first.
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
  Json list = Json::array();
  for (const std::size_t row : finalists(tuning)) {
    const cache::TrialRecord& trial = trials[row].trial;
    list.push_back({{"row", row},
                    {"median_ns", number(trial.median_ns)},
                    {"low_ns", number(trial.low_ns)},
                    {"high_ns", number(trial.high_ns)},
                    {"samples", trial.samples_ns.size()},
                    {"again", trials[row].again}});
  }
  return {{"count", trials.size()},
          {"parameters", json_parameters(trials)},
          {"states", json_states(trials)},
          {"columns", json_columns(trials)},
          {"finalists", std::move(list)}};
}

Json json_device(const cache::DeviceRecord& device) {
  Json json{{"key", shown(device.key)}, {"name", shown(device.name.empty() ? device.key : device.name)}};
  const Json seen = json_or_discarded(device.properties);
  for (const char* name : {"copy_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s", "launch_ns"})
    if (const auto at = seen.find(name); at != seen.end() && at->is_number() && at->get<double>() > 0)
      json[name] = number(at->get<double>());
  return json;
}

Json json_best(const Tuning& tuning) {
  const cache::BestRecord& best = *tuning.best;
  Json json{{"text", shown(best.configuration)}, {"median_ns", number(best.median_ns)},
            {"low_ns", number(best.low_ns)},     {"high_ns", number(best.high_ns)},
            {"samples", best.samples},           {"measured", best.measured_ms}};
  const Json conditions = json_or_discarded(tuning.key.conditions);
  if (conditions.is_object() && conditions.contains("reference") && conditions["reference"].is_string())
    json["reference"] = shown(conditions["reference"].get<std::string>());
  if (!best.checked.empty()) json["checked"] = shown(best.checked);
  if (!best.target.empty()) json["target"] = shown(best.target);
  if (!best.effort.empty()) json["effort"] = shown(best.effort);
  if (const auto row = row_of(tuning, best.configuration)) json["row"] = *row;
  return json;
}

Json json_served(const Tuning& tuning) {
  const cache::WisdomMatch& match = tuning.served;
  Json json{{"tier", cache::name(match.tier)}, {"reason", shown(match.reason)}, {"database", shown(match.database)}};
  if (match.shipped) json["shipped"] = true;
  if (match.best && (!tuning.best || match.best->configuration != tuning.best->configuration))
    json["configuration"] = shown(match.best->configuration);
  return json;
}

Json json_verdict(const Verdict& verdict) {
  return {{"limit", verdict.limit == Limit::unknown ? "" : name(verdict.limit)},
          {"reason", shown(verdict.reason)},
          {"counted", verdict.counted},
          {"numbers", texts(verdict.numbers)},
          {"remarks", texts(verdict.remarks)}};
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

Json json_tuning(const Tuning& tuning) {
  const cache::SessionKey& key = tuning.key;
  const cache::EnvironmentRecord& software = key.environment;
  const Objective objective{key.kernel.objective};
  const Amounts& amounts = tuning.amounts;
  Json json{{"kernel",
             {{"name", shown(key.kernel.name)},
              {"source", key.kernel.source_hash.substr(0, 12)},
              {"objective", shown(key.kernel.objective)},
              {"metric", shown(objective.metric())},
              {"is_larger_better", objective.is_larger_better()},
              {"is_time", objective.is_time()}}},
            {"device", json_device(key.device)},
            {"environment",
             {{"driver", shown(software.driver)},
              {"compiler", shown(software.compiler)},
              {"tuner", shown(software.tuner)},
              {"os", shown(software.os)}}},
            {"choices", shown(key.problem.choices)},
            {"sizes", shown(cache::sizes_text(key.problem.sizes))},
            {"conditions", shown(key.conditions)},
            {"database", shown(tuning.database)},
            {"sessions", json_sessions(tuning.sessions)},
            {"served", json_served(tuning)}};
  if (tuning.best) json["best"] = json_best(tuning);
  if (amounts.bytes) json["bytes"] = number(*amounts.bytes), json["written"] = number(amounts.written);
  if (amounts.flops) json["flops"] = number(*amounts.flops);
  if (amounts.arithmetic_ceiling > 0) json["arithmetic_ceiling"] = number(amounts.arithmetic_ceiling);
  if (tuning.verdict) json["verdict"] = json_verdict(*tuning.verdict);
  if (!amounts.default_configuration.empty()) json["default"] = shown(amounts.default_configuration);
  for (const cache::QuarantineRecord& one : tuning.quarantined)
    json["quarantined"].push_back({shown(one.configuration), shown(one.reason, kLongestReason)});
  if (!tuning.trials.empty()) json["trials"] = json_trials(tuning);
  return json;
}

std::string json_text(std::span<const Tuning> tunings, const PageOptions& options) {
  Json json{{"tuner", options.tuner},
            {"made", options.made_ms},
            {"databases", texts(options.databases)},
            {"tunings", Json::array()}};
  for (const Tuning& tuning : tunings) json["tunings"].push_back(json_tuning(tuning));
  return text_of_json(json);
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

/// Compresses \p text for the browser's DecompressionStream("deflate").
std::string deflate_text(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size());
  out.resize(size);
  return out;
}

/// The source expression that allows \p text in a Content-Security-Policy.
std::string source_of(std::string_view text) {
  const std::string hex = cache::sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace

std::string page(std::span<const Tuning> tunings, const PageOptions& options) {
  std::string frame, style, script = "\"use strict\";\n";
  for (const PageFile& file : page_files())
    (file.name.ends_with(".js") ? script : file.name.ends_with(".css") ? style : frame) += file.text;
  const std::string policy =
      fmt::format("default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                  source_of(script), source_of(style));
  return fmt::format(fmt::runtime(frame), fmt::arg("policy", policy), fmt::arg("style", style),
                     fmt::arg("script", script), fmt::arg("data", base64(deflate_text(json_text(tunings, options)))));
}

}  // namespace tuner::report
