#include <tuner/convert/portfolio.hpp>

#include <tests/matchers.hpp>

namespace tuner::convert {
namespace {

using Shares = std::vector<std::vector<double>>;

TEST(Portfolio, OfOneLosesLeastWhereItLosesMost) {
  const Portfolio one = choose_portfolio(Shares{{1.0, 0.2, 0.9}, {0.5, 1.0, 0.8}, {1.0, 0.3, 0.7}}, 1);
  EXPECT_THAT(one.chosen, ElementsAre(2));
  EXPECT_DOUBLE_EQ(one.worst, 0.7);
  EXPECT_DOUBLE_EQ(one.mean, 0.8);
}

TEST(Portfolio, ExchangesWhatGreedTookFirst) {
  // A greedy choice takes the compromise (4) and then lacks a place. Two pairs cover everything.
  const Shares shares{{1.0, 0.1, 0.8}, {1.0, 0.1, 0.8}, {0.1, 1.0, 0.8}, {0.1, 1.0, 0.8}};
  const Portfolio two = choose_portfolio(shares, 2);
  EXPECT_THAT(two.chosen, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(two.worst, 1);
  EXPECT_THAT(two.of_size, ElementsAre(Optional(0u), Optional(0u), Optional(1u), Optional(1u)));
}

TEST(Portfolio, TakesNoMoreThanHelp) {
  const Portfolio four = choose_portfolio(Shares{{1.0, 0.9}, {1.0, 0.99}}, 4);
  EXPECT_THAT(four.chosen, ElementsAre(0));
}

TEST(Portfolio, SaysWhereNoneOfItWasMeasured) {
  const Portfolio one = choose_portfolio(Shares{{1.0, 0.0}, {0.9, 0.0}, {0.0, 1.0}}, 1);
  EXPECT_THAT(one.chosen, ElementsAre(0)) << "it covers most";
  EXPECT_FALSE(one.of_size[2]);
  EXPECT_DOUBLE_EQ(one.worst, 0);
}

TEST(Portfolio, OfNothingIsEmpty) {
  EXPECT_THAT(choose_portfolio({}, 4).chosen, IsEmpty());
  EXPECT_THAT(choose_portfolio(Shares{{}, {}}, 4).chosen, IsEmpty());
}

/// Configurations are better the nearer their tile is to the best of a size, as for real kernels.
TEST(Portfolio, OfFourReachesNinetySevenPercentOfManySizes) {
  Shares shares;
  for (int size = 0; size < 24; ++size) {
    std::vector<double>& row = shares.emplace_back();
    for (int tile = 0; tile < 24; ++tile) row.push_back(1.0 / (1.0 + 0.01 * std::abs(tile - size)));
  }
  const Portfolio four = choose_portfolio(shares, 4);
  EXPECT_EQ(four.chosen.size(), 4u);
  EXPECT_GE(four.worst, 0.97);
  EXPECT_GE(four.mean, four.worst);
}

}  // namespace
}  // namespace tuner::convert
