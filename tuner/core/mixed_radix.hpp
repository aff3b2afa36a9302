#pragma once
/// A code, one number, for each combination of parameter values. Its digits are the positions in the lists of values;
/// each digit has its own range. The first parameter has the highest weight. Private to this room.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <tuner/core/value.hpp>

namespace tuner {

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

}  // namespace tuner
