#pragma once
/// Searches in lists, and lists in messages.

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/values/value.hpp>

namespace tuner {

bool contains(const auto& list, const auto& value) { return std::ranges::find(list, value) != std::end(list); }

/// A pointer to the first of \p things that has this name, or null.
auto* find_named(auto& things, std::string_view name) {
  const auto at = std::ranges::find_if(things, [&](const auto& one) { return one.name == name; });
  return at == std::end(things) ? nullptr : &*at;
}

/// The names of the elements of all \p lists, in their order.
std::vector<std::string> names_of(const auto&... lists) {
  std::vector<std::string> names;
  const auto add = [&](const auto& list) {
    for (const auto& one : list) names.emplace_back(one.name);
  };
  (add(lists), ...);
  return names;
}

inline std::vector<std::string> texts_of(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(value.text());
  return texts;
}

/// `32 64 128`.
inline std::string listed(const std::vector<std::string>& texts, std::string_view separator = " ") {
  std::string result;
  for (const std::string& text : texts) result.append(result.empty() ? "" : separator).append(text);
  return result;
}

}  // namespace tuner
