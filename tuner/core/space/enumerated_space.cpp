#include <tuner/core/space/enumerated_space.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <tuner/core/values/characters.hpp>

namespace tuner {

namespace {

/// Strings that are numbers ("0.5", "1e-3") are ordered as numbers. Values that are not strings come first.
bool value_before(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    const auto number = [](const std::string& text) {
      const auto parsed = number_of<double>(text);
      return parsed && !std::isnan(*parsed) ? parsed : std::nullopt;  // "nan" has no place among numbers
    };
    const auto x = number(a.string());
    const auto y = number(b.string());
    if (x && y && *x != *y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
  }
  return a < b;
}

}  // namespace

EnumeratedSpace EnumeratedSpace::from_codes(std::vector<TuningParameter> parameters, std::vector<std::uint64_t> codes) {
  if (codes.size() > std::numeric_limits<Position>::max())
    throw std::length_error("more than 2^32 valid configurations in a list; tighten the constraints");
  EnumeratedSpace space;
  space.radix_ = MixedRadix(parameters);
  space.parameters_ = std::move(parameters);
  space.codes_ = std::move(codes);
  if (!std::ranges::is_sorted(space.codes_)) {
    space.by_code_.resize(space.codes_.size());
    std::iota(space.by_code_.begin(), space.by_code_.end(), Position{0});
    std::ranges::sort(space.by_code_, [&](Position a, Position b) { return space.codes_[a] < space.codes_[b]; });
  }
  space.build_buckets();
  return space;
}

EnumeratedSpace EnumeratedSpace::open(std::vector<TuningParameter> parameters, std::shared_ptr<const ValidityTest> test,
                                      std::span<const std::uint16_t> any, SpaceCount count) {
  EnumeratedSpace space;
  space.radix_ = MixedRadix(parameters);
  space.parameters_ = std::move(parameters);
  space.test_ = std::move(test);
  space.any_ = space.radix_.code(any);
  space.count_ = count;
  return space;
}

void EnumeratedSpace::build_buckets() {
  if (codes_.empty()) return;
  const std::uint64_t product = radix_.product();
  const std::size_t rows = codes_.size();
  bucket_shift_ = std::max(0, static_cast<int>(std::bit_width(product)) - static_cast<int>(std::bit_width(rows)));
  bucket_start_.assign(static_cast<std::size_t>((product - 1) >> bucket_shift_) + 2, 0);
  for (const std::uint64_t code : codes_) ++bucket_start_[static_cast<std::size_t>(code >> bucket_shift_) + 1];
  std::partial_sum(bucket_start_.begin(), bucket_start_.end(), bucket_start_.begin());
}

EnumeratedSpace EnumeratedSpace::from_configurations(std::span<const Configuration> configurations) {
  if (configurations.empty()) return {};
  const auto& first = configurations.front().entries();
  for (const Configuration& configuration : configurations)
    if (!std::ranges::equal(configuration.entries(), first, {}, &Bindings::Entry::first, &Bindings::Entry::first))
      throw std::invalid_argument("configuration '" + configuration.text() + "' does not assign the parameters of '" +
                                  configurations.front().text() + "'");
  std::vector<TuningParameter> parameters;
  for (std::size_t p = 0; p < first.size(); ++p) {
    std::set<Value, decltype(&value_before)> values(&value_before);
    for (const Configuration& configuration : configurations) values.insert(configuration.entries()[p].second);
    if (values.size() > std::numeric_limits<std::uint16_t>::max())
      throw std::invalid_argument("parameter '" + first[p].first + "' has more than 65535 values");
    parameters.push_back({first[p].first, {values.begin(), values.end()}});
  }
  const MixedRadix radix(parameters);
  std::vector<std::uint64_t> codes;
  for (const Configuration& configuration : configurations) {
    std::uint64_t& code = codes.emplace_back(0);
    for (std::size_t p = 0; p < first.size(); ++p) {
      const std::vector<Value>& values = parameters[p].values;
      const auto at = std::ranges::lower_bound(values, configuration.entries()[p].second, value_before);
      code += radix.weight(p) * static_cast<std::uint64_t>(at - values.begin());
    }
  }
  EnumeratedSpace space = from_codes(std::move(parameters), std::move(codes));
  for (std::size_t i = 1; i < space.size(); ++i)
    if (space.sorted_code(i - 1) == space.sorted_code(i))
      throw std::invalid_argument("configuration '" + space.configuration(space.sorted_index(i)).text() +
                                  "' is given twice");
  return space;
}

std::size_t EnumeratedSpace::size() const {
  return is_open() ? static_cast<std::size_t>(std::max(1.0, count_.number)) : codes_.size();
}

SpaceCount EnumeratedSpace::count() const {
  return is_open() ? count_ : SpaceCount{static_cast<double>(codes_.size()), SpaceCount::Kind::exact};
}

bool EnumeratedSpace::has(Index index) const {
  return is_open() ? index < radix_.product() && find_code(index).has_value() : index < codes_.size();
}

std::optional<EnumeratedSpace::Index> EnumeratedSpace::draw(const ValidityTest::Below& below) const {
  if (empty()) return std::nullopt;
  if (!is_open()) return below(codes_.size());
  const std::optional<Digits> drawn = test_->draw(below);
  return drawn ? std::optional(radix_.code(*drawn)) : std::nullopt;
}

std::optional<EnumeratedSpace::Index> EnumeratedSpace::next(Index from) const {
  const Index end = is_open() ? from + std::min(kNear, radix_.product() - std::min(from, radix_.product())) : size();
  for (; from < end; ++from)
    if (!is_open() || find_code(from)) return from;
  return std::nullopt;
}

std::uint64_t EnumeratedSpace::sorted_code(std::size_t position) const { return codes_[sorted_index(position)]; }

EnumeratedSpace::Index EnumeratedSpace::sorted_index(std::size_t position) const {
  return by_code_.empty() ? Index{position} : Index{by_code_[position]};
}

Configuration EnumeratedSpace::configuration(Index index) const {
  Configuration out;
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    out.set(parameters_[p].name, parameters_[p].values[digit(index, p)]);
  return out;
}

std::optional<EnumeratedSpace::Index> EnumeratedSpace::find(const Configuration& configuration) const {
  if (configuration.entries().size() != parameters_.size()) return std::nullopt;
  std::uint64_t code = 0;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const Value* value = configuration.find(parameters_[p].name);
    if (!value) return std::nullopt;
    const auto& values = parameters_[p].values;
    const auto at = std::ranges::find(values, *value);
    if (at == values.end()) return std::nullopt;
    code += radix_.weight(p) * static_cast<std::uint64_t>(at - values.begin());
  }
  return find_code(code);
}

