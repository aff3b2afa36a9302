// The text form of entries: JSON lines, see cache/README.md.

#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/entries.hpp>
#include <cache/record_checks.hpp>
#include <cache/stamps.hpp>

namespace tuner::cache {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kFormat = 1;

// ---- writing -------------------------------------------------------------------------------------------------------

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json header(const DeviceRecord& d, const EnvironmentRecord& e) {
  auto properties = ordered_json::parse(d.properties, nullptr, false);
  if (!properties.is_object()) properties = ordered_json::object();
  ordered_json device = {{"key", d.key},
                         {"name", d.name},
                         {"backend", d.backend},
                         {"compute_capability", d.compute_capability},
                         {"sm_count", d.sm_count},
                         {"l2_bytes", d.l2_bytes},
                         {"memory_bus_bits", d.memory_bus_bits},
                         {"max_shared_bytes", d.max_shared_bytes},
                         {"registers_per_sm", d.registers_per_sm},
                         {"properties", properties}};
  ordered_json environment = {{"driver", e.driver}, {"compiler", e.compiler}, {"tuner", e.tuner}, {"os", e.os}};
  return {{"tuner_wisdom", kFormat}, {"device", device}, {"environment", environment}};
}

void write_identity(ordered_json& line, const KernelRecord& k, const ProblemRecord& p) {
  line["kernel"] = k.name;
  line["source"] = k.source_hash;
  line["objective"] = k.objective;
  line["choices"] = p.choices;
  line["sizes"] = sizes_text(p.sizes);
}

ordered_json numbers(const std::map<std::string, double>& values) {
  auto object = ordered_json::object();
  for (const auto& [name, value] : values) object[name] = number(value);
  return object;
}

ordered_json line_of(const BestRecord& b) {
  ordered_json line;
  write_identity(line, b.kernel, b.problem);
  line["configuration"] = b.configuration;
  line["median_ns"] = number(b.median_ns);
  line["low_ns"] = number(b.low_ns);
  line["high_ns"] = number(b.high_ns);
  line["noise"] = number(b.relative_noise);
  line["samples"] = b.samples;
  line["measured"] = instant_text(b.measured_ms);
  return line;
}

ordered_json line_of(const SessionRecord& s) {
  ordered_json line;
  line["session"] = s.uuid;
  write_identity(line, s.key.kernel, s.key.problem);
  line["conditions"] = s.key.conditions;
  line["strategy"] = s.strategy;
  line["seed"] = s.seed;
  line["origin"] = s.origin;
  line["started"] = instant_text(s.started_ms);
  line["finished"] = s.finished_ms ? ordered_json(instant_text(*s.finished_ms)) : ordered_json(nullptr);
  return line;
}

ordered_json line_of(const StoredTrial& stored) {
  const auto& t = stored.trial;
  ordered_json line;
  line["trial"] = stored.seq;
  line["of"] = stored.session;
  line["configuration"] = t.configuration;
  line["kind"] = t.kind;
  if (!t.message.empty()) line["message"] = t.message;
  if (!t.log.empty()) line["log"] = t.log;
  line["median_ns"] = number(t.median_ns);
  line["low_ns"] = number(t.low_ns);
  line["high_ns"] = number(t.high_ns);
  line["noise"] = number(t.relative_noise);
  line["cold"] = t.cold;
  line["throttled"] = t.throttled;
  line["converged"] = t.converged;
  line["abandoned"] = t.abandoned;
  line["verified"] = t.verified;
  line["clock_mhz"] = number(t.clock_mhz);
  line["metrics"] = numbers(t.metrics);
  line["times_s"] = numbers(t.times_s);
  if (t.resources) {
    const auto& r = *t.resources;
    line["resources"] = {{"registers", r.registers},           {"spill_bytes", r.spill_bytes},
                         {"stack_bytes", r.stack_bytes},       {"static_shared_bytes", r.static_shared_bytes},
                         {"constant_bytes", r.constant_bytes}, {"blocks_per_sm", r.blocks_per_sm},
                         {"occupancy", number(r.occupancy)}};
  }
  auto samples = ordered_json::array();
  for (const double sample : t.samples_ns) samples.push_back(number(sample));
  line["samples_ns"] = std::move(samples);
  line["created"] = instant_text(t.created_ms);
  return line;
}

ordered_json line_of(const QuarantineRecord& q) {
  ordered_json line;
  line["quarantined"] = q.configuration;
  line["device_key"] = q.device_key;
  line["kernel"] = q.kernel.name;
  line["source"] = q.kernel.source_hash;
  line["objective"] = q.kernel.objective;
  line["reason"] = q.reason;
  line["created"] = instant_text(q.created_ms);
  return line;
}

// ---- reading -------------------------------------------------------------------------------------------------------

/// One line being read: typed access to its members with errors that name the line.
class Line {
 public:
  Line(const json& object, const std::string& source, int number) : object_(object), source_(source), number_(number) {
    if (!object.is_object()) fail("not a JSON object");
  }
  [[noreturn]] void fail(const std::string& message) const { throw ImportError(source_, number_, message); }
  void require(const std::optional<std::string>& problem) const {
    if (problem) fail(*problem);
  }
  bool has(const char* name) const { return object_.contains(name); }
  bool is_null(const char* name) const { return !has(name) || object_.find(name)->is_null(); }

