#include <cache/exchange/exchange.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include <cache/query/rows.hpp>
#include <cache/query/session.hpp>
#include <cache/records/json.hpp>

namespace tuner::cache {
namespace {

/// One record of a database: the common form of export, import and merge. Sessions come before their trials.
using Entry = std::variant<BestRecord, SessionRecord, StoredTrial, QuarantineRecord>;

/// Whether a visited field is an instant in the future. Such a result would stay the latest for ever.
template <class Field>
bool is_ahead(const Field& field, unsigned how) {
  constexpr std::int64_t day_ms = 24 * 60 * 60 * 1000;  // allows for clocks that differ
  if constexpr (std::is_same_v<Field, std::int64_t> || std::is_same_v<Field, std::optional<std::int64_t>>)
    return (how & kInstant) != 0 && field > now_ms() + day_ms;
  return false;
}

std::optional<std::string> date_in_the_future(const auto& record) {
  std::optional<std::string> complaint;
  visit_fields(record, [&](const char* name, const auto& field, unsigned how) {
    if (is_ahead(field, how)) complaint = fmt::format("'{}' is in the future", name);
  });
  return complaint;
}

/// Replaces dates in the future, stored while this machine's clock was ahead, by today.
void correct_dates(auto& record) {
  visit_fields(record, [](const char*, auto& field, unsigned how) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_assignable_v<Field&, std::int64_t>)
      if (is_ahead(field, how)) field = now_ms();
  });
}

/// Explains why a record from outside is refused; nullopt when it is not.
template <class Record>
std::optional<std::string> objection_to(const Record& record) {
  const auto problem = problem_with(record);
  return problem ? problem : date_in_the_future(record);
}

// ---- text form: JSON lines, see cache/README.md --------------------------------------------------------------------

constexpr int kFormat = 1;
/// Parsing a line takes about thirty times its size in memory.
constexpr std::size_t kMaxLineBytes = std::size_t{4} << 20;
constexpr int kMaxLines = 2'000'000;

/// The device and environment of the lines after it.
struct Header {
  int format = kFormat;
  DeviceRecord device = {};
  EnvironmentRecord environment = {};
};

void visit_fields(Like<Header> auto& r, auto&& field) {
  field("tuner_wisdom", r.format, kPlain);
  field("device", r.device, kPlain);
  field("environment", r.environment, kPlain);
}

Header read_header(const JsonValue& line) {
  const JsonValue& format = *line.member("tuner_wisdom");
  if (format.number() != kFormat) {
    throw MemberError(fmt::format("format {} is not known to this tuner (it reads format {})", format.text(), kFormat));
  }
  Header result;
  visit_fields(result, JsonReader(line));
  if (const auto problem = problem_with(result.device)) throw MemberError(*problem);
  return result;
}

/// Reads a record from a line; takes the context from \p header if it needs one.
template <class Record>
Record read_record(const JsonValue& line, const std::optional<Header>& header) {
  Record record;
  if constexpr (requires { context_of(record); }) {
    context_of(record).device = header->device;
    context_of(record).environment = header->environment;
  }
  visit_fields(record, JsonReader(line));
  if (const auto problem = objection_to(record)) throw MemberError(*problem);
  return record;
}

std::string not_json(const Json::exception& error) {
  const auto* const misplaced = dynamic_cast<const Json::parse_error*>(&error);
  const std::string place = misplaced != nullptr ? fmt::format(" at column {}", misplaced->byte) : "";
  return fmt::format("not JSON{}: {}", place, json_fault(error));
}

/// Collects the records of a text.
class Reader {
 public:
  void read(std::string_view text) {
    JsonValue line;
    if (nests_deeply(text)) throw MemberError("not a record: its brackets are nested too deeply");
    try {
      line = read_json(text);
    } catch (const Json::exception& error) {
      if (!has_lines_ && !text.starts_with('{'))
        throw MemberError("neither a wisdom text, whose lines are JSON, nor a database");
      throw MemberError(not_json(error));
    }
    has_lines_ = true;
    if (line.as<JsonValue::Object>() == nullptr) throw MemberError("not a JSON object");
    if (line.member("tuner_wisdom") != nullptr) {
      header_ = read_header(line);
    } else if (line.member("trial") != nullptr) {
      auto trial = read_record<StoredTrial>(line, header_);
      if (!sessions_.contains(trial.session)) throw MemberError("a trial stands before its session");
      entries.emplace_back(std::move(trial));
    } else if (line.member("quarantined") != nullptr) {
      entries.emplace_back(read_record<QuarantineRecord>(line, header_));
    } else if (!header_) {
      throw MemberError("the first line must be a header with 'tuner_wisdom', 'device' and 'environment'");
    } else if (line.member("session") != nullptr) {
      auto session = read_record<SessionRecord>(line, header_);
      sessions_.insert(session.uuid);
      entries.emplace_back(std::move(session));
    } else {
      entries.emplace_back(read_record<BestRecord>(line, header_));
    }
  }

  std::vector<Entry> entries;

