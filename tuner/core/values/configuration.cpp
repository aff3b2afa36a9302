#include <tuner/core/values/configuration.hpp>

#include <algorithm>
#include <stdexcept>

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

}  // namespace tuner
