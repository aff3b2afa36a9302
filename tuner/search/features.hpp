#pragma once
/// Converts configurations and objectives to numbers for models. Internal to the room.

#include <cstddef>
#include <vector>

#include <tuner/search/history.hpp>

namespace tuner::search {

/// Positive integers over a range of at least 4.
bool are_sizes(const std::vector<Value>& values);

/// One feature for each parameter with more than one value. Sizes become
/// logarithms, other parameters their position in the list of values. One step of an average parameter is about 1.
class Features {
 public:
  explicit Features(const EnumeratedSpace& space);
  std::size_t width() const { return parameters_.size(); }
  /// Writes width() numbers to \p out.
  void write(Index index, float* out) const {
    for (std::size_t f = 0; f < parameters_.size(); ++f) out[f] = values_[f][space_.digit(index, parameters_[f])];
  }
  /// The features of all \p known, row by row.
  std::vector<float> rows(const std::vector<Known>& known) const;
  /// The feature's value for each digit.
  const std::vector<float>& values(std::size_t feature) const { return values_[feature]; }

 private:
  const EnumeratedSpace& space_;
  std::vector<std::size_t> parameters_;
  std::vector<std::vector<float>> values_;
};

/// Logarithms of the objectives; the objectives themselves if one is not positive. Slow configurations differ for many
/// reasons that do not matter: everything above the median, including failures, counts as the median. Precondition:
/// something worked.
std::vector<double> capped_levels(const std::vector<Known>& known);

}  // namespace tuner::search
