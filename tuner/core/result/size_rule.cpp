#include <tuner/core/result/size_rule.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner {
namespace {

constexpr std::string_view kElse = "else", kConjunction = " and ", kBetween = "between ";

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + separator.size()))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

/// A finite number.
std::optional<double> finite_number(std::string_view text) {
  const auto number = number_of<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// The parts of \p text before and after \p separator. nullopt without one.
std::optional<std::pair<std::string_view, std::string_view>> cut(std::string_view text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair{text.substr(0, at), text.substr(at + separator.size())};
}

/// `n=1..8 m=2..4`.
bool read_range(std::string_view text, std::map<std::string, SizeRule::Range>& range) {
  for (const std::string_view one : split(text, " ")) {
    const auto named = cut(one, "=");
    const auto ends = named ? cut(named->second, "..") : std::nullopt;
    if (!ends || !is_identifier(named->first)) return false;
    const auto least = number_of<std::int64_t>(ends->first), most = number_of<std::int64_t>(ends->second);
    if (!least || !most || *least < 0 || *most < *least) return false;
    if (!range.emplace(named->first, SizeRule::Range{*least, *most}).second) return false;
  }
  return true;
}

std::optional<SizeRule::Bound> read_bound(std::string_view text) {
  const auto sides = cut(text, "<");
  const auto below = sides ? finite_number(sides->second) : std::nullopt;
  if (!below) return std::nullopt;
  SizeRule::Bound bound{{}, *below};
  for (const std::string_view name : split(sides->first, "*")) {
    if (!is_identifier(name)) return std::nullopt;
    bound.sizes.emplace_back(name);
  }
  return bound;
}

bool read_branch(std::string_view text, SizeRule::Branch& branch) try {
  const auto parts = cut(text, ": ");
  if (!parts) return false;
  branch.configuration = Configuration::parse(parts->second);
  if (branch.configuration.empty() || branch.configuration.text() != parts->second) return false;
  if (parts->first == kElse) return true;
  for (const std::string_view one : split(parts->first, kConjunction)) {
    auto bound = read_bound(one);
    if (!bound) return false;
    branch.bounds.push_back(std::move(*bound));
  }
  return true;
} catch (const std::invalid_argument&) {
  return false;
}

bool read_regret(std::string_view text, SizeRule::Regret& regret) {
  const auto parts = split(text, " ");
  if (parts.size() != 5) return false;
  double* const numbers[] = {&regret.median, &regret.low, &regret.high, &regret.worst};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto number = finite_number(parts[i]);
    if (!number || *number < 0) return false;
    *numbers[i] = *number;
  }
  const auto sizes = number_of<std::size_t>(parts[4]);
  regret.sizes = sizes.value_or(0);
  return sizes.has_value();
}

/// Whether all sizes in the bounds are those of the range, and only the last branch has no bounds.
bool is_whole(const SizeRule& rule) {
  if (rule.branches.empty()) return false;
  for (const SizeRule::Branch& branch : rule.branches) {
    if (branch.bounds.empty() != (&branch == &rule.branches.back())) return false;
    for (const SizeRule::Bound& bound : branch.bounds)
      if (!std::ranges::all_of(bound.sizes, [&](const auto& name) { return rule.range.contains(name); })) return false;
  }
  return true;
}

}  // namespace

std::string SizeRule::Bound::text() const {
  std::string all;
  for (const std::string& name : sizes) all += (all.empty() ? "" : "*") + name;
  return all + '<' + scalar_text(below);
}

std::string SizeRule::Branch::condition() const {
  if (bounds.empty()) return std::string(kElse);
  std::string all;
  for (const Bound& bound : bounds) all.append(all.empty() ? "" : kConjunction).append(bound.text());
  return all;
}

const SizeRule::Branch* SizeRule::branch(const Sizes& sizes) const {
  if (sizes.size() != range.size()) return nullptr;
  for (const auto& [name, value] : sizes) {
    const auto at = range.find(name);
    if (at == range.end() || value < class_begin(at->second.least, sizes.size()) || value > at->second.most)
      return nullptr;
  }
  const auto holds = [&](const Bound& bound) {
    double product = 1;
    for (const std::string& name : bound.sizes) product *= static_cast<double>(sizes.at(name));
    return product < bound.below;
  };
  for (const Branch& one : branches)
    if (std::ranges::all_of(one.bounds, holds)) return &one;
  return nullptr;
}

std::string SizeRule::text() const {
  std::string all;
  for (const auto& [name, ends] : range)
    all += (all.empty() ? "" : " ") + name + '=' + std::to_string(ends.least) + ".." + std::to_string(ends.most);
  for (const Branch& one : branches) all += "; " + one.condition() + ": " + one.configuration.text();
  all.append("; ").append(kBetween);
  for (const double number : {between.median, between.low, between.high, between.worst})
    all += scalar_text(number) + ' ';
  return all + std::to_string(between.sizes);
}

std::optional<SizeRule> SizeRule::parse(std::string_view text) {
  SizeRule rule;
  const auto parts = split(text, "; ");
  if (parts.size() < 3 || !read_range(parts.front(), rule.range)) return std::nullopt;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i)
    if (!read_branch(parts[i], rule.branches.emplace_back())) return std::nullopt;
  const std::string_view last = parts.back();
  if (!last.starts_with(kBetween) || !read_regret(last.substr(kBetween.size()), rule.between)) return std::nullopt;
  if (!is_whole(rule)) return std::nullopt;
  return rule;
}

}  // namespace tuner
