#include <tuner/search/features.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

namespace tuner::search {
namespace {

// Binary logarithms.
constexpr double kWarp = 5;
constexpr double kFewThreads = 7;
constexpr double kManyThreads = 8;
constexpr double kLoad = 2;

std::string lower_case(std::string_view name) {
  std::string out;
  for (const char c : name) out += 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// Whether \p name is a usual name of a dimension of the block, such as `block_size_x`, `threads` or `blockDimX`.
bool is_block_dimension(const std::string& name) {
  constexpr std::array<std::string_view, 8> stems{"block",      "blockdim", "block_dim",  "blocksize",
                                                  "block_size", "threads",  "local_size", "thread"};
  std::string_view stem = name;
  if (stem.size() > 1 && std::string_view("xyz").find(stem.back()) != std::string_view::npos) stem.remove_suffix(1);
  if (stem.ends_with('_')) stem.remove_suffix(1);
  return std::ranges::find(stems, stem) != stems.end();
}

/// Whether \p name is a usual name of the numbers that a load takes at once, such as `vector`, `vec_size` or `VWM`.
bool is_vector_width(const std::string& name) { return name.starts_with("vec") || name.starts_with("vw"); }

double log2_of(const Value& value) { return std::log2(static_cast<double>(value.integer())); }

/// By digit, without what depends on threads.
std::vector<double> oddities_of(const TuningParameter& parameter, bool is_vector) {
  std::vector<double> out(parameter.values.size(), 0.0);
  if (!are_sizes(parameter.values)) return out;
  const auto [low, high] = std::ranges::minmax_element(parameter.values, {}, &Value::integer);
  const double middle = is_vector ? kLoad : (log2_of(*low) + log2_of(*high)) / 2;
  const double range = is_vector ? 2 : log2_of(*high) - log2_of(*low);
  for (std::size_t digit = 0; digit < out.size(); ++digit) {
    const Value& value = parameter.values[digit];
    out[digit] = std::abs(log2_of(value) - middle) / range;
    if (!std::has_single_bit(static_cast<std::uint64_t>(value.integer()))) ++out[digit];
  }
  return out;
}

}  // namespace

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

Habits::Habits(const EnumeratedSpace& space) : space_(space) {
  for (const TuningParameter& parameter : space.parameters()) {
    const std::string name = lower_case(parameter.name);
    Parameter& habits = parameters_.emplace_back();
    habits.oddities = oddities_of(parameter, is_vector_width(name));
    const bool are_positive =
        std::ranges::all_of(parameter.values, [](const Value& v) { return v.is_integer() && v.integer() > 0; });
    if (!are_positive || !is_block_dimension(name)) continue;
    for (const Value& value : parameter.values) habits.threads.push_back(log2_of(value));
    if (!knows_threads_)
      for (std::size_t digit = 0; digit < habits.threads.size(); ++digit)
        habits.oddities[digit] += std::max(0.0, kWarp - habits.threads[digit]);
    knows_threads_ = true;
  }
}

double Habits::oddity(EnumeratedSpace::Index index) const {
  double sum = 0;
  double threads = 0;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const std::size_t digit = space_.digit(index, p);
    sum += parameters_[p].oddities[digit];
    if (!parameters_[p].threads.empty()) threads += parameters_[p].threads[digit];
  }
  return knows_threads_ ? sum + std::max({0.0, kFewThreads - threads, threads - kManyThreads}) : sum;
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
