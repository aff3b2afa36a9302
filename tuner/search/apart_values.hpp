#pragma once
/// Values that most configurations cannot take without other changes, such as an algorithm that needs a certain grid.
/// Local moves and crossings seldom reach them, and a model that learnt from other configurations judges them wrongly.
/// Internal to the room.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tuner/search/history.hpp>
#include <tuner/search/rank_model.hpp>

namespace tuner::search {

/// Gives each such value a few trials with good values of the other parameters.
///
/// The first trial of a value is the best known configuration, changed to have it and repaired to the nearest valid
/// one. Later trials follow a forest that learns from configurations with this value alone: what is good elsewhere does
/// not count. Only values without an order are considered (words, booleans, one of two): a model sees in an order where
/// it leads.
class ApartValues {
 public:
  /// \p seed: for a separate generator, so that nothing changes where no value is apart.
  ApartValues(const EnumeratedSpace& space, const ForestOptions& options, std::uint64_t seed)
      : model_(space, options, false), random_(seed) {}

  /// A fresh configuration with the value that was visited least. Passes over values of the best configuration, which
  /// any search explores. \p visits: the most for each value, and five times as many in all. nullopt if there is
  /// nothing to visit.
  std::optional<Index> next(History& history, std::size_t visits);

 private:
  struct Apart {
    std::size_t parameter = 0;
    std::uint16_t digit = 0;
    std::size_t visits = 0;
  };

  std::vector<Apart> find(History& history);
  std::optional<Index> visit(const Apart& value, History& history);

  RankModel model_;
  Random random_;
  std::optional<std::vector<Apart>> values_;  // found at the first visit
};

/// The configuration nearest to \p digits with the same value of parameter number \p fixed. Exact if no other parameter
/// or one has to change. Otherwise walks from each of \p from, valid configurations with this value, towards \p digits,
/// and takes the nearest end. nullopt if it finds none.
std::optional<Index> repaired(const EnumeratedSpace& space, const EnumeratedSpace::Digits& digits, std::size_t fixed,
                              const std::vector<Index>& from);

}  // namespace tuner::search
