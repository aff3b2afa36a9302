#include <tuner/report/columns.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace tuner::report {
namespace {

constexpr std::size_t kBase = 64;
/// Lists longer than this cost more than steps do.
constexpr std::size_t kMostValues = 63;
/// A group is read as one number: four digits are far below what JavaScript's integers hold.
constexpr std::size_t kWidestGroup = 4;

std::size_t power(std::size_t width) {
  std::size_t count = 1;
  while (width-- > 0) count *= kBase;
  return count;
}

bool is_there(const std::optional<double>& value) { return value && std::isfinite(*value); }

}  // namespace

void put_digits(std::string& text, std::size_t number, std::size_t width) {
  const std::size_t end = text.size() + width;
  text.resize(end);
  for (std::size_t i = 1; i <= width; ++i, number /= kBase) text[end - i] = kDigits[number % kBase];
}

std::size_t digits_for(std::size_t count) {
  std::size_t width = 1;
  while (power(width) < count) ++width;
  return width;
}

WordColumn list_words(std::span<const std::string> rows) {
  WordColumn column;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const std::string& word : rows) {
    const auto [at, is_new] = places.try_emplace(word, places.size());
    if (is_new) column.words.push_back(word);
    column.places.push_back(at->second);
  }
  return column;
}

std::optional<NumberColumn> pack_numbers(std::span<const std::optional<double>> rows, std::size_t width, Steps how) {
  const auto there = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_there));
  const std::size_t place_width = digits_for(rows.size());
  if (there > 0 && there * (place_width + width) < rows.size() * width) {
    std::vector<std::optional<double>> few;
    std::string places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_there(rows[i])) continue;
      few.push_back(rows[i]);
      put_digits(places, i, place_width);
    }
    std::optional<NumberColumn> column = pack_numbers(few, width, how);
    column->rows = std::move(places);
    column->row_width = place_width;
    column->row_count = there;
    return column;
  }
  std::set<double> values;
  bool absent = false;
  double low = 0, high = 0;
  for (const auto& row : rows) {
    absent = absent || !is_there(row);
    if (!is_there(row)) continue;
    low = values.empty() ? *row : std::min(low, *row);
    high = values.empty() ? *row : std::max(high, *row);
    if (values.size() <= kMostValues) values.insert(*row);
  }
  if (values.empty()) return std::nullopt;
  NumberColumn column;
  column.absent = absent;
  if (values.size() <= kMostValues) {
    column.values.assign(values.begin(), values.end());
    for (const auto& row : rows)
      column.places.push_back(is_there(row) ? static_cast<std::size_t>(std::distance(values.begin(), values.find(*row)))
                                            : values.size());
    return column;
  }
  column.logarithmic = how == Steps::fitting && low > 0 && high > 2 * low;
  column.low = low;
  column.high = high;
  column.width = width;
  const auto steps = static_cast<double>(power(width) - 2);
  for (const auto& row : rows) {
    if (!is_there(row)) {
      put_digits(column.text, 0, width);
      continue;
    }
    const double share = column.logarithmic ? std::log(*row / low) / std::log(high / low) : (*row - low) / (high - low);
    put_digits(column.text, 1 + static_cast<std::size_t>(std::llround(std::clamp(share, 0.0, 1.0) * steps)), width);
  }
  return column;
}

std::vector<PlaceGroup> pack_places(std::span<const std::size_t> counts,
                                    std::span<const std::vector<std::size_t>> columns, std::size_t rows) {
  std::vector<PlaceGroup> groups;
  std::vector<std::size_t> sizes;  // combinations of each group
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 2) continue;
    if (groups.empty() || sizes.back() * counts[i] > power(kWidestGroup)) {
      groups.emplace_back();
      sizes.push_back(1);
    }
    groups.back().columns.push_back(i);
    sizes.back() *= counts[i];
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    PlaceGroup& group = groups[g];
    group.width = digits_for(sizes[g]);
    for (std::size_t row = 0; row < rows; ++row) {
      std::size_t number = 0;
      for (std::size_t k = group.columns.size(); k-- > 0;)
        number = number * counts[group.columns[k]] + columns[group.columns[k]][row];
      put_digits(group.text, number, group.width);
    }
  }
  return groups;
}

}  // namespace tuner::report
