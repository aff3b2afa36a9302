#include <cmath>

#include <tuner/search/candidates.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/gaussian_process.hpp>
#include <tuner/search/history.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

struct Data {
  std::vector<float> rows;
  std::vector<double> targets;
};

/// y = x0^2 + x1 * x2 on a grid; x3 has no influence.
double truth(const float* x) { return x[0] * x[0] + x[1] * x[2]; }

Data sample(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Data data;
  for (std::size_t i = 0; i < count; ++i) {
    for (int f = 0; f < 4; ++f) data.rows.push_back(static_cast<float>(random.below(5)));
    data.targets.push_back(truth(&data.rows[4 * i]));
  }
  return data;
}

/// Share of the variance of new rows that \p predict explains.
template <typename Predict>
double explained(Predict predict) {
  const Data fresh = sample(300, 99);
  double mean = 0;
  for (const double y : fresh.targets) mean += y / 300;
  double error = 0;
  double variance = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const double miss = predict(&fresh.rows[4 * i]) - fresh.targets[i];
    error += miss * miss;
    variance += (fresh.targets[i] - mean) * (fresh.targets[i] - mean);
  }
  return 1 - error / variance;
}

TEST(Forest, PredictsWhatItHasNotSeen) {
  const Data data = sample(200, 1);
  Random random(2);
  Forest forest;
  forest.fit(data.rows, 4, data.targets, {}, random);
  EXPECT_GT(explained([&](const float* x) { return forest.predict(x).mean; }), 0.8);
}

TEST(Forest, IsSurerWhereItHasData) {
  Data data;
  for (int i = 0; i < 40; ++i) {
    data.rows.push_back(static_cast<float>(i % 4));
    data.targets.push_back(i % 4);
  }
  data.rows.push_back(20);
  data.targets.push_back(30);
  Random random(2);
  Forest forest;
  forest.fit(data.rows, 1, data.targets, {}, random);
  const float inside = 1;
  const float between = 11;
  EXPECT_LT(forest.predict(&inside).deviation, forest.predict(&between).deviation);
}

TEST(GaussianProcess, PredictsWhatItHasNotSeen) {
  const Data data = sample(120, 1);
  Random random(2);
  GaussianProcess process;
  process.fit(data.rows, 4, data.targets, 20, random);
  EXPECT_GT(explained([&](const float* x) { return process.mean(x); }), 0.95);
  EXPECT_NEAR(process.mean(data.rows.data()), process.predict(data.rows.data()).mean, 1e-9);
}

TEST(GaussianProcess, IsSurerWhereItHasData) {
  const std::vector<float> rows{0, 1, 2, 3};
  const std::vector<double> targets{0, 1, 0, 1};
  Random random(2);
  GaussianProcess process;
  process.fit(rows, 1, targets, 0, random);
  const float near = 1;
  const float far = 30;
  EXPECT_LT(process.predict(&near).deviation, process.predict(&far).deviation);
}

TEST(Features, CountSizesByTheirLogarithmAndLeaveOutWhatCannotVary) {
  const EnumeratedSpace space = test::product({test::powers("block", 5), {"fixed", {3}}, {"kind", {"a", "b"}}});
  const Features features(space);
  ASSERT_EQ(features.width(), 2u);
  EXPECT_EQ(features.values(0), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(features.values(1), (std::vector<float>{0, 1}));
}

TEST(NearestValid, ChangesAsLittleAsItCan) {
  const EnumeratedSpace space = test::mixed_space();
  Random random(1);
  const EnumeratedSpace::Digits valid{0, 1, 3, 2, 0};
  EXPECT_EQ(nearest_valid(space, random, valid), space.find_digits(valid));
  const EnumeratedSpace::Digits invalid{2, 1, 3, 2, 0};
  for (int i = 0; i < 20; ++i) {
    const auto found = nearest_valid(space, random, invalid);
    ASSERT_TRUE(found);
    int different = 0;
    for (std::size_t p = 0; p < 5; ++p) different += space.digit(*found, p) != invalid[p];
    EXPECT_EQ(different, 1);
  }
}

TEST(History, DrawsEveryFreshConfigurationInTheEnd) {
  const EnumeratedSpace space = test::product({test::numbers("a", 50)});
  History history(space);
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const auto index = history.random_fresh(random);
    ASSERT_TRUE(index);
    ASSERT_TRUE(history.is_fresh(*index));
    history.propose(*index);
  }
  EXPECT_FALSE(history.random_fresh(random));
}

TEST(History, DrawsAWithdrawnConfigurationNoMoreOftenThanOthers) {
  const EnumeratedSpace space = test::product({test::numbers("a", 40)});
  History history(space);
  Random random(3);
  for (Index i = 0; i < 36; ++i) history.propose(i);
  ASSERT_TRUE(history.random_fresh(random));  // few are fresh now, so a list of them is used from now on
  for (int i = 0; i < 20; ++i) {
    history.propose(36);
    history.withdraw(36);
  }
  int drawn = 0;
  for (int i = 0; i < 400; ++i) drawn += history.random_fresh(random) == 36u;
  EXPECT_LT(drawn, 150) << "of 400, among four";
}

TEST(History, KeepsTheBestRightWhenAConfigurationIsMeasuredAgain) {
  const EnumeratedSpace space = test::product({test::numbers("a", 5)});
  History history(space);
  history.learn({1, 2.0, {}});
  history.learn({2, 3.0, {}});
  EXPECT_EQ(history.best()->index, 1u);
  history.learn({1, 9.0, {}});
  EXPECT_EQ(history.best()->index, 2u);
  EXPECT_EQ(history.valid_count(), 2u);
  history.learn({2, std::nullopt, {}});
  EXPECT_EQ(history.best()->index, 1u);
}

}  // namespace
}  // namespace tuner::search