std::uint16_t EnumeratedSpace::digit(Index index, std::size_t parameter) const {
  return static_cast<std::uint16_t>(code(index) / radix_.weight(parameter) % parameters_[parameter].values.size());
}

void EnumeratedSpace::digits(Index index, std::span<std::uint16_t> out) const { radix_.digits(code(index), out); }

std::optional<EnumeratedSpace::Index> EnumeratedSpace::find_digits(std::span<const std::uint16_t> digits) const {
  if (digits.size() != parameters_.size()) return std::nullopt;
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    if (digits[p] >= parameters_[p].values.size()) return std::nullopt;
  return find_code(radix_.code(digits));
}

std::optional<EnumeratedSpace::Index> EnumeratedSpace::find_code(std::uint64_t code) const {
  if (is_open()) {
    Digits digits(parameters_.size());
    radix_.digits(code, digits);
    return test_->holds(digits) ? std::optional(code) : std::nullopt;
  }
  if (codes_.empty()) return std::nullopt;
  const auto bucket = static_cast<std::size_t>(code >> bucket_shift_);
  std::size_t low = bucket_start_[bucket];
  std::size_t high = bucket_start_[bucket + 1];
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (sorted_code(middle) < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < bucket_start_[bucket + 1] && sorted_code(low) == code) return sorted_index(low);
  return std::nullopt;
}

std::vector<EnumeratedSpace::Index> EnumeratedSpace::neighbours(Index index, Neighbourhood kind) const {
  std::vector<Index> out;
  const std::uint64_t code = this->code(index);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const int here = digit(index, p);
    const int last = static_cast<int>(parameters_[p].values.size()) - 1;
    const int from = kind == Neighbourhood::adjacent ? std::max(here - 1, 0) : 0;
    const int to = kind == Neighbourhood::adjacent ? std::min(here + 1, last) : last;
    const std::uint64_t base = code - radix_.weight(p) * static_cast<std::uint64_t>(here);
    for (int value = from; value <= to; ++value) {
      if (value == here) continue;
      if (const auto found = find_code(base + radix_.weight(p) * static_cast<std::uint64_t>(value)))
        out.push_back(*found);
    }
  }
  return out;
}

}  // namespace tuner
