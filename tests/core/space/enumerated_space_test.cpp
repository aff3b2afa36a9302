#include <stdexcept>

#include <tests/support/spaces.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using test::mixed_space;
using test::numbers;
using test::product;

TEST(EnumeratedSpace, FindsEveryConfigurationByItsValuesAndByItsDigits) {
  const EnumeratedSpace space = mixed_space();
  ASSERT_GT(space.size(), 100u);
  EnumeratedSpace::Digits digits(space.parameters().size());
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) {
    space.digits(i, digits);
    EXPECT_EQ(space.find_digits(digits), i);
    EXPECT_EQ(space.find(space.configuration(i)), i);
    for (std::size_t p = 0; p < digits.size(); ++p) EXPECT_EQ(space.digit(i, p), digits[p]);
  }
}

TEST(EnumeratedSpace, FindsNothingForWhatIsNotValid) {
  const EnumeratedSpace space = mixed_space();
  Configuration configuration = space.configuration(0);
  configuration.set("algorithm", "unheard of");
  EXPECT_FALSE(space.find(configuration));
  EXPECT_FALSE(space.find(Configuration{{"algorithm", "shuffle"}}));
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits{2, 1, 0, 0, 0}));  // excluded by the constraint
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits{9, 0, 0, 0, 0}));  // past the last value
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits{0, 0}));
  EXPECT_FALSE(EnumeratedSpace().find(configuration));
}

TEST(EnumeratedSpace, KeepsTheOrderOfCodesThatAreNotSorted) {
  const EnumeratedSpace space = EnumeratedSpace::from_codes({numbers("a", 3), numbers("b", 2)}, {5, 0, 3, 1});
  ASSERT_EQ(space.size(), 4u);
  EXPECT_EQ(space.configuration(0).text(), "a=2 b=1");
  EXPECT_EQ(space.configuration(2).text(), "a=1 b=1");
  EXPECT_EQ(space.find_digits(EnumeratedSpace::Digits{1, 1}), 2u);
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits{2, 0}));
}

TEST(EnumeratedSpace, NeighboursDifferInExactlyOneParameter) {
  const EnumeratedSpace space = mixed_space();
  EnumeratedSpace::Digits mine(space.parameters().size());
  EnumeratedSpace::Digits other(mine);
  for (EnumeratedSpace::Index i = 0; i < space.size(); i += 7) {
    space.digits(i, mine);
    std::set<EnumeratedSpace::Index> expected;
    std::set<EnumeratedSpace::Index> expected_adjacent;
    for (EnumeratedSpace::Index j = 0; j < space.size(); ++j) {
      space.digits(j, other);
      int different = 0;
      int step = 0;
      for (std::size_t p = 0; p < mine.size(); ++p) {
        different += mine[p] != other[p];
        step += std::abs(mine[p] - other[p]);
      }
      if (different == 1) expected.insert(j);
      if (different == 1 && step == 1) expected_adjacent.insert(j);
    }
    const auto hamming = space.neighbours(i, Neighbourhood::hamming);
    const auto adjacent = space.neighbours(i, Neighbourhood::adjacent);
    EXPECT_EQ(std::set(hamming.begin(), hamming.end()), expected);
    EXPECT_EQ(std::set(adjacent.begin(), adjacent.end()), expected_adjacent);
  }
}

TEST(EnumeratedSpace, TakesConfigurationsInTheirOrderAndValuesInTheirs) {
  const std::vector<Configuration> given{{{"x", 16}, {"y", "b"}}, {{"x", 2}, {"y", "a"}}, {{"x", 16}, {"y", "a"}}};
  const EnumeratedSpace space = EnumeratedSpace::from_configurations(given);
  ASSERT_EQ(space.size(), 3u);
  for (EnumeratedSpace::Index i = 0; i < 3; ++i) EXPECT_EQ(space.configuration(i), given[i]);
  EXPECT_EQ(space.parameters()[0].values, (std::vector<Value>{2, 16}));
}

TEST(EnumeratedSpace, OrdersFractionsWrittenAsTextByTheirValue) {
  const std::vector<Configuration> given{{{"x", "10.5"}}, {{"x", "2.5"}}, {{"x", "1e-3"}}};
  const EnumeratedSpace space = EnumeratedSpace::from_configurations(given);
  EXPECT_EQ(space.parameters()[0].values, (std::vector<Value>{"1e-3", "2.5", "10.5"}));
}

TEST(EnumeratedSpace, TakesNanForAWordThatStandsBehindTheNumbers) {
  const std::vector<Configuration> given{{{"x", "nan"}}, {{"x", "2.5"}}, {{"x", "0.5"}}, {{"x", "1.5"}}};
  const EnumeratedSpace space = EnumeratedSpace::from_configurations(given);
  EXPECT_EQ(space.parameters()[0].values, (std::vector<Value>{"0.5", "1.5", "2.5", "nan"}));
}

TEST(EnumeratedSpace, RefusesDuplicatesAndUnequalNames) {
  const std::vector<Configuration> twice{{{"x", 1}}, {{"x", 2}}, {{"x", 1}}};
  EXPECT_THROW(EnumeratedSpace::from_configurations(twice), std::invalid_argument);
  const std::vector<Configuration> unequal{{{"x", 1}}, {{"y", 2}}};
  EXPECT_THROW(EnumeratedSpace::from_configurations(unequal), std::invalid_argument);
  EXPECT_TRUE(EnumeratedSpace::from_configurations({}).empty());
}

TEST(EnumeratedSpace, RefusesAProductPastTheRangeOfItsCodes) {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 8; ++i) parameters.push_back(numbers("p" + std::to_string(i), 300));
  EXPECT_THROW(EnumeratedSpace::from_codes(parameters, {}), std::length_error);
}

TEST(EnumeratedSpace, MayBeEmptyWithTheLargestProduct) {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 63; ++i) parameters.push_back(numbers("p" + std::to_string(i), 2));
  const EnumeratedSpace space = EnumeratedSpace::from_codes(parameters, {});
  EXPECT_TRUE(space.empty());
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits(63, 1)));
  const EnumeratedSpace last = EnumeratedSpace::from_codes(parameters, {(std::uint64_t{1} << 63) - 1});
  EXPECT_EQ(last.find_digits(EnumeratedSpace::Digits(63, 1)), 0u);
}

TEST(EnumeratedSpace, HoldsASparseSpaceOfAHugeProduct) {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 6; ++i) parameters.push_back(numbers("p" + std::to_string(i), 1000));
  const EnumeratedSpace space =
      EnumeratedSpace::from_codes(parameters, {0, 999'999'999'999'999'999, 5'000'007'000'009'000});
  EXPECT_EQ(space.find_digits(EnumeratedSpace::Digits{999, 999, 999, 999, 999, 999}), 1u);
  EXPECT_EQ(space.find_digits(EnumeratedSpace::Digits{5, 0, 7, 0, 9, 0}), 2u);
  EXPECT_FALSE(space.find_digits(EnumeratedSpace::Digits{5, 0, 7, 0, 9, 1}));
}

TEST(EnumeratedSpace, WithoutParametersHasOneConfiguration) {
  const EnumeratedSpace space = EnumeratedSpace::from_codes({}, {0});
  EXPECT_EQ(space.size(), 1u);
  EXPECT_TRUE(space.configuration(0).empty());
  EXPECT_EQ(space.find(Configuration{}), 0u);
  EXPECT_TRUE(space.neighbours(0, Neighbourhood::hamming).empty());
}

}  // namespace
}  // namespace tuner
