// Properties that all strategies must have.

#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <tuner/search/strategy.hpp>

#include <tests/support/testing.hpp>

#include "spaces.hpp"

namespace tuner::search {
namespace {

using Index = EnumeratedSpace::Index;
using test::kernel_space;
using test::kernel_time;
using test::mixed_space;
using test::numbers;
using test::powers;
using test::product;
using test::take_back;

double some_time(const EnumeratedSpace& space, Index index) {
  double sum = 1;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const double distance = space.digit(index, p) - 1.3;
    sum += distance * distance;
  }
  return sum;
}

/// Runs one proposal at a time until \p trials or the end; returns the proposals in order.
std::vector<Index> run(Strategy& strategy, const EnumeratedSpace& space, std::size_t trials,
                       const std::function<std::optional<double>(Index)>& objective) {
  std::vector<Index> out;
  while (out.size() < trials) {
    const auto proposals = strategy.propose(1);
    if (proposals.empty()) break;
    EXPECT_EQ(proposals.size(), 1u);
    EXPECT_TRUE(space.has(proposals.front()));
    out.push_back(proposals.front());
    const Observation observation{proposals.front(), objective(proposals.front()), {}};
    strategy.learn({&observation, 1});
  }
  return out;
}

class EveryStrategy : public ::testing::TestWithParam<std::string> {
 protected:
  /// The proposals of \p strategy on the mixed space, in order, until \p trials or the end.
  std::vector<Index> visited(Strategy& strategy, std::size_t trials) const {
    return run(strategy, mixed_, trials, [this](Index i) { return some_time(mixed_, i); });
  }
  static std::unique_ptr<Strategy> make(const EnumeratedSpace& space, std::uint64_t seed = 1) {
    StrategyOptions options;
    options.seed = seed;
    return make_strategy(GetParam(), space, options);
  }

