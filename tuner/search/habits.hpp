#pragma once
/// How unusual a configuration is for a kernel: a first guess before anything is measured. Internal to the room.
///
/// It knows values and names of parameters only, so it also judges recorded spaces, which have no kernel file. Each
/// rule holds for GPUs in general. All weigh the same, and none was fitted to recorded results.

#include <cstddef>
#include <vector>

#include <tuner/core/space/enumerated_space.hpp>

namespace tuner::search {

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

}  // namespace tuner::search
