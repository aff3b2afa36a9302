#pragma once
/// Results of the same kernel for another size or on another device, as a first guess of the results here. Internal to
/// the room.
///
/// A Gaussian process with fixed lengths learns the logarithm of (result here / result elsewhere). Its prediction at a
/// configuration, added to the result elsewhere, judges that configuration before it runs here.
///
/// Source: Golovin et al., "Google Vizier: a service for black-box optimization", KDD 2017 (a stack of regressors on
/// residuals).

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include <tuner/search/features.hpp>
#include <tuner/search/history.hpp>

namespace tuner::search {

class Transfer {
 public:
  /// \p elsewhere: results elsewhere, at least one of them valid. Only the best 2000 are proposed.
  Transfer(const EnumeratedSpace& space, std::vector<Known> elsewhere);

  /// The fresh configuration with the best optimistic prediction: the best elsewhere at first. Each of the first five
  /// differs from all before it in at least two parameters, because neighbours fail together. nullopt if all are tried.
  std::optional<Index> next(const History& history);

  /// Kendall's rank correlation between the results here and elsewhere, -1..1; nullopt if there are fewer than eight.
  std::optional<double> agreement(const History& history) const;

 private:
  struct Candidate {
    Index index = 0;
    double level = 0;  // logarithm of the result elsewhere
    std::vector<double> row;
  };
  struct Seen {
    std::size_t candidate = 0;
    std::optional<double> level;  // infinite: it failed; nullopt: not known yet
  };
  double level(double objective) const;
  std::vector<Seen> seen(const History& history) const;
  bool is_apart(Index index) const;

  const EnumeratedSpace& space_;
  double scale_ = 0;                   // of objectives that are not all positive; 0: logarithms
  double least_ = 0;                   // smaller objectives have the level of this one
  std::vector<Candidate> candidates_;  // best first
  std::unordered_map<Index, std::size_t> position_;
  std::vector<Index> proposed_;
};

}  // namespace tuner::search
