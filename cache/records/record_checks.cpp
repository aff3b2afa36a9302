#include <cache/records/record_checks.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <cache/records/json.hpp>
#include <cache/records/json_fields.hpp>
#include <cache/records/json_value.hpp>

namespace tuner::cache {
namespace {

using Complaint = std::optional<std::string>;

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

template <class T>
Complaint out_of_bounds(const char* name, const T& field, unsigned how) {
  if constexpr (std::is_same_v<T, std::string>) {
    const auto limit = (how & kProse) != 0 ? kMaxProseBytes : kMaxTextBytesOfField;
    if (field.size() > limit) return fmt::format("'{}' is longer than {} bytes", name, limit);
    if ((how & kProse) == 0 && has_control(field)) return fmt::format("'{}' contains control characters", name);
  } else if constexpr (std::is_same_v<T, std::map<std::string, double>>) {
    for (const auto& [key, number] : field)
      if (auto bad = out_of_bounds(name, key, kPlain)) return bad;
  }
  if constexpr (requires { field.size(); } && !std::is_same_v<T, std::string>) {
    const auto limit = std::is_same_v<T, std::vector<double>> ? kMaxSamples : kMaxNumbers;
    if (field.size() > limit) return fmt::format("'{}' has more than {} entries", name, limit);
  }
  return std::nullopt;
}

Complaint out_of_bounds(const auto& record) {
  Complaint first;
  visit_all(record, [&](const char* name, const auto& field, unsigned how) {
    if (!first) first = out_of_bounds(name, field, how);
  });
  return first;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}
bool is_identifier(std::string_view text) { return is_word(text) && (text[0] < '0' || text[0] > '9'); }

bool is_decimal_number(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return stop == text.data() + text.size() && error == std::errc{} && std::isfinite(number);
}

/// Names and values become code, so only identifiers and numbers are allowed.
bool is_assignment(std::string_view name, std::string_view value) {
  return is_identifier(name) && (is_identifier(value) || is_decimal_number(value));
}

/// An integer for Value::parse() must be written as Value::text() writes it.
bool is_canonical(std::string_view value) {
  std::int64_t number = 0;
  const auto* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return stop != end || error != std::errc{} || std::to_string(number) == value;
}

bool is_number(double value) { return std::isfinite(value) && value >= 0; }
/// NaN means that the number is absent.
bool is_number_or_none(double value) { return std::isnan(value) || is_number(value); }

template <class... Complaints>
Complaint first_of(Complaints... complaints) {
  Complaint first;
  ((first = first ? first : complaints), ...);
  return first;
}

/// No kernel takes less time than light for a third of a millimetre, or more than thirty years.
Complaint time_problem(const char* what, double ns) {
  if (ns >= 1e-3 && ns <= 1e18) return std::nullopt;
  return fmt::format("{} is {}, not a time from 0.001 to 1e18 ns", what, ns);
}

Complaint interval_problem(const TimeRecord& r) {
  if (auto bad = time_problem("median_ns", r.median_ns)) return bad;
  // Of one sample, or of times below the clock's step, nothing is known but that the time is not negative: low_ns is 0.
  for (const auto& [name, time] : {std::pair{"low_ns", r.low_ns}, {"high_ns", r.high_ns}})
    if (auto bad = std::isnan(time) || time == 0 ? std::nullopt : time_problem(name, time)) return bad;
  if (r.low_ns > r.median_ns || r.high_ns < r.median_ns) return "median_ns is outside of low_ns..high_ns";
  if (!is_number_or_none(r.relative_noise)) return "noise is negative or infinite";
  return std::nullopt;
}

bool has_negative_number(const auto& record) {
  bool found = false;
  visit_fields(record, [&](const char*, const auto& field, unsigned) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(field)>>) found = found || field < 0;
  });
  return found;
}

/// Explains how the numbers of a trial from elsewhere contradict each other; nothing when they do not.
Complaint contradiction_in(const TrialRecord& t) {
  for (const auto& [name, number] : t.times_s) {
    if (!(number >= 0 && number <= 1e9)) return fmt::format("the time '{}' is not from 0 to 1e9 seconds", name);
  }
  if (!is_number_or_none(t.clock_mhz)) return "clock_mhz is negative or infinite";
  if (t.resources && (has_negative_number(*t.resources) || t.resources->occupancy > 1))
    return "a number of 'resources' is out of range";
  if (t.kind != "ok") return std::nullopt;
  if (t.samples_ns.empty()) return "a measurement without samples";
  auto sorted = t.samples_ns;
  for (const double sample : sorted)
    if (auto bad = time_problem("a sample", sample)) return bad;
  std::sort(sorted.begin(), sorted.end());
  const double lower = sorted[(sorted.size() - 1) / 2], upper = sorted[sorted.size() / 2];
  constexpr double rounding = 1e-9;
  if (!(t.median_ns >= lower * (1 - rounding) && t.median_ns <= upper * (1 + rounding))) {
    return fmt::format("median_ns is {:g}, but the median of its samples is {:g}", t.median_ns, (lower + upper) / 2);
  }
  return interval_problem(t);
}

}  // namespace

