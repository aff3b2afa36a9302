#include <tuner/search/features.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::search {
bool are_sizes(const std::vector<Value>& values) {
  if (values.empty()) return false;
  if (!std::ranges::all_of(values, [](const Value& v) { return v.is_integer() && v.integer() > 0; })) return false;
  const auto [low, high] = std::ranges::minmax_element(values, {}, &Value::integer);
  return high->integer() / 4 >= low->integer();
}

Features::Features(const EnumeratedSpace& space) : space_(space) {
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::vector<Value>& values = space.parameters()[p].values;
    if (values.size() < 2) continue;
    const bool sizes = are_sizes(values);
    parameters_.push_back(p);
    std::vector<float>& feature = values_.emplace_back();
    for (std::size_t digit = 0; digit < values.size(); ++digit)
      feature.push_back(sizes ? static_cast<float>(std::log2(static_cast<double>(values[digit].integer())))
                              : static_cast<float>(digit));
  }
}

std::vector<float> Features::rows(const std::vector<Known>& known) const {
  std::vector<float> out(known.size() * width());
  for (std::size_t i = 0; i < known.size(); ++i) write(known[i].index, out.data() + i * width());
  return out;
}

std::vector<double> capped_levels(const std::vector<Known>& known) {
  const bool positive = std::all_of(known.begin(), known.end(), [](const Known& one) { return one.objective > 0; });
  std::vector<double> valid;
  for (const Known& one : known)
    if (std::isfinite(one.objective)) valid.push_back(positive ? std::log(one.objective) : one.objective);
  const auto median = valid.begin() + static_cast<std::ptrdiff_t>(valid.size() / 2);
  std::nth_element(valid.begin(), median, valid.end());
  std::vector<double> out;
  for (const Known& one : known) out.push_back(std::min(positive ? std::log(one.objective) : one.objective, *median));
  return out;
}

}  // namespace tuner::search
