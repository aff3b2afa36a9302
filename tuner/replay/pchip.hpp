#pragma once
/// Shape-preserving piecewise cubic interpolation. Internal to the room.
///
/// Source: Fritsch, Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci.
/// Stat. Comput. 5 (1984); end slopes by the three-point formula with Moler's limits.

#include <span>
#include <vector>

namespace tuner::replay {

class Pchip {
 public:
  /// \p x: strictly ascending, at least two.
  Pchip(std::span<const double> x, std::span<const double> y);
  /// \p at within the range of x.
  double operator()(double at) const;

 private:
  std::vector<double> x_, y_, slope_;
};

}  // namespace tuner::replay
