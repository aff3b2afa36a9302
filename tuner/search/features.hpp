#pragma once
/// Converts configurations and objectives to numbers for models, and knows what is usual for kernels. Internal to the
/// room.

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

/// How unusual a configuration is for a kernel: a first guess before anything is measured.
///
/// It knows values and names of parameters only, so it also judges recorded spaces, which have no kernel file. Each
/// rule holds for GPUs in general. All weigh the same, and none was fitted to recorded results.
class Habits {
 public:
  explicit Habits(const EnumeratedSpace& space);

  /// A sum over the rules; 0 is as usual as can be.
  /// - Sizes lie in the middle of their range, on a logarithmic scale. An end of the range counts as 1/2.
  /// - Sizes are powers of two. Each other one counts as 1.
  /// - A block has 128 to 256 threads, and its first dimension at least a warp of 32. Each factor of two counts as 1.
  /// - A load takes 16 bytes, which are four numbers. This takes the place of the middle, with 1/2 for a factor of two.
  double oddity(EnumeratedSpace::Index index) const;

 private:
  struct Parameter {
    std::vector<double> oddities;  // by digit
    std::vector<double> threads;   // binary logarithms, by digit; empty: it does not count threads
  };

  const EnumeratedSpace& space_;
  std::vector<Parameter> parameters_;
  bool knows_threads_ = false;
};

/// Logarithms of the objectives; the objectives themselves if one is not positive. Slow configurations differ for many
/// reasons that do not matter: everything above the median, including failures, counts as the median. Precondition:
/// something worked.
std::vector<double> capped_levels(const std::vector<Known>& known);

}  // namespace tuner::search
