// The text form of entries: JSON lines, see cache/README.md.

#include <set>

#include <fmt/format.h>

#include <cache/entries.hpp>
#include <cache/json_fields.hpp>
#include <cache/record_checks.hpp>

namespace tuner::cache {
namespace {

constexpr int kFormat = 1;
/// What a reader has to hold of one line in memory is some thirty times as much.
constexpr std::size_t kMaxLineBytes = std::size_t{4} << 20;
constexpr int kMaxLines = 2'000'000;

/// Device and environment of the lines that follow.
struct Header {
  DeviceRecord device;
  EnvironmentRecord environment;
};

Json header(const DeviceRecord& device, const EnvironmentRecord& environment) {
  Json line = {{"tuner_wisdom", kFormat}, {"device", Json::object()}, {"environment", Json::object()}};
  visit_fields(device, JsonWriter(line["device"]));
  visit_fields(environment, JsonWriter(line["environment"]));
  return line;
}

const Json& member(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) throw MemberError(fmt::format("'{}' is missing", name));
  return *found;
}

Header read_header(const Json& line) {
  const auto& format = member(line, "tuner_wisdom");
  if (format != kFormat) {
    throw MemberError(fmt::format("format {} is not known to this tuner (it reads format {})", dump(format), kFormat));
  }
  Header result;
  visit_fields(result.device, JsonReader(member(line, "device")));
  visit_fields(result.environment, JsonReader(member(line, "environment")));
  if (const auto problem = problem_with(result.device)) throw MemberError(*problem);
  return result;
}

template <class Record>
Entry read_record(const Json& line, Record record) {
  visit_line(record, JsonReader(line));
  if (const auto problem = problem_with(record)) throw MemberError(*problem);
  return record;
}

SessionRecord session_under(const Header& header) {
  SessionRecord session;
  session.key.device = header.device;
  session.key.environment = header.environment;
  return session;
}

BestRecord best_under(const Header& header) {
  BestRecord best;
  best.device = header.device;
  best.environment = header.environment;
  return best;
}

/// Reads line after line.
class Reader {
 public:
  void read(std::string_view text) {
    Json line;
    try {
      line = Json::parse(text);
    } catch (const Json::exception& error) {
      throw MemberError(fmt::format("not JSON: {}", error.what()));
    }
    if (!line.is_object()) throw MemberError("not a JSON object");
    if (line.contains("tuner_wisdom")) {
      header_ = read_header(line);
    } else if (line.contains("trial")) {
      entries.push_back(read_record(line, StoredTrial{}));
      if (!sessions_.contains(std::get<StoredTrial>(entries.back()).session)) {
        throw MemberError("a trial stands before its session");
      }
    } else if (line.contains("quarantined")) {
      entries.push_back(read_record(line, QuarantineRecord{}));
    } else if (!header_) {
      throw MemberError("the first line must be a header with 'tuner_wisdom', 'device' and 'environment'");
    } else if (line.contains("session")) {
      entries.push_back(read_record(line, session_under(*header_)));
      sessions_.insert(std::get<SessionRecord>(entries.back()).uuid);
    } else {
      entries.push_back(read_record(line, best_under(*header_)));
    }
  }

  std::vector<Entry> entries;

 private:
  std::optional<Header> header_;
  std::set<std::string> sessions_;
};

}  // namespace

std::string entries_text(const std::vector<Entry>& entries) {
  std::string text;
  const auto append = [&](const Json& line) { (text += dump(line)) += '\n'; };
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
    Json line = Json::object();
    std::visit([&](const auto& record) { visit_line(record, JsonWriter(line)); }, entry);
    append(line);
  }
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

}  // namespace tuner::cache
