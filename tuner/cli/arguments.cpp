#include <tuner/cli/arguments.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <tuner/core/characters.hpp>
#include <tuner/core/count.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {
namespace {

std::optional<double> read_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

[[noreturn]] void reject(std::string_view option, std::string_view text, std::string_view wanted) {
  throw UsageError("{}: {} is not {}", option, in_quotes(text), wanted);
}

/// `nx = 3` becomes `nx=3`, so that blanks can separate what commas can.
std::string without_blanks_around_equals(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '=')
      while (!result.empty() && result.back() == ' ') result.pop_back();
    if (c != ' ' || result.empty() || result.back() != '=') result += c;
  }
  return result;
}

double unit_seconds(std::string_view unit) {
  static const std::pair<std::string_view, double> units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                                              {"sec", 1},   {"m", 60},    {"min", 60},  {"h", 3600}};
  for (const auto& [name, seconds] : units)
    if (name == unit) return seconds;
  return 0;
}

}  // namespace

std::int64_t parse_count(std::string_view text, std::string_view option) {
  const auto count = tuner::parse_count(trimmed(text));
  if (!count) reject(option, text, kCountExamples);
  return *count;
}

std::int64_t parse_count(std::string_view text, std::string_view option, std::int64_t low, std::int64_t high) {
  const std::int64_t count = parse_count(text, option);
  if (count < low || count > high) throw UsageError("{}: {} is not between {} and {}", option, text, low, high);
  return count;
}

std::chrono::duration<double> parse_duration(std::string_view text, std::string_view option) {
  double seconds = 0;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const auto unit_at = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const auto unit_end = std::min(rest.find_first_of("0123456789.", unit_at), rest.size());
    const auto number = read_double(rest.substr(0, unit_at));
    const double unit = unit_seconds(rest.substr(unit_at, unit_end - unit_at));
    seconds = number && unit > 0 ? seconds + *number * unit : -HUGE_VAL;
    rest.remove_prefix(unit_end);
  }
  if (!(seconds > 0) || !std::isfinite(seconds))
    reject(option, text, "a time with a unit, such as 30s, 1m30s, 500ms or 12us");
  return std::chrono::duration<double>(seconds);
}

double parse_number(std::string_view text, std::string_view option, double low, double high) {
  const auto value = read_double(trimmed(text));
  if (!value) reject(option, text, "a number");
  if (*value < low || *value > high) throw UsageError("{}: {} is not between {} and {}", option, text, low, high);
  return *value;
}

Configuration parse_configuration(const std::string& text, std::string_view option) try {
  return Configuration::parse(text);
} catch (const std::invalid_argument& error) {
  throw UsageError("{}: {}", option, error.what());
}

std::vector<std::string> split(const std::vector<std::string>& texts, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view text : texts) {
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find(separator, start), text.size());
      if (const auto part = trimmed(text.substr(start, end - start)); !part.empty()) parts.emplace_back(part);
      start = end + 1;
    }
  }
  return parts;
}

std::map<std::string, std::vector<std::string>> parse_lists(std::string_view text, std::string_view option) {
  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::string>* latest = nullptr;
  for (const std::string& part : split(split({without_blanks_around_equals(text)}, ','), ' ')) {
    const auto equals = part.find('=');
    if (equals == 0 || equals + 1 == part.size() || (equals == std::string::npos && latest == nullptr))
      throw UsageError("{}: {} is not NAME=VALUE", option, in_quotes(part));
    if (equals == std::string::npos) {
      latest->push_back(part);
      continue;
    }
    const auto [list, is_new] = lists.try_emplace(part.substr(0, equals));
    if (!is_new) throw UsageError("{}: {} is given twice", option, in_quotes(list->first));
    latest = &list->second;
    latest->push_back(part.substr(equals + 1));
  }
  return lists;
}

std::map<std::string, std::string> parse_assignments(std::string_view text, std::string_view option) {
  std::map<std::string, std::string> values;
  for (const auto& [name, list] : parse_lists(text, option)) {
    if (list.size() > 1) throw UsageError("{}: {} is not NAME=VALUE", option, in_quotes(list[1]));
    values[name] = list[0];
  }
  return values;
}

std::map<std::string, std::int64_t> parse_sizes(std::string_view text, std::string_view option) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, value] : parse_assignments(text, option)) sizes[name] = parse_count(value, option);
  if (sizes.empty()) throw UsageError("{}: no sizes given; write for example nx=4096,ny=4096", option);
  return sizes;
}

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end()) throw UsageError(unknown_name(what, name, known));
}

std::vector<std::string> split_words(std::string_view line, const std::string& place) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at < line.size() && line[at] != '#';
       at = line.find_first_not_of(kBlanks, at)) {
    std::string& word = words.emplace_back();
    while (at < line.size() && kBlanks.find(line[at]) == std::string_view::npos) {
      const char c = line[at++];
      if (c != '\'' && c != '"') {
        word += c;
        continue;
      }
      const std::size_t end = line.find(c, at);
      if (end == std::string_view::npos) throw UsageError("{}: a quote ({}) is not closed", place, c);
      word += line.substr(at, end - at);
      at = end + 1;
    }
  }
  return words;
}

}  // namespace tuner::cli
