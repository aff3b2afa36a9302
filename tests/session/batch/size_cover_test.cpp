// A few configurations for many sizes.

#include <cmath>

#include <tuner/session/batch/size_cover.hpp>

#include <tests/support/testing.hpp>

namespace tuner::testing {
namespace {

using Regrets = std::vector<std::vector<double>>;

/// Configurations with one parameter each: x=0, x=1, …
std::vector<Configuration> configurations(std::size_t count) {
  std::vector<Configuration> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({{"x", static_cast<int>(i)}});
  return all;
}

std::vector<JointSize> sizes(std::initializer_list<std::int64_t> values) {
  std::vector<JointSize> all;
  for (const std::int64_t value : values) all.push_back({{{"n", value}}});
  return all;
}

/// The branches, without range and regret.
std::string branches(const std::vector<JointSize>& sizes, const Regrets& regrets, const CoverOptions& options = {}) {
  const auto cover = cover_sizes(sizes, configurations(regrets.size()), regrets, options);
  if (!cover) return "none";
  std::string text;
  for (const SizeRule::Branch& one : cover->rule.branches)
    text += (text.empty() ? "" : "; ") + one.condition() + ": " + one.configuration.text();
  return text;
}

TEST(SizeCover, DividesSizesWhereTheBestChanges) {
  const auto four = sizes({10, 100, 1000, 10000});
  EXPECT_EQ(branches(four, {{0, 0, 0.5, 0.5}, {0.5, 0.5, 0, 0}}), "n<256: x=0; else: x=1");
  const auto cover = cover_sizes(four, configurations(2), {{0, 0, 0.5, 0.02}, {0.5, 0.01, 0, 0}});
  EXPECT_EQ(cover->choice, (std::vector<std::size_t>{0, 0, 1, 1}));
  EXPECT_EQ(cover->rule.range, (std::map<std::string, SizeRule::Range>{{"n", {10, 10000}}}));
  EXPECT_EQ(cover->worst, 0);
}

TEST(SizeCover, PutsABoundAtAPowerOfTwoIfThereIsOneBetween) {
  EXPECT_EQ(branches(sizes({16, 30, 33, 64}), {{0, 0, 1, 1}, {1, 1, 0, 0}}), "n<32: x=0; else: x=1");
  EXPECT_EQ(branches(sizes({16, 63, 64, 90}), {{0, 0, 1, 1}, {1, 1, 0, 0}}), "n<64: x=0; else: x=1");
  EXPECT_EQ(branches(sizes({16, 17, 20, 21}), {{0, 0, 1, 1}, {1, 1, 0, 0}}), "n<19: x=0; else: x=1");
}

TEST(SizeCover, HasNoBranchThatHardlyHelps) {
  const auto four = sizes({1, 2, 4, 8});
  EXPECT_EQ(branches(four, {{0, 0, 0, 0.004}, {0.5, 0.5, 0.5, 0}}), "else: x=0");
  EXPECT_EQ(branches(four, {{0, 0, 0, 0.1}, {0.5, 0.5, 0.5, 0}}), "n<8: x=0; else: x=1");
}

TEST(SizeCover, LowersTheLargestRegretBeyondTheToleranceFirstAndThenTheMean) {
  const auto two = sizes({1, 2});
  EXPECT_EQ(branches(two, {{0, 0.2}, {0.1, 0.12}}, {.most_branches = 1}), "else: x=1");
  EXPECT_EQ(branches(two, {{0, 0.028}, {0.02, 0.02}}, {.most_branches = 1}), "else: x=0") << "both are good enough";
}

TEST(SizeCover, WeighsSizesByHowOftenTheyOccur) {
  std::vector<JointSize> two = sizes({1, 2});
  const Regrets regrets{{0, 0.02}, {0.02, 0}};
  two[0].weight = 3;
  EXPECT_EQ(branches(two, regrets, {.most_branches = 1}), "else: x=0");
  two[1].weight = 4;
  EXPECT_EQ(branches(two, regrets, {.most_branches = 1}), "else: x=1");
}

TEST(SizeCover, NeverChoosesWhatCannotBeUsed) {
  const auto three = sizes({1, 2, 4});
  EXPECT_EQ(branches(three, {{0, 0, HUGE_VAL}, {0.4, 0.4, 0.4}}), "n<4: x=0; else: x=1");
  EXPECT_EQ(branches(three, {{0, HUGE_VAL, 0}, {0.4, HUGE_VAL, 0.4}}), "none");
}

TEST(SizeCover, HasNoMoreBranchesThanAsked) {
  const auto five = sizes({1, 4, 16, 64, 256});
  Regrets regrets(5, std::vector<double>(5, 1));
  for (std::size_t i = 0; i < 5; ++i) regrets[i][i] = 0;
  regrets[1][0] = 0.2;
  EXPECT_EQ(branches(five, regrets), "n<8: x=1; n<32: x=2; n<128: x=3; else: x=4");
}

TEST(SizeCover, DividesByTheProductOfSeveralSizesWhereThatFitsBetter) {
  std::vector<JointSize> all;
  Regrets regrets(2);
  for (const std::int64_t m : {1, 8, 64, 512})
    for (const std::int64_t n : {1, 8, 64, 512}) {
      all.push_back({{{"m", m}, {"n", n}}});
      regrets[0].push_back(m * n < 512 ? 0 : 1);
      regrets[1].push_back(m * n < 512 ? 1 : 0);
    }
  EXPECT_EQ(branches(all, regrets), "m*n<256: x=0; else: x=1");
}

TEST(SizeCover, DividesOneOfSeveralSizesInsideAnother) {
  std::vector<JointSize> all;
  Regrets regrets(3);
  for (const std::int64_t m : {1, 8, 64})
    for (const std::int64_t n : {1, 8, 64, 512}) {
      all.push_back({{{"m", m}, {"n", n}}});
      const std::size_t best = m >= 64 ? 2 : n >= 64 ? 1 : 0;
      for (std::size_t c = 0; c < 3; ++c) regrets[c].push_back(c == best ? 0 : 1);
    }
  const auto cover = cover_sizes(all, configurations(3), regrets);
  EXPECT_EQ(cover->worst, 0);
  EXPECT_EQ(cover->rule.branches.size(), 3u);
}

}  // namespace
}  // namespace tuner::testing
