#pragma once
/// Configurations as numbers for models: one feature for each parameter that has a choice. Internal to the room.

#include <cstddef>
#include <vector>

#include <tuner/core/enumerated_space.hpp>

namespace tuner::search {

/// Sizes (positive integers over a range of at least 4) count by their logarithm, other parameters by their position
/// in the list of values. Features are scaled so that one step of an average parameter is about 1.
class Features {
 public:
  explicit Features(const EnumeratedSpace& space);
  std::size_t width() const { return parameters_.size(); }
  /// Writes width() numbers.
  void write(EnumeratedSpace::Index index, float* out) const {
    for (std::size_t f = 0; f < parameters_.size(); ++f) out[f] = values_[f][space_.digit(index, parameters_[f])];
  }
  /// Parameter number of a feature.
  std::size_t parameter(std::size_t feature) const { return parameters_[feature]; }
  /// The feature's value of each digit.
  const std::vector<float>& values(std::size_t feature) const { return values_[feature]; }

 private:
  const EnumeratedSpace& space_;
  std::vector<std::size_t> parameters_;
  std::vector<std::vector<float>> values_;
};

}  // namespace tuner::search
