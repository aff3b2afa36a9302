#include <tuner/measure/run_order.hpp>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner {
namespace {

using ::testing::ElementsAre;

Configuration block(int size) { return Configuration{{"block", size}}; }

class RunOrder : public ::testing::Test {
 protected:
  std::deque<Configuration> line{block(32), block(64), block(128), block(256)};
};

TEST_F(RunOrder, PutsWhatIsNamedFirstAndKeepsTheOrderOfTheRest) {
  put_in_order(line, std::vector{block(256), block(64), block(1024)}, std::identity());
  EXPECT_THAT(line, ElementsAre(block(256), block(64), block(32), block(128)));
}

TEST_F(RunOrder, TakesOutWhatIsThereAndPassesOverWhatIsNot) {
  const auto taken = take_out(line, std::vector{block(1024), block(64), block(256)}, std::identity());
  EXPECT_THAT(taken, ElementsAre(block(64), block(256)));
  EXPECT_THAT(line, ElementsAre(block(32), block(128)));
}

}  // namespace
}  // namespace tuner
