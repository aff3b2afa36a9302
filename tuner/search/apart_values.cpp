#include <tuner/search/apart_values.hpp>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace tuner::search {
namespace {

// A value is apart if at most one in kTimes of kSample drawn configurations can take it.
constexpr std::size_t kSample = 128;
constexpr std::size_t kTimes = 3;

constexpr std::size_t kBest = 5;     // The best so many are repaired, and have their neighbours as candidates.
constexpr std::size_t kDraws = 256;  // Of so many random ones, those with the value are candidates.
constexpr std::size_t kShares = 5;   // More values than these share the trials of these.
constexpr std::size_t kLeast = 2;    // With fewer results, a value's model does not learn.

/// The number of parameters that differ, and the sum of their steps.
std::pair<std::size_t, int> distance(const EnumeratedSpace::Digits& a, const EnumeratedSpace::Digits& b) {
  std::pair<std::size_t, int> out{0, 0};
  for (std::size_t p = 0; p < a.size(); ++p) {
    out.first += a[p] != b[p];
    out.second += std::abs(a[p] - b[p]);
  }
  return out;
}

EnumeratedSpace::Digits digits_of(const EnumeratedSpace& space, Index index) {
  EnumeratedSpace::Digits out(space.parameters().size());
  space.digits(index, out);
  return out;
}

/// The nearest valid configuration in which one parameter other than \p fixed differs from \p digits.
std::optional<Index> one_change(const EnumeratedSpace& space, EnumeratedSpace::Digits digits, std::size_t fixed) {
  std::optional<Index> nearest;
  int shortest = 0;
  for (std::size_t p = 0; p < digits.size(); ++p) {
    if (p == fixed) continue;
    const std::uint16_t here = digits[p];
    for (std::size_t to = 0; to < space.parameters()[p].values.size(); ++to) {
      const int step = std::abs(static_cast<int>(to) - here);
      if (nearest && step >= shortest) continue;
      digits[p] = static_cast<std::uint16_t>(to);
      if (const auto found = space.find_digits(digits)) std::tie(nearest, shortest) = std::pair(found, step);
    }
    digits[p] = here;
  }
  return nearest;
}

/// Takes over each value of \p goal that leaves \p digits valid, until no other does.
void walk(const EnumeratedSpace& space, EnumeratedSpace::Digits& digits, const EnumeratedSpace::Digits& goal) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t p = 0; p < digits.size(); ++p) {
      if (digits[p] == goal[p]) continue;
      const std::uint16_t kept = std::exchange(digits[p], goal[p]);
      if (space.find_digits(digits)) {
        moved = true;
      } else {
        digits[p] = kept;
      }
    }
  }
}

/// Any configuration with the value, of a listed space; nullopt if there is none, or the space is open.
std::optional<Index> any_with(const EnumeratedSpace& space, std::size_t parameter, std::uint16_t digit) {
  for (Index index = 0; !space.is_open() && index < space.size(); ++index)
    if (space.digit(index, parameter) == digit) return index;
  return std::nullopt;
}

bool has_order(const TuningParameter& parameter) {
  return parameter.values.size() > 2 && std::ranges::all_of(parameter.values, &Value::is_integer);
}

}  // namespace

std::optional<Index> repaired(const EnumeratedSpace& space, const EnumeratedSpace::Digits& digits, std::size_t fixed,
                              const std::vector<Index>& from) {
  if (const auto found = space.find_digits(digits)) return found;
  if (const auto found = one_change(space, digits, fixed)) return found;
  std::optional<EnumeratedSpace::Digits> nearest;
  for (const Index start : from) {
    EnumeratedSpace::Digits end = digits_of(space, start);
    walk(space, end, digits);
    if (!nearest || distance(end, digits) < distance(*nearest, digits)) nearest = std::move(end);
  }
  return nearest ? space.find_digits(*nearest) : std::nullopt;
}

std::vector<ApartValues::Apart> ApartValues::find(History& history) {
  const EnumeratedSpace& space = history.space();
  std::vector<EnumeratedSpace::Digits> sample;
  for (std::size_t i = 0; i < kSample; ++i)
    if (const auto drawn = history.random_fresh(random_)) sample.push_back(digits_of(space, *drawn));
  std::vector<Apart> out;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::size_t count = space.parameters()[p].values.size();
    if (count < 2 || has_order(space.parameters()[p])) continue;
    for (std::size_t digit = 0; digit < count; ++digit) {
      const auto value = static_cast<std::uint16_t>(digit);
      std::size_t others = 0;
      std::size_t able = 0;
      for (EnumeratedSpace::Digits& one : sample) {
        if (one[p] == value) continue;
        ++others;
        const std::uint16_t kept = std::exchange(one[p], value);
        able += space.find_digits(one).has_value();
        one[p] = kept;
      }
      if (kTimes * able < others) out.push_back({p, value});
    }
  }
  return out;
}

std::optional<Index> ApartValues::next(History& history, std::size_t visits) {
  if (!history.best() || visits == 0) return std::nullopt;
  if (!values_) values_ = find(history);
  const std::size_t most = visits * kShares / std::max(kShares, values_->size());
  Apart* least = nullptr;
  for (Apart& value : *values_) {
    if (value.visits >= most || (least && least->visits <= value.visits)) continue;
    if (history.space().digit(history.best()->index, value.parameter) != value.digit) least = &value;
  }
  if (!least) return std::nullopt;
  ++least->visits;
  return visit(*least, history);
}

std::optional<Index> ApartValues::visit(const Apart& value, History& history) {
  const EnumeratedSpace& space = history.space();
  const std::vector<Known> sorted = history.elites(history.known().size());
  std::vector<Known> results;  // with the value
  for (const Known& known : history.known())
    if (space.digit(known.index, value.parameter) == value.digit) results.push_back(known);
  std::ranges::stable_sort(results, {}, &Known::objective);
  std::vector<Index> from;
  for (std::size_t i = 0; i < std::min(kBest, results.size()); ++i) from.push_back(results[i].index);

  std::vector<Index> found;
  const auto add = [&](Index index) {
    if (space.digit(index, value.parameter) == value.digit && history.is_fresh(index)) found.push_back(index);
  };
  std::vector<Index> near;
  for (const Index index : from)
    for (const Index neighbour : space.neighbours(index, Neighbourhood::hamming)) near.push_back(neighbour);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const auto drawn = history.random_fresh(random_);
    if (!drawn) break;
    if (space.digit(*drawn, value.parameter) != value.digit) continue;
    from.push_back(*drawn);
    near.push_back(*drawn);
  }
  if (from.empty())
    if (const auto any = any_with(space, value.parameter, value.digit)) from.push_back(*any);
  for (std::size_t i = 0; i < std::min(kBest, sorted.size()); ++i) {
    EnumeratedSpace::Digits digits = digits_of(space, sorted[i].index);
    digits[value.parameter] = value.digit;
    if (const auto index = repaired(space, digits, value.parameter, from)) add(*index);
  }
  for (const Index index : near) add(index);
  if (found.empty() || results.size() < kLeast) return found.empty() ? std::nullopt : std::optional(found.front());

  model_.fit(results, random_);
  std::optional<std::tuple<double, double, Index>> best;  // chance decides between equal predictions
  for (const Index index : found) {
    const std::tuple one{model_.predict(index).mean, random_.uniform(), index};
    if (!best || one < *best) best = one;
  }
  return std::get<Index>(*best);
}

}  // namespace tuner::search
