#pragma once
/// The valid configurations of a search space for one problem on one device, each with an index. Search strategies use
/// it for random access, lookup, neighbours and uniform sampling. Indices are only meaningful within this object;
/// stored results name values (Configuration).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/value.hpp>

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

class EnumeratedSpace {
 public:
  using Index = std::uint32_t;
  /// Position of each parameter's value in its list of values, in parameter order.
  using Digits = std::vector<std::uint16_t>;

  EnumeratedSpace() = default;
  /// From the codes (MixedRadix) of configurations, without duplicates. Index i is the i-th code. A space without
  /// parameters has one configuration, whose code is 0. Throws std::length_error if the product of the parameters
  /// exceeds 2^63.
  static EnumeratedSpace from_codes(std::vector<TuningParameter> parameters, std::vector<std::uint64_t> codes);
  /// From explicit configurations, as in a recording. The values of each parameter are sorted. Index i is the i-th
  /// configuration given. Throws std::invalid_argument for unequal names or duplicates.
  static EnumeratedSpace from_configurations(std::span<const Configuration> configurations);

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const std::vector<TuningParameter>& parameters() const { return parameters_; }

  Configuration configuration(Index index) const;
  std::optional<Index> find(const Configuration& configuration) const;
  void digits(Index index, std::span<std::uint16_t> out) const;
  /// Position of \p index's value of parameter number \p parameter.
  std::uint16_t digit(Index index, std::size_t parameter) const;
  std::optional<Index> find_digits(std::span<const std::uint16_t> digits) const;
  /// Valid neighbours of \p index, in ascending order of (parameter, value).
  std::vector<Index> neighbours(Index index, Neighbourhood kind) const;

 private:
  std::uint64_t sorted_code(std::size_t position) const;
  Index sorted_index(std::size_t position) const;
  std::optional<Index> find_code(std::uint64_t code) const;
  void build_buckets();

  std::vector<TuningParameter> parameters_;
  MixedRadix radix_;
  std::vector<std::uint64_t> codes_;  // by index
  std::vector<Index> by_code_;        // indices sorted by code; empty if codes_ is sorted already

  // Codes with equal c >> bucket_shift_ are neighbours in the sorted order, from bucket_start_[c >> bucket_shift_] on.
  // A bucket has about one code: a lookup costs two cache misses instead of a binary search over all codes.
  int bucket_shift_ = 0;
  std::vector<Index> bucket_start_;
};

}  // namespace tuner
