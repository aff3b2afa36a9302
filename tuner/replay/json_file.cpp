#include <tuner/replay/json_file.hpp>

#include <algorithm>
#include <cmath>

#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

/// `file:line:column: `; both count from 1, columns in bytes.
std::string place_at(std::string_view text, std::size_t position, const std::string& origin) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return origin + ':' + std::to_string(line) + ':' + std::to_string(column) + ": ";
}

/// What is open at the end of a text, and where its last complete entry ended.
struct OpenEnd {
  std::string closers;  // in the order they must be written
  bool in_string = false;
  std::size_t values = 0;          // at most
  std::size_t last_entry_end = 0;  // one past the last bracket that returned to depth 2; 0: none
  std::string entry_closers;       // what was open there
};

/// Throws where the text is nested too deeply or holds too many values for a parser to be let loose on it.
OpenEnd scan(std::string_view text, const std::string& origin) {
  OpenEnd end;
  std::string stack;
  const auto closers = [&] { return std::string(stack.rbegin(), stack.rend()); };
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (end.in_string) {
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        end.in_string = false;
      }
    } else if (c == '"') {
      end.in_string = true;
    } else if (c == '{' || c == '[') {
      stack.push_back(c == '{' ? '}' : ']');
      if (stack.size() > kMostJsonDepth)
        throw RecordingError(place_at(text, i, origin) + "nested more than " + std::to_string(kMostJsonDepth) +
                             " levels deep; is this a recording?");
      ++end.values;
    } else if (c == ',') {
      if (++end.values > kMostJsonValues)
        throw RecordingError(origin + ": more than " + std::to_string(kMostJsonValues) +
                             " values; is this a recording?");
    } else if ((c == '}' || c == ']') && !stack.empty()) {
      stack.pop_back();
      if (stack.size() == 2) {
        end.last_entry_end = i + 1;
        end.entry_closers = closers();
      }
    }
  }
  end.closers = closers();
  return end;
}

nlohmann::json parsed(std::string_view text, const std::string& origin) {
  const OpenEnd end = scan(text, origin);
  nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
  if (!whole.is_discarded()) return whole;
  // Deeper than 2 the writer was in the middle of an entry: closing it would make up half a result.
  if (!end.closers.empty() && end.closers.size() <= 2 && !end.in_string) {
    const std::string closed(text.substr(0, text.find_last_not_of(" \t\r\n,") + 1));
    whole = nlohmann::json::parse(closed + end.closers, nullptr, false);
    if (!whole.is_discarded()) return whole;
  }
  if (!end.closers.empty() && end.last_entry_end > 0) {
    const std::string cut(text.substr(0, end.last_entry_end));
    whole = nlohmann::json::parse(cut + end.entry_closers, nullptr, false);
    if (!whole.is_discarded()) return whole;
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    // `[json.exception.parse_error.101] parse error at line 1, column 2: what is wrong`
    const std::string_view message = error.what();
    const std::size_t prefix = message.find(": ");
    throw RecordingError(place_at(text, error.byte == 0 ? 0 : error.byte - 1, origin) + "not JSON: " +
                         std::string(prefix == std::string_view::npos ? message : message.substr(prefix + 2)));
  } catch (const nlohmann::json::out_of_range& error) {
    // `[json.exception.out_of_range.406] number overflow parsing '1e400'`, without a place
    const std::string_view message = error.what();
    const std::string_view number = message.substr(std::min(message.find('\'') + 1, message.size() - 1));
    throw RecordingError(place_at(text, text.find(number.substr(0, number.size() - 1)), origin) +
                         "not JSON: " + std::string(message.substr(message.find(' ') + 1)));
  }
}

// Where values stand in a text that was parsed: well formed, but perhaps broken off.

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

std::size_t end_of_string(std::string_view text, std::size_t quote) {
  std::size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
  constexpr std::string_view open = "{[", close = "}]";
  if (at < text.size() && text[at] != '"' && open.find(text[at]) == std::string_view::npos)
    return std::min(text.find_first_of(",]} \t\r\n", at), text.size());
  std::size_t depth = 0;
  do {
    if (at >= text.size()) return text.size();
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (open.find(text[at]) != std::string_view::npos) ++depth;
    if (close.find(text[at]) != std::string_view::npos) --depth;
    ++at;
  } while (depth > 0);
  return at;
}

/// The member or element \p name of the object or list that begins at \p at; npos when it has none. Of a name given
/// twice the last one, as the parser has it.
std::size_t child(std::string_view text, std::size_t at, const std::string& name) {
  std::size_t found = std::string_view::npos;
  if (at >= text.size() || (text[at] != '{' && text[at] != '[')) return found;
  const bool is_object = text[at] == '{';
  at = skip_blanks(text, at + 1);
  for (std::size_t index = 0; at < text.size() && text[at] != '}' && text[at] != ']'; ++index) {
    std::string here = std::to_string(index);
    if (is_object) {
      const std::size_t end = end_of_string(text, at);
      const nlohmann::json key = nlohmann::json::parse(text.substr(at, end - at), nullptr, false);
      if (!key.is_string()) return found;  // the text breaks off here
      here = key.get<std::string>();
      at = skip_blanks(text, skip_blanks(text, end) + 1);  // behind the colon
    }
    if (here == name) found = at;
    at = skip_blanks(text, end_of_value(text, at));
    if (at < text.size() && text[at] == ',') at = skip_blanks(text, at + 1);
  }
  return found;
}

}  // namespace

JsonFile::JsonFile(std::string_view text, std::string origin)
    : text_(text), origin_(std::move(origin)), root_(parsed(text, origin_)) {}

std::string JsonFile::place(const Path& path) const {
  std::size_t at = skip_blanks(text_, text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  for (const std::string& name : path) {
    const std::size_t inner = child(text_, at, name);
    if (inner == std::string_view::npos) break;
    at = inner;
  }
  return place_at(text_, at, origin_);
}

Value json_value(const nlohmann::json& value) {
  if (value.is_boolean()) return Value(value.get<bool>());
  if (value.is_number_integer()) return Value(value.get<std::int64_t>());
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 9e15) return Value(static_cast<std::int64_t>(number));
    return Value(value.dump());
  }
  if (value.is_string()) return Value(value.get<std::string>());
  return Value(value.dump());
}

double number_or(const nlohmann::json& object, const std::string& key, double fallback,
                 const std::function<std::string(const std::string& key)>& place) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return fallback;
  if (!at->is_number()) throw RecordingError(place(key) + '\'' + key + "' is not a number");
  return at->get<double>();
}

bool is_rate(std::string_view objective) {
  return objective.ends_with("/s") || objective.ends_with("/W") || objective.ends_with("/J");
}

double reciprocal(double rate, const std::string& place) {
  if (!(rate > 0)) throw RecordingError(place + "a rate is above 0");
  return 1 / rate;
}

}  // namespace tuner::replay
