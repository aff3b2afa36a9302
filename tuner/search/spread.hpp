#pragma once
/// A low-discrepancy start: spreads the first configurations of a search evenly over the values of all parameters.
/// Internal to the room.

#include <tuner/search/history.hpp>

namespace tuner::search {

/// Draws \p candidates random fresh configurations and returns the one whose values were seen least and that is
/// farthest from those seen. A greedy form of the maximin and Latin-hypercube criteria that needs no product space.
///
/// Source: Mitchell, "Spectrally optimal sampling for distribution ray tracing" (best candidate), SIGGRAPH 1991;
/// McKay, Beckman, Conover, "A comparison of three methods for selecting values of input variables", Technometrics 21
/// (1979).
class Spread {
 public:
  explicit Spread(const EnumeratedSpace& space);
  /// nullopt when no fresh configuration is left.
  std::optional<Index> next(History& history, Random& random, std::size_t candidates = 24);
  /// Counts \p index as seen.
  void seen(Index index);

 private:
  const EnumeratedSpace& space_;
  std::vector<std::vector<std::uint32_t>> uses_;  // for each parameter and digit
  std::vector<Index> seen_;
};

}  // namespace tuner::search
