#pragma once
/// The valid configurations of a search space for one problem on one device, each with an index. Search strategies use
/// it for random access, lookup, neighbours and sampling. Indices are only meaningful within this object; stored
/// results name values (Configuration).
///
/// A space is listed or open. A listed one has all its configurations, and each number below size() is an index. An
/// open one has too many for a list: it draws and tests them, and its indices are not consecutive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/space_count.hpp>
#include <tuner/core/values/value.hpp>

namespace tuner {

/// A code, one number, for each combination of parameter values. Its digits are the positions in the lists of values;
/// each digit has its own range. The first parameter has the highest weight. Private to this room.
class MixedRadix {
 public:
  MixedRadix() = default;
  /// Throws std::length_error if there are more than 2^63 combinations.
  explicit MixedRadix(std::span<const TuningParameter> parameters) : weights_(parameters.size()) {
    for (std::size_t p = parameters.size(); p-- > 0;) {
      weights_[p] = product_;
      const std::uint64_t count = std::max<std::size_t>(parameters[p].values.size(), 1);
      if (product_ > (std::uint64_t{1} << 63) / count)
        throw std::length_error("the product of the parameters' values passes 2^63; leave some values out");
      product_ *= count;
    }
  }

  /// The number of combinations.
  std::uint64_t product() const { return product_; }
  /// The difference between the codes of two neighbouring values of \p parameter.
  std::uint64_t weight(std::size_t parameter) const { return weights_[parameter]; }
  std::uint64_t code(std::span<const std::uint16_t> digits) const {
    std::uint64_t code = 0;
    for (std::size_t p = 0; p < weights_.size(); ++p) code += weights_[p] * digits[p];
    return code;
  }
  void digits(std::uint64_t code, std::span<std::uint16_t> out) const {
    for (std::size_t p = 0; p < weights_.size(); ++p) {
      out[p] = static_cast<std::uint16_t>(code / weights_[p]);
      code -= weights_[p] * out[p];
    }
  }

 private:
  std::vector<std::uint64_t> weights_;
  std::uint64_t product_ = 1;
};

/// The configurations that count as neighbours.
enum class Neighbourhood {
  hamming,   ///< exactly one parameter differs, by any amount
  adjacent,  ///< exactly one parameter differs, by one step in its order of values
};

/// The configurations of an open space, known by tests of their validity.
class ValidityTest {
 public:
  /// Position of each parameter's value in its list of values, in parameter order.
  using Digits = std::vector<std::uint16_t>;
  /// A random number below its argument.
  using Below = std::function<std::size_t(std::size_t)>;

  virtual ~ValidityTest() = default;
  /// Throws EvaluationError if a constraint cannot be evaluated.
  virtual bool holds(std::span<const std::uint16_t> digits) const = 0;
  /// Any valid configuration; all have a chance, but not the same. Nothing if limited work finds none.
  virtual std::optional<Digits> draw(const Below& below) const = 0;
};

class EnumeratedSpace {
 public:
  using Index = std::uint64_t;
  using Digits = ValidityTest::Digits;

  EnumeratedSpace() = default;
  /// From the codes (MixedRadix) of configurations, without duplicates. Index i is the i-th code. A space without
  /// parameters has one configuration, whose code is 0. Throws std::length_error if the product of the parameters
  /// exceeds 2^63.
  static EnumeratedSpace from_codes(std::vector<TuningParameter> parameters, std::vector<std::uint64_t> codes);
  /// From explicit configurations, as in a recording. The values of each parameter are sorted. Index i is the i-th
  /// configuration given. Throws std::invalid_argument for unequal names or duplicates.
  static EnumeratedSpace from_configurations(std::span<const Configuration> configurations);

  /// An open space. \p any: a valid configuration. Throws std::length_error as from_codes().
  static EnumeratedSpace open(std::vector<TuningParameter> parameters, std::shared_ptr<const ValidityTest> test,
                              std::span<const std::uint16_t> any, SpaceCount count);

  bool is_open() const { return test_ != nullptr; }
  /// The number of configurations. Of an open space it may be an estimate: count() tells.
  std::size_t size() const;
  SpaceCount count() const;
  bool empty() const { return size() == 0; }
  const std::vector<TuningParameter>& parameters() const { return parameters_; }

  /// Whether \p index is that of a configuration.
  bool has(Index index) const;
  /// A random configuration: of a listed space uniformly, of an open one as ValidityTest::draw(). Returns nullopt if
  /// it finds no configuration.
  std::optional<Index> draw(const ValidityTest::Below& below) const;
  /// Some configuration. Precondition: not empty.
  Index any() const { return is_open() ? any_ : 0; }
  /// The smallest index from \p from on; nothing if there is none, or none of the next kNear of an open space.
  std::optional<Index> next(Index from) const;
  static constexpr Index kNear = Index{1} << 18;

  Configuration configuration(Index index) const;
  std::optional<Index> find(const Configuration& configuration) const;
  void digits(Index index, std::span<std::uint16_t> out) const;
  /// Position of \p index's value of parameter number \p parameter.
  std::uint16_t digit(Index index, std::size_t parameter) const;
  std::optional<Index> find_digits(std::span<const std::uint16_t> digits) const;
  /// Valid neighbours of \p index, in ascending order of (parameter, value).
  std::vector<Index> neighbours(Index index, Neighbourhood kind) const;

 private:
  using Position = std::uint32_t;
  std::uint64_t code(Index index) const { return is_open() ? index : codes_[index]; }
  std::uint64_t sorted_code(std::size_t position) const;
  Index sorted_index(std::size_t position) const;
  std::optional<Index> find_code(std::uint64_t code) const;
  void build_buckets();

  std::vector<TuningParameter> parameters_;
  MixedRadix radix_;
  std::vector<std::uint64_t> codes_;  // by index
  std::vector<Position> by_code_;     // indices sorted by code; empty if codes_ is sorted already
  // Of an open space, whose codes are the indices.
  std::shared_ptr<const ValidityTest> test_;
  Index any_ = 0;
  SpaceCount count_;

  // Codes with equal c >> bucket_shift_ are neighbours in the sorted order, from bucket_start_[c >> bucket_shift_] on.
  // A bucket has about one code: a lookup costs two cache misses instead of a binary search over all codes.
  int bucket_shift_ = 0;
  std::vector<Position> bucket_start_;
};

}  // namespace tuner