  std::string text(const char* name) const {
    const auto& value = member(name);
    if (!value.is_string()) fail(fmt::format("'{}' is not a string", name));
    return value.get<std::string>();
  }
  std::string text_or(const char* name, const std::string& otherwise) const {
    return has(name) ? text(name) : otherwise;
  }
  std::int64_t integer(const char* name) const {
    const auto& value = member(name);
    if (!value.is_number_integer()) fail(fmt::format("'{}' is not an integer", name));
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
      fail(fmt::format("'{}' is too large", name));
    }
    return value.get<std::int64_t>();
  }
  int small(const char* name) const {
    const auto value = integer(name);
    if (value < 0 || value > INT32_MAX) fail(fmt::format("'{}' is not in 0..2147483647", name));
    return static_cast<int>(value);
  }
  std::uint64_t seed(const char* name) const {
    const auto& value = member(name);
    if (!value.is_number_integer()) fail(fmt::format("'{}' is not an integer", name));
    return value.get<std::uint64_t>();
  }
  bool boolean(const char* name) const {
    const auto& value = member(name);
    if (!value.is_boolean()) fail(fmt::format("'{}' is not true or false", name));
    return value.get<bool>();
  }
  /// null is NaN.
  double real(const char* name) const { return real(member(name), name); }
  std::int64_t instant(const char* name) const {
    const auto ms = parse_instant(text(name));
    if (!ms) fail(fmt::format("'{}' is not an instant like 2026-01-31T23:59:59.000Z", name));
    return *ms;
  }
  std::map<std::string, double> numbers(const char* name) const {
    std::map<std::string, double> result;
    for (const auto& [key, value] : object(name).items()) result[key] = real(value, name);
    return result;
  }
  std::vector<double> list(const char* name) const {
    const auto& value = member(name);
    if (!value.is_array()) fail(fmt::format("'{}' is not a list", name));
    std::vector<double> result;
    for (const auto& element : value) result.push_back(real(element, name));
    return result;
  }
  const json& object(const char* name) const {
    const auto& value = member(name);
    if (!value.is_object()) fail(fmt::format("'{}' is not an object", name));
    return value;
  }
  Line inner(const char* name) const { return Line(object(name), source_, number_); }

 private:
  const json& member(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) fail(fmt::format("'{}' is missing", name));
    return *found;
  }
  double real(const json& value, const char* name) const {
    if (value.is_null()) return std::nan("");
    if (!value.is_number()) fail(fmt::format("'{}' is not a number", name));
    return value.get<double>();
  }

  const json& object_;
  const std::string& source_;
  int number_;
};

struct Section {
  DeviceRecord device;
  EnvironmentRecord environment;
};

Section read_header(const Line& line) {
  if (line.integer("tuner_wisdom") != kFormat) {
    line.fail(fmt::format("format {} is not known to this tuner (it reads format {})", line.integer("tuner_wisdom"),
                          kFormat));
  }
  Section section;
  const auto device = line.inner("device");
  auto& d = section.device;
  d.key = device.text("key");
  d.name = device.text_or("name", "");
  d.backend = device.text("backend");
  d.compute_capability = device.small("compute_capability");
  d.sm_count = device.small("sm_count");
  d.l2_bytes = device.integer("l2_bytes");
  d.memory_bus_bits = device.small("memory_bus_bits");
  d.max_shared_bytes = device.integer("max_shared_bytes");
  d.registers_per_sm = device.small("registers_per_sm");
  if (device.has("properties")) d.properties = device.object("properties").dump();
  line.require(problem_with(d));
  const auto environment = line.inner("environment");
  section.environment = {environment.text("driver"), environment.text("compiler"), environment.text_or("tuner", ""),
                         environment.text_or("os", "")};
  return section;
}

KernelRecord read_kernel(const Line& line) {
  KernelRecord kernel{line.text("kernel"), line.text("source"), line.text_or("objective", "time")};
  line.require(problem_with(kernel));
  return kernel;
}

ProblemRecord read_problem(const Line& line) {
  const auto text = line.text("sizes");
  const auto sizes = parse_sizes(text);
  if (!sizes) line.fail(fmt::format("'{}' are not sizes like 'nx=4096 ny=4096', sorted by name", text));
  ProblemRecord problem{line.text("choices"), *sizes};
  line.require(problem_with(problem));
  return problem;
}