Complaint problem_with(const KernelRecord& kernel) {
  if (const auto bad = out_of_bounds(kernel)) return bad;
  if (!is_identifier(kernel.name)) return fmt::format("'{}' cannot be the name of a kernel", kernel.name);
  if (kernel.source_hash.size() != 64 ||
      kernel.source_hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fmt::format("the source hash of kernel '{}' is not 64 lower-case hexadecimal digits", kernel.name);
  }
  if (kernel.objective.empty()) return "the objective has no name";
  return std::nullopt;
}

Complaint problem_with(const DeviceRecord& device) {
  if (const auto bad = out_of_bounds(device)) return bad;
  if (device.key.empty()) return "the device has no key";
  if (device.backend.empty()) return fmt::format("device '{}' has no backend", device.key);
  if (has_negative_number(device)) return fmt::format("a number of device '{}' is negative", device.key);
  if (!is_json_object(device.properties)) {
    return fmt::format("the properties of device '{}' are not a JSON object", device.key);
  }
  return std::nullopt;
}

Complaint problem_with(const ProblemRecord& problem) {
  if (const auto bad = out_of_bounds(problem)) return bad;
  for (const auto& [name, value] : problem.sizes) {
    if (value < 0) return fmt::format("size '{}' is negative", name);
    if (!is_identifier(name)) return fmt::format("'{}' cannot be the name of a size", name);
  }
  for (const std::string_view word : words_of(problem.choices)) {
    const auto [name, value] = name_and_value(word);
    // A value may begin with a digit, because it becomes only part of a macro's name; or it is the number of a scalar.
    if (!is_identifier(name) || (!is_word(value) && !is_decimal_number(value)))
      return fmt::format("'{}' cannot be a choice", word);
  }
  return std::nullopt;
}

Complaint problem_with_configuration(const std::string& text) {
  if (text.empty()) return "the configuration is empty";
  if (const auto bad = out_of_bounds("configuration", text, kPlain)) return bad;
  std::string_view previous;
  for (const std::string_view word : words_of(text)) {
    const auto [name, value] = name_and_value(word);
    if (!is_assignment(name, value))
      return fmt::format("'{}' in the configuration is not name=value, of a name and a word or a number", word);
    if (name <= previous)
      return fmt::format("the configuration is not in canonical form: '{}' is after '{}'", name, previous);
    if (!is_canonical(value))
      return fmt::format("the configuration is not in canonical form: '{}' has another way to be written", word);
    previous = name;
  }
  return std::nullopt;
}

std::string prose(std::string_view text) {
  auto repaired = json_of_text(text_of_json(text.substr(0, kMaxProseBytes))).get<std::string>();
  if (repaired.size() <= kMaxProseBytes) return repaired;
  auto end = kMaxProseBytes;
  while ((static_cast<unsigned char>(repaired[end]) & 0xc0) == 0x80) --end;  // not within a character
  return repaired.substr(0, end);
}

Complaint problem_with(const TrialRecord& trial) {
  constexpr const char* kinds[] = {"ok", "compile", "launch", "timeout", "wrong", "invalid"};
  if (std::find(std::begin(kinds), std::end(kinds), trial.kind) == std::end(kinds)) {
    return fmt::format("'{}' is not a kind of trial (ok, compile, launch, timeout, wrong, invalid)", trial.kind);
  }
  return first_of(problem_with_configuration(trial.configuration), out_of_bounds(trial));
}

Complaint problem_with(const StoredTrial& stored) {
  return first_of(problem_with(stored.trial), out_of_bounds(stored), contradiction_in(stored.trial));
}

Complaint problem_with(const BestRecord& best) {
  return first_of(problem_with(best.kernel), problem_with(best.device), problem_with(best.problem),
                  problem_with_configuration(best.configuration), out_of_bounds(best), interval_problem(best),
                  best.samples < 1 ? Complaint("samples is not at least 1") : std::nullopt);
}

Complaint problem_with(const SessionRecord& session) {
  if (session.uuid.empty()) return "the session has no uuid";
  if (!session.spent.empty() && !is_json_object(session.spent)) return "what the session spent is not a JSON object";
  return first_of(problem_with(session.key.kernel), problem_with(session.key.device), problem_with(session.key.problem),
                  out_of_bounds(session));
}

Complaint problem_with(const QuarantineRecord& record) {
  return first_of(problem_with(record.kernel), problem_with(record.problem),
                  problem_with_configuration(record.configuration), out_of_bounds(record));
}

Complaint problem_with(const MissRecord& miss) {
  return first_of(problem_with(miss.kernel), problem_with(miss.problem), out_of_bounds(miss),
                  miss.calls < 0 || !is_number_or_none(miss.each_ns) ? Complaint("calls or each_ns is out of range")
                                                                     : std::nullopt);
}

}  // namespace tuner::cache
