#pragma once
/// Judges whether a search is worth going on with. Internal to the room.

#include <optional>
#include <span>

#include <tuner/search/history.hpp>
#include <tuner/search/rank_model.hpp>

namespace tuner::search {

/// The probability that one of the 32 most promising of \p wanted (the fresh ones of them) is better than the best by
/// the share \p factor, were their predictions independent; nothing when none of them is fresh. By a forest of its own
/// on the objective itself, over the features of \p model. Precondition: something worked.
std::optional<double> improvement_chance(const RankModel& model, const History& history, std::span<const Index> wanted,
                                         double factor);

}  // namespace tuner::search
