// Values, configurations and problem sizes.
#include <tuner/core/values/configuration.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/core/values/value.hpp>

namespace tuner {
namespace {

auto position_of(auto& entries, std::string_view name) {
  return std::ranges::lower_bound(entries, name, {}, &Bindings::Entry::first);
}

}  // namespace

void Bindings::set(std::string_view name, Value value) {
  const auto at = position_of(entries_, name);
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, Entry(std::string(name), std::move(value)));
  }
}

const Value* Bindings::find(std::string_view name) const {
  const auto at = position_of(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

std::vector<std::string> Bindings::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : entries_) names.push_back(name);
  return names;
}

Configuration::Configuration(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

std::string Configuration::text() const {
  std::string result;
  for (const auto& [name, value] : entries())
    result.append(result.empty() ? "" : " ").append(name).append("=").append(value.text());
  return result;
}

Configuration Configuration::parse(std::string_view text) {
  constexpr std::string_view separators = " \t\n,";
  Configuration result;
  for (auto begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const auto equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
      throw std::invalid_argument("'" + std::string(part) + "' is not of the form name=value");
    }
    const std::string_view name = part.substr(0, equals);
    if (result.find(name)) throw std::invalid_argument("'" + std::string(name) + "' is given twice");
    result.set(name, Value::parse(part.substr(equals + 1)));
    begin = text.find_first_not_of(separators, end);
  }
  return result;
}

std::string Value::text() const {
  if (is_integer()) return std::to_string(std::get<std::int64_t>(data_));
  if (is_boolean()) return std::get<bool>(data_) ? "true" : "false";
  return std::get<std::string>(data_);
}

std::optional<double> Value::fraction() const {
  if (!is_string() || (string().find('.') == std::string::npos && string().find("e-") == std::string::npos))
    return std::nullopt;
  const auto number = number_of<double>(string());
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Value Value::parse(std::string_view text) {
  if (text == "true") return Value(true);
  if (text == "false") return Value(false);
  if (const auto number = number_of<std::int64_t>(text)) return Value(*number);
  return Value(std::string(text));
}

std::string ProblemSize::choices_text() const {
  std::string result;
  for (const auto& [name, value] : choices) result += (result.empty() ? "" : " ") + name + '=' + value;
  return result;
}

std::map<std::string, std::string> ProblemSize::parse_choices(const std::string& text) {
  std::map<std::string, std::string> choices;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      choices[word.substr(0, equals)] = word.substr(equals + 1);
  return choices;
}

std::string ProblemSize::sizes_text() const {
  std::string result;
  for (const auto& [name, value] : sizes) result += (result.empty() ? "" : " ") + name + '=' + std::to_string(value);
  return result;
}

std::string ProblemSize::text() const {
  const std::string chosen = choices_text();
  const std::string sized = sizes_text();
  return chosen.empty() || sized.empty() ? chosen + sized : chosen + ' ' + sized;
}

}  // namespace tuner
