// Results of the same kernel for another size or device: which configurations are tried first, and what a prior that is
// wrong costs.

#include <cmath>
#include <functional>
#include <set>

#include <tuner/search/transfer.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using test::kernel_space;
using test::kernel_time;

std::vector<Known> known_elsewhere(const EnumeratedSpace& space, const std::function<double(Index)>& time) {
  std::vector<Known> out;
  for (Index index = 0; index < space.size(); ++index) out.push_back({index, time(index)});
  return out;
}

/// Lets \p transfer propose up to \p count configurations, which take \p time here.
std::vector<Index> propose(Transfer& transfer, History& history, std::size_t count,
                           const std::function<double(Index)>& time) {
  std::vector<Index> out;
  while (out.size() < count) {
    const auto index = transfer.next(history);
    if (!index) break;
    history.propose(*index);
    const double here = time(*index);
    history.learn({*index, std::isfinite(here) ? std::optional(here) : std::nullopt, {}});
    out.push_back(*index);
  }
  return out;
}

std::size_t differences(const EnumeratedSpace& space, Index a, Index b) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) count += space.digit(a, p) != space.digit(b, p);
  return count;
}

class TransferTest : public ::testing::Test {
 protected:
  double time(Index index) const { return kernel_time(space_, index); }
  std::function<double(Index)> times() const {
    return [this](Index index) { return time(index); };
  }
  /// Fast is slow, and slow is fast.
  std::function<double(Index)> reversed() const {
    return [this](Index index) { return 100 / time(index); };
  }

  const EnumeratedSpace space_ = kernel_space();
  History history_{space_};
};

TEST_F(TransferTest, BeginsWithTheBestElsewhere) {
  Transfer transfer(space_, known_elsewhere(space_, times()));
  const Index first = *transfer.next(history_);
  for (Index index = 0; index < space_.size(); ++index) EXPECT_LE(time(first), time(index));
}

TEST_F(TransferTest, ProposesFirstWhatDiffersInTwoParameters) {
  Transfer transfer(space_, known_elsewhere(space_, times()));
  const std::vector<Index> first = propose(transfer, history_, 5, times());
  ASSERT_THAT(first, SizeIs(5));
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(differences(space_, first[i], first[j]), 2u);
}

TEST_F(TransferTest, ProposesAheadOfResults) {
  Transfer transfer(space_, known_elsewhere(space_, times()));
  std::set<Index> proposed;
  for (int i = 0; i < 16; ++i) {
    const Index index = *transfer.next(history_);
    history_.propose(index);
    proposed.insert(index);
  }
  EXPECT_THAT(proposed, SizeIs(16));
}

TEST_F(TransferTest, LeavesARegionThatIsSlowOrFailsHere) {
  Transfer any(space_, known_elsewhere(space_, times()));
  const std::uint16_t value = space_.digit(*any.next(history_), 4);
  for (const double here : {20.0, HUGE_VAL}) {
    History history(space_);
    Transfer transfer(space_, known_elsewhere(space_, times()));
    const auto is_there = [&](Index index) { return space_.digit(index, 4) == value; };
    const std::vector<Index> tried =
        propose(transfer, history, 12, [&](Index index) { return is_there(index) ? here * time(index) : time(index); });
    EXPECT_LE(std::count_if(tried.begin() + 6, tried.end(), is_there), 1) << here;
  }
}

TEST_F(TransferTest, EndsAfterWhatIsKnownElsewhere) {
  std::vector<Known> few = known_elsewhere(space_, times());
  few.resize(7);
  few[3].objective = HUGE_VAL;
  Transfer transfer(space_, few);
  EXPECT_THAT(propose(transfer, history_, 20, times()), SizeIs(::testing::Le(6)));
}

TEST_F(TransferTest, AcceptsObjectivesThatAreZero) {
  const auto conflicts = [&](Index index) { return std::floor(time(index)) - 1; };
  Transfer transfer(space_, known_elsewhere(space_, conflicts));
  const std::vector<Index> tried = propose(transfer, history_, 10, conflicts);
  ASSERT_THAT(tried, SizeIs(10));
  EXPECT_EQ(conflicts(tried.front()), 0);
  EXPECT_GT(transfer.agreement(history_).value(), -0.5);
}

TEST_F(TransferTest, TellsWhetherResultsAgree) {
  const auto agreement = [&](const std::function<double(Index)>& here, std::size_t count) {
    History history(space_);
    Transfer transfer(space_, known_elsewhere(space_, times()));
    for (Index index = 0; index < count; ++index) history.learn({index * 7, here(index * 7), {}});
    return transfer.agreement(history);
  };
  EXPECT_FALSE(agreement(times(), 7));
  EXPECT_GT(agreement(times(), 12).value(), 0.8);
  EXPECT_LT(agreement(reversed(), 12).value(), -0.8);
}

/// The mean over seeds of the best time after \p trials of `auto`.
double mean_best(const EnumeratedSpace& space, std::span<const Observation> prior, int trials) {
  constexpr int seeds = 10;
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    StrategyOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    const auto strategy = make_strategy("auto", space, options);
    strategy->seed_prior(prior, 1);
    double best = HUGE_VAL;
    for (int t = 0; t < trials; ++t) best = std::min(best, kernel_time(space, test::try_one(*strategy, space)));
    sum += best;
  }
  return sum / seeds;
}

TEST_F(TransferTest, HelpsAutoFromTheFirstTrialAndCostsItLittleWhereResultsDisagree) {
  std::vector<Observation> good;
  std::vector<Observation> bad;
  for (Index index = 0; index < space_.size(); ++index) {
    // Elsewhere a value of one parameter is twice as slow, and there is noise.
    const double other =
        time(index) * (space_.digit(index, 4) == 0 ? 2 : 1) * (1 + 0.02 * static_cast<double>(index % 5));
    good.push_back({index, other, {}});
    bad.push_back({index, reversed()(index), {}});
  }
  EXPECT_LT(mean_best(space_, good, 5), mean_best(space_, {}, 20));
  EXPECT_LE(mean_best(space_, bad, 50), mean_best(space_, {}, 40));
}

TEST_F(TransferTest, LetsAutoGoOnAfterFewResults) {
  for (const std::size_t count : {1, 2, 5, 30}) {
    std::vector<Observation> few;
    for (Index index = 0; index < count; ++index) few.push_back({3 * index, time(3 * index), {}});
    const auto strategy = make_strategy("auto", space_, {});
    strategy->seed_prior(few, 1);
    EXPECT_THAT(strategy->propose(40), SizeIs(40)) << "without any result";
    for (int t = 0; t < 20; ++t) test::try_one(*strategy, space_);
  }
}

}  // namespace
}  // namespace tuner::search
