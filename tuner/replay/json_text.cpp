#include <tuner/replay/json_text.hpp>

#include <algorithm>
#include <cmath>

#include <tuner/replay/recording.hpp>

namespace tuner::replay {

namespace {

std::string line_at(std::string_view text, std::size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return std::to_string(1 + std::count(text.begin(), end, '\n'));
}

/// What is open at the end of a text, and where its last complete entry ended.
struct OpenEnd {
  std::string closers;  // in the order they must be written
  bool in_string = false;
  std::size_t last_entry_end = 0;  // one past the last bracket that returned to depth 2; 0: none
  std::string entry_closers;       // what was open there
};

OpenEnd scan(std::string_view text) {
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

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& origin) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_discarded()) return parsed;
  const OpenEnd end = scan(text);
  // Deeper than 2 the writer was in the middle of an entry: closing it would make up half a result.
  if (!end.closers.empty() && end.closers.size() <= 2 && !end.in_string) {
    std::string closed(text.substr(0, text.find_last_not_of(" \t\r\n,") + 1));
    parsed = nlohmann::json::parse(closed + end.closers, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  if (!end.closers.empty() && end.last_entry_end > 0) {
    const std::string cut(text.substr(0, end.last_entry_end));
    parsed = nlohmann::json::parse(cut + end.entry_closers, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw RecordingError(origin + ':' + line_at(text, error.byte) + ": not JSON: " + error.what());
  }
}

std::string place_of(std::string_view needle, std::string_view text, const std::string& origin) {
  const std::size_t at = text.find(needle);
  return at == std::string_view::npos ? origin + ": " : origin + ':' + line_at(text, at) + ": ";
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

double number_or(const nlohmann::json& object, const char* key, double fallback) {
  if (!object.is_object()) return fallback;
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : fallback;
}

}  // namespace tuner::replay