 private:
  bool has_lines_ = false;  // at least one line is JSON
  std::optional<Header> header_;
  std::set<std::string> sessions_;
};

/// A line of JSON in ASCII. Terminals obey some characters that JSON allows in strings, and others change the direction
/// of writing.
std::string in_ascii(const std::string& json) {
  const bool is_ascii = std::all_of(json.begin(), json.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (is_ascii) return json;
  return read_json(json).text(/*ascii=*/true);
}

std::string entries_text(const std::vector<Entry>& entries) {
  std::string text;
  const auto append = [&](const auto& record) {
    LineWriter line(kPlain);
    visit_fields(record, line);
    (text += in_ascii(line.line())) += '\n';
  };
  std::optional<std::pair<std::string, EnvironmentRecord>> section;
  const auto append_under_header = [&](const auto& record) {
    if constexpr (requires { context_of(record); }) {
      const auto& context = context_of(record);
      std::pair wanted{context.device.key, context.environment};
      if (section != wanted) append(Header{kFormat, context.device, context.environment});
      section = std::move(wanted);
    }
    append(record);
  };
  for (const auto& entry : entries) std::visit(append_under_header, entry);
  return text;
}

std::vector<Entry> parse_entries(std::string_view text, const std::string& source) {
  Reader reader;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!part.empty() && part.back() == '\r') part.remove_suffix(1);
    if (part.find_first_not_of(" \t") == std::string_view::npos || part.front() == '#') continue;
    try {
      if (number > kMaxLines) throw MemberError(fmt::format("more than {} lines", kMaxLines));
      if (part.size() > kMaxLineBytes) throw MemberError(fmt::format("longer than {} bytes", kMaxLineBytes));
      reader.read(part);
    } catch (const MemberError& error) {
      throw ImportError(source, number, error.what());
    }
  }
  return std::move(reader.entries);
}

// ---- merging -------------------------------------------------------------------------------------------------------

/// The place of an effort on its scale (tuner/effort.hpp). Results of unknown effort count as normal.
int rank_of_effort(std::string_view effort) {
  return effort == "thorough" ? 3 : effort == "quick" ? 1 : effort == "none" ? 0 : 2;
}

// Whether \p a is kept instead of \p b, which has the same identity. A total order, so that the order of merging does
// not matter.
bool is_better(const BestRecord& a, const BestRecord& b) {
  const auto key = [](const BestRecord& r) {
    const auto measured_ms = is_ahead(r.measured_ms, kInstant) ? 0 : r.measured_ms;  // date unknown
    return std::make_tuple(-rank_of_effort(r.effort), -measured_ms, -r.samples, r.median_ns);
  };
  return key(a) != key(b) ? key(a) < key(b) : line_of(a) < line_of(b);
}
/// The earliest report stays.
bool is_better(const QuarantineRecord& a, const QuarantineRecord& b) {
  return std::tie(a.created_ms, a.reason) < std::tie(b.created_ms, b.reason);
}
bool is_better(const StoredTrial&, const StoredTrial&) { return false; }

/// Two medians of one configuration in one context may differ by at most this factor.
constexpr double kMaxRatio = 10;

/// Explains how \p best contradicts a stored trial; nullopt when it does not.
std::optional<std::string> contradicted(Store& store, const BestRecord& best) {
  const auto trial = latest_measurement(store, best);
  if (!trial) return std::nullopt;
  const double ratio = best.median_ns / trial->trial.median_ns;
  if (ratio <= kMaxRatio && ratio >= 1 / kMaxRatio) return std::nullopt;
  return fmt::format("the best of {} for {}, '{}', is said to take {:g} ns, but its trial took {:g} ns",
                     best.kernel.name, sizes_text(best.problem.sizes), best.configuration, best.median_ns,
                     trial->trial.median_ns);
}

void apply(Store& store, const auto& record, std::int64_t& added, ImportCount& count) {
  auto known = stored(store, record);
  if constexpr (requires { contradicted(store, record); }) {
    if (known && contradicted(store, *known)) known.reset();
  }
  const bool taken = !known || is_better(record, *known);
  if (taken) put(store, record);
  ++(taken ? added : count.unchanged);
}

void apply(Store& store, const SessionRecord& session, ImportCount& count) {
  const auto known = stored(store, session);
  ++(known ? count.unchanged : count.sessions);
  auto united = known.value_or(session);
  // Remarks, too, must not depend on the order of merging.
  united.finished_ms = std::max(united.finished_ms, session.finished_ms);
  united.spent = std::max(united.spent, session.spent);
  united.key.device.name = std::max(united.key.device.name, session.key.device.name);
  united.key.device.properties = std::max(united.key.device.properties, session.key.device.properties);
  if (!known || line_of(united) != line_of(*known)) put(store, united);
}

enum class Part {
  best,
  served,  ///< best configurations and quarantine
  all,
};