BestRecord read_best(const Line& line, const Section& section) {
  BestRecord best;
  best.kernel = read_kernel(line);
  best.device = section.device;
  best.environment = section.environment;
  best.problem = read_problem(line);
  best.configuration = line.text("configuration");
  best.median_ns = line.real("median_ns");
  best.low_ns = line.real("low_ns");
  best.high_ns = line.real("high_ns");
  best.relative_noise = line.real("noise");
  best.samples = line.integer("samples");
  best.measured_ms = line.instant("measured");
  line.require(problem_with(best));
  return best;
}

SessionRecord read_session(const Line& line, const Section& section) {
  SessionRecord s;
  s.uuid = line.text("session");
  if (s.uuid.empty()) line.fail("'session' is empty");
  s.key = {read_kernel(line), section.device, section.environment, read_problem(line), line.text("conditions")};
  s.strategy = line.text("strategy");
  s.seed = line.seed("seed");
  s.origin = line.text("origin");
  s.started_ms = line.instant("started");
  if (!line.is_null("finished")) s.finished_ms = line.instant("finished");
  return s;
}

StoredTrial read_trial(const Line& line) {
  StoredTrial stored;
  stored.seq = line.integer("trial");
  stored.session = line.text("of");
  auto& t = stored.trial;
  t.configuration = line.text("configuration");
  t.kind = line.text("kind");
  t.message = line.text_or("message", "");
  t.log = line.text_or("log", "");
  t.median_ns = line.real("median_ns");
  t.low_ns = line.real("low_ns");
  t.high_ns = line.real("high_ns");
  t.relative_noise = line.real("noise");
  t.cold = line.boolean("cold");
  t.throttled = line.boolean("throttled");
  t.converged = line.boolean("converged");
  t.abandoned = line.boolean("abandoned");
  t.verified = line.boolean("verified");
  t.clock_mhz = line.real("clock_mhz");
  t.metrics = line.numbers("metrics");
  t.times_s = line.numbers("times_s");
  if (line.has("resources")) {
    const auto r = line.inner("resources");
    t.resources = ResourceRecord{
        r.small("registers"),        r.small("spill_bytes"),   r.small("stack_bytes"), r.integer("static_shared_bytes"),
        r.integer("constant_bytes"), r.small("blocks_per_sm"), r.real("occupancy")};
  }
  t.samples_ns = line.list("samples_ns");
  t.created_ms = line.instant("created");
  line.require(problem_with(t));
  return stored;
}

QuarantineRecord read_quarantine(const Line& line) {
  QuarantineRecord record{line.text("device_key"), read_kernel(line), line.text("quarantined"), line.text("reason"),
                          line.instant("created")};
  line.require(problem_with_configuration(record.configuration));
  return record;
}

}  // namespace

std::string entries_text(const std::vector<Entry>& entries) {
  std::string text;
  const auto append = [&](const ordered_json& line) {
    text += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    text += '\n';
  };
  std::optional<std::pair<std::string, EnvironmentRecord>> section;
  const auto enter = [&](const DeviceRecord& device, const EnvironmentRecord& environment) {
    std::pair<std::string, EnvironmentRecord> wanted{device.key, environment};
    if (section == wanted) return;
    section = std::move(wanted);
    append(header(device, environment));
  };
  for (const auto& entry : entries) {
    if (const auto* best = std::get_if<BestRecord>(&entry)) enter(best->device, best->environment);
    if (const auto* s = std::get_if<SessionRecord>(&entry)) enter(s->key.device, s->key.environment);
    std::visit([&](const auto& record) { append(line_of(record)); }, entry);
  }
  return text;
}

std::vector<Entry> parse_entries(std::string_view text, const std::string& source) {
  std::vector<Entry> entries;
  std::optional<Section> section;
  std::map<std::string, int> sessions;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!part.empty() && part.back() == '\r') part.remove_suffix(1);
    if (part.find_first_not_of(" \t") == std::string_view::npos || part.front() == '#') continue;
    json object;
    try {
      object = json::parse(part);
    } catch (const json::exception& error) {
      throw ImportError(source, number, fmt::format("not JSON: {}", error.what()));
    }
    const Line line(object, source, number);
    try {
      if (line.has("tuner_wisdom")) {
        section = read_header(line);
      } else if (line.has("trial")) {
        auto trial = read_trial(line);
        if (!sessions.contains(trial.session)) line.fail("a trial stands before its session");
        entries.emplace_back(std::move(trial));
      } else if (line.has("quarantined")) {
        entries.emplace_back(read_quarantine(line));
      } else if (!section) {
        line.fail("the first line must be a header with 'tuner_wisdom', 'device' and 'environment'");
      } else if (line.has("session")) {
        entries.emplace_back(read_session(line, *section));
        sessions[std::get<SessionRecord>(entries.back()).uuid] = number;
      } else {
        entries.emplace_back(read_best(line, *section));
      }
    } catch (const json::exception& error) {
      line.fail(error.what());
    }
  }
  return entries;
}

}  // namespace tuner::cache