  const EnumeratedSpace mixed_ = mixed_space();
};

bool all_different(const std::vector<Index>& proposals) {
  return std::set<Index>(proposals.begin(), proposals.end()).size() == proposals.size();
}

TEST_P(EveryStrategy, VisitsEveryConfigurationOnceAndThenProposesNothing) {
  const auto strategy = make(mixed_);
  const auto proposals = visited(*strategy, mixed_.size() + 10);
  EXPECT_EQ(proposals.size(), mixed_.size());
  EXPECT_TRUE(all_different(proposals));
  EXPECT_TRUE(strategy->propose(3).empty());
}

TEST_P(EveryStrategy, WorksOnSpacesOfNoneOneAndTwoConfigurations) {
  EXPECT_TRUE(make(EnumeratedSpace())->propose(1).empty());
  for (const int count : {1, 2}) {
    const EnumeratedSpace space = product({numbers("a", count), {"fixed", {"only"}}});
    const auto strategy = make(space);
    const auto proposals = run(*strategy, space, 10, [](Index i) { return 1.0 + i; });
    EXPECT_EQ(proposals.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(all_different(proposals));
  }
  const EnumeratedSpace without_parameters = EnumeratedSpace::from_codes({}, {0});
  EXPECT_EQ(make(without_parameters)->propose(2).size(), 1u);
}

/// An open space: 40 parameters of two values, of which at most \p most are 1.
class FewOnes final : public ValidityTest {
 public:
  explicit FewOnes(int most) : most_(most) {}
  bool holds(std::span<const std::uint16_t> digits) const override {
    return std::accumulate(digits.begin(), digits.end(), 0) <= most_;
  }
  std::optional<Digits> draw(const Below& below) const override {
    Digits digits(40);
    for (int i = 0; i < most_; ++i) digits[below(40)] = 1;
    return digits;
  }
  static EnumeratedSpace space(int most, double count) {
    std::vector<TuningParameter> parameters;
    for (int i = 0; i < 40; ++i) parameters.push_back(numbers("p" + std::to_string(i), 2));
    return EnumeratedSpace::open(std::move(parameters), std::make_shared<FewOnes>(most), Digits(40),
                                 {count, SpaceCount::Kind::about});
  }

 private:
  int most_;
};

TEST_P(EveryStrategy, SearchesASpaceThatIsNotListed) {
  const EnumeratedSpace space = FewOnes::space(30, 0x1p40);
  const auto strategy = make(space);
  std::vector<Index> all;
  double best = HUGE_VAL;
  for (int round = 0; round < 60; ++round) {
    const auto batch = strategy->propose(4);
    ASSERT_EQ(batch.size(), 4u) << round;
    for (const Index index : batch) {
      EXPECT_TRUE(space.has(index));
      const Observation seen{index, some_time(space, index), {}};
      best = std::min(best, some_time(space, index));
      strategy->learn({&seen, 1});
    }
    all.insert(all.end(), batch.begin(), batch.end());
  }
  EXPECT_TRUE(all_different(all));
  // Each 1 saves 1.6 of 1 + 40 * 1.69. Random configurations have about 20, and the best of 240 some more.
  if (strategy_info(GetParam()).learns) {
    EXPECT_LT(best, 1 + 40 * 1.69 - 25 * 1.6);
  }
}

TEST_P(EveryStrategy, EndsWhenAnOpenSpaceHasNoMore) {
  const EnumeratedSpace space = FewOnes::space(1, 41);
  const auto strategy = make(space);
  const auto proposals = run(*strategy, space, 100, [&](Index i) { return some_time(space, i); });
  EXPECT_GT(proposals.size(), 30u) << "drawing may miss the last ones";
  EXPECT_LE(proposals.size(), 41u);
  EXPECT_TRUE(all_different(proposals));
}

TEST_P(EveryStrategy, IsReproducibleFromItsSeed) {
  const EnumeratedSpace space = kernel_space();
  const auto proposals = [&](std::uint64_t seed) {
    const auto strategy = make(space, seed);
    return run(*strategy, space, 120, [&](Index i) { return kernel_time(space, i); });
  };
  EXPECT_EQ(proposals(3), proposals(3));
  if (GetParam() != "exhaustive") {
    EXPECT_NE(proposals(3), proposals(4));
  }
}

TEST_P(EveryStrategy, ProposesByWhatItLearnsUnlessItSaysThatItDoesNot) {
  const EnumeratedSpace space = kernel_space();
  const auto proposals = [&](double sign) {
    const auto strategy = make(space);
    return run(*strategy, space, 120, [&](Index i) { return sign * kernel_time(space, i); });
  };
  EXPECT_EQ(proposals(1) != proposals(-1), strategy_info(GetParam()).learns);
}

TEST_P(EveryStrategy, ProposesABatchWithoutWaitingForResults) {
  const auto strategy = make(mixed_);
  std::vector<Index> all;
  while (all.size() < mixed_.size()) {
    const auto batch = strategy->propose(17);
    ASSERT_FALSE(batch.empty()) << "after " << all.size() << " of " << mixed_.size();
    all.insert(all.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(all.size(), mixed_.size());
  EXPECT_TRUE(all_different(all));
  EXPECT_TRUE(strategy->propose(17).empty());
}

TEST_P(EveryStrategy, ProposesWhatWasWithdrawnAgain) {
  const auto strategy = make(mixed_);
  const std::vector<Index> first = strategy->propose(5);
  ASSERT_EQ(first.size(), 5u);
  take_back(*strategy, first[1]);
  take_back(*strategy, first[3]);
  const auto rest = visited(*strategy, mixed_.size());
  EXPECT_EQ(rest.size(), mixed_.size() - 3);
  EXPECT_TRUE(all_different(rest));
  EXPECT_EQ(std::count(rest.begin(), rest.end(), first[1]), 1);
  EXPECT_EQ(std::count(rest.begin(), rest.end(), first[3]), 1);
}

TEST_P(EveryStrategy, LearnsResultsThatArriveLateAndOutOfOrder) {
  const EnumeratedSpace space = kernel_space();
  const auto strategy = make(space);
  std::deque<Index> in_flight;
  std::vector<Index> all;
  for (int step = 0; step < 150; ++step) {
    for (const Index index : strategy->propose(8 - in_flight.size())) {
      in_flight.push_back(index);
      all.push_back(index);
    }
    ASSERT_EQ(in_flight.size(), 8u);
    const std::size_t at = step % 3 == 0 ? 5 : 0;
    const Observation observation{in_flight[at], kernel_time(space, in_flight[at]), {}};
    in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(at));
    strategy->learn({&observation, 1});
  }
  EXPECT_TRUE(all_different(all));
}

TEST_P(EveryStrategy, GoesOnWhenEverythingFails) {
  const auto strategy = make(mixed_);
  const auto proposals = run(*strategy, mixed_, mixed_.size() + 1, [](Index) { return std::nullopt; });
  EXPECT_EQ(proposals.size(), mixed_.size());
  EXPECT_TRUE(all_different(proposals));
}

TEST_P(EveryStrategy, DoesNotProposeWhatItWasToldOf) {
  const auto strategy = make(mixed_);
  std::vector<Observation> told;
  for (Index i = 0; i < mixed_.size(); i += 2) told.push_back({i, some_time(mixed_, i), {}});
  strategy->learn(told);
  strategy->learn(told);  // a resumed session may report results twice
  const auto proposals = visited(*strategy, mixed_.size());
  EXPECT_EQ(proposals.size(), mixed_.size() / 2);
  EXPECT_TRUE(std::all_of(proposals.begin(), proposals.end(), [](Index i) { return i % 2 == 1; }));
}

TEST_P(EveryStrategy, TakesObjectivesOfAnySignAndSize) {
  for (const double scale : {-1.0, 0.0, 1e-300, 1e300}) {
    const auto strategy = make(mixed_);
    const auto proposals = run(*strategy, mixed_, 60, [&](Index i) { return scale * some_time(mixed_, i); });
    EXPECT_TRUE(all_different(proposals));
    EXPECT_EQ(proposals.size(), 60u);
  }
}

TEST_P(EveryStrategy, WorksOnTenMillionConfigurations) {
  static const EnumeratedSpace space = product({numbers("a", 10), powers("b", 10), numbers("c", 10), numbers("d", 10),
                                                numbers("e", 10), numbers("f", 10), numbers("g", 10)});
  ASSERT_EQ(space.size(), 10'000'000u);
  const auto strategy = make(space);
  const auto proposals = run(*strategy, space, 60,
                             [&](Index i) { return i % 11 == 0 ? std::nullopt : std::optional(some_time(space, i)); });
  EXPECT_EQ(proposals.size(), 60u);
  EXPECT_TRUE(all_different(proposals));
}

TEST_P(EveryStrategy, ProposesWhatItIsGivenFirstBeforeAnythingElse) {
  StrategyOptions options;
  options.first = {41, 7, 41};
  const auto strategy = make_strategy(GetParam(), mixed_, options);
  const auto proposals = visited(*strategy, mixed_.size() + 1);
  ASSERT_EQ(proposals.size(), mixed_.size());
  EXPECT_TRUE(all_different(proposals));
  EXPECT_EQ(proposals[0], 41u);
  EXPECT_EQ(proposals[1], 7u);
}

std::string message_of(std::string_view name, const StrategyOptions& options) {
  const EnumeratedSpace space = mixed_space();
  return error_of<std::invalid_argument>([&] { make_strategy(name, space, options); });
}

TEST_P(EveryStrategy, RefusesValuesThatItsOptionsCannotHave) {
  const auto accepts = [&](const OptionInfo& option, double value) {
    StrategyOptions options;
    options.values[option.name] = value;
    const std::string refusal = message_of(GetParam(), options);
    if (refusal == "no error") return true;
    EXPECT_THAT(refusal, HasSubstr("option '" + option.name + "' is a "));
    return false;
  };
  const auto info = std::find_if(strategies().begin(), strategies().end(),
                                 [](const StrategyInfo& one) { return one.name == GetParam(); });
  for (const OptionInfo& option : info->options) {
    EXPECT_TRUE(accepts(option, option.preset)) << option.name;
    EXPECT_TRUE(accepts(option, option.minimum)) << option.name;
    EXPECT_FALSE(accepts(option, -1)) << option.name;
    EXPECT_FALSE(accepts(option, option.maximum * 2)) << option.name;
    EXPECT_FALSE(accepts(option, std::nan(""))) << option.name;
    if (option.type != OptionInfo::Type::real) {
      EXPECT_FALSE(accepts(option, option.minimum + 0.5)) << option.name;
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const StrategyInfo& strategy : strategies()) out.push_back(strategy.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Search, EveryStrategy, ::testing::ValuesIn(names()),
                         [](const auto& instance) { return instance.param; });

TEST(Strategies, AreListedWithASummaryASourceAndDefaults) {
  ASSERT_EQ(strategies().size(), 12u);
  EXPECT_EQ(strategies().front().name, "auto");
  for (const StrategyInfo& info : strategies()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
  }
}

TEST(Strategies, SuggestTheNearestNameForAnUnknownOne) {
  EXPECT_THAT(message_of("simulated_anealing", {}), HasSubstr("did you mean 'simulated_annealing'"));
  EXPECT_THAT(message_of("quantum", {}), HasSubstr("bayes_opt"));
  StrategyOptions options;
  options.values["populaton"] = 3;
  EXPECT_THAT(message_of("genetic_algorithm", options), HasSubstr("did you mean 'population'"));
}

}  // namespace
}  // namespace tuner::search