/// Sorted as an export writes them.
std::vector<Entry> entries_of(Database& database, const Filter& filter, Part part) {
  auto& store = database.store();
  // One transaction: best, sessions and trials are of the same moment.
  return store.read([&] {
    std::vector<Entry> entries;
    // The contents of a database are not trusted either.
    const auto add = [&](auto& record) {
      correct_dates(record);
      if (objection_to(record)) return warn_of_damaged_rows(store);
      entries.emplace_back(std::move(record));
    };
    for (auto& best : best_rows(database, filter)) add(best);
    if (part == Part::best) return entries;
    auto all = part == Part::all ? sessions(database, filter) : std::vector<SessionRecord>();
    const auto key = [](const SessionRecord& s) {
      return std::tie(s.key.device.key, s.key.environment, s.started_ms, s.uuid);
    };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    for (auto& session : all) {
      const auto uuid = session.uuid;
      const auto before = entries.size();
      add(session);
      if (entries.size() == before) continue;
      for (auto& trial : stored_trials(store, uuid)) add(trial);
    }
    for (auto& record : quarantined(database, filter)) add(record);
    return entries;
  });
}

struct Applied {
  ImportCount count;
  bool left_out = false;  ///< a record that contradicts a stored trial
};

/// Runs in one transaction. \p source: throws CacheError for a record that contradicts a stored trial, instead of
/// leaving it out.
Applied apply_entries(Database& database, std::vector<Entry> entries, const std::optional<std::string>& source = {}) {
  return database.store().write([&store = database.store(), entries = std::move(entries), source] {
    Applied applied;
    ImportCount& count = applied.count;
    // Trials come first: best results are compared with them.
    for (const auto& entry : entries) {
      if (const auto* session = std::get_if<SessionRecord>(&entry)) apply(store, *session, count);
      if (const auto* trial = std::get_if<StoredTrial>(&entry)) apply(store, *trial, count.trials, count);
      if (const auto* banned = std::get_if<QuarantineRecord>(&entry)) apply(store, *banned, count.quarantined, count);
    }
    for (const auto& entry : entries) {
      const auto* best = std::get_if<BestRecord>(&entry);
      if (best == nullptr) continue;
      const auto problem = contradicted(store, *best);
      if (!problem)
        apply(store, *best, count.best, count);
      else if (!source || store.is_repeating())
        applied.left_out = true;
      else
        throw CacheError(*source + ": " + *problem);
    }
    return applied;
  });
}

}  // namespace

std::string export_wisdom(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, Part::best));
}

std::int64_t copy_for_freezing(Database& into, Database& from) {
  std::vector<Entry> entries;
  std::map<std::tuple<KernelRecord, ProblemRecord, std::string>, const BestRecord*> kept;
  using Problems = std::map<ProblemRecord, const QuarantineRecord*>;
  std::map<std::tuple<std::string, std::string, KernelRecord>, Problems> banned;
  const auto keep = [](const auto*& slot, const auto& record) {
    if (slot == nullptr || is_better(record, *slot)) slot = &record;
  };
  const bool could_be_read = from.store().read([&] {
    entries = entries_of(from, {}, Part::served);
    kept.clear();
    banned.clear();
    for (const auto& entry : entries) {
      if (const auto* record = std::get_if<QuarantineRecord>(&entry))
        keep(banned[{record->configuration, record->device_key, record->kernel}][record->problem], *record);
      const auto* best = std::get_if<BestRecord>(&entry);
      if (best == nullptr) continue;
      if (contradicted(from.store(), *best))
        warn_of_damaged_rows(from.store());
      else
        keep(kept[{best->kernel, best->problem, best->device.key}], *best);
    }
    return true;
  });
  if (!could_be_read) return 0;
  return into.store().write([&, &store = into.store()] {  // never repeated: it is in memory
    std::int64_t copied = 0;
    for (const auto& [what, problems] : banned)
      for (const auto& [problem, record] : problems) put(store, *record);
    for (const auto& [question, best] : kept) {
      const auto problems = banned.find({best->configuration, best->device.key, best->kernel});
      if (problems != banned.end() &&
          std::any_of(problems->second.begin(), problems->second.end(),
                      [&, &best = best](const auto& one) { return alike(one.first, best->problem); }))
        continue;
      put(store, *best);
      ++copied;
    }
    return copied;
  });
}

std::string export_all(Database& database, const Filter& filter) {
  return entries_text(entries_of(database, filter, Part::all));
}

ImportCount import_text(Database& database, std::string_view text, const std::string& source) {
  return apply_entries(database, parse_entries(text, source), source).count;
}

ImportCount merge(Database& into, Database& from, std::int64_t limit) {
  if (&into == &from) return {};
  const auto bytes = statistics(from).file_bytes;
  if (bytes > limit) {
    throw CacheError(fmt::format("{} has {} bytes: databases of more than {} bytes are not merged",
                                 from.path().string(), bytes, limit));
  }
  const Applied applied = apply_entries(into, entries_of(from, {}, Part::all));
  if (applied.left_out) warn_of_damaged_rows(from.store());
  return applied.count;
}

}  // namespace tuner::cache
