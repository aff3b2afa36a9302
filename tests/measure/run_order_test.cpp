#include <tuner/measure/run_order.hpp>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner {
namespace {

using ::testing::ElementsAre;

Configuration with_block(int size) { return Configuration{{"block", size}}; }

class RunOrder : public ::testing::Test {
 protected:
  std::deque<Configuration> line{with_block(32), with_block(64), with_block(128), with_block(256)};
};

TEST_F(RunOrder, PutsWhatIsNamedFirstAndKeepsTheOrderOfTheRest) {
  put_in_order(line, std::vector{with_block(256), with_block(64), with_block(1024)}, std::identity());
  EXPECT_THAT(line, ElementsAre(with_block(256), with_block(64), with_block(32), with_block(128)));
}

TEST_F(RunOrder, TakesOutWhatIsThereAndPassesOverWhatIsNot) {
  const auto taken = take_out(line, std::vector{with_block(1024), with_block(64), with_block(256)}, std::identity());
  EXPECT_THAT(taken, ElementsAre(with_block(64), with_block(256)));
  EXPECT_THAT(line, ElementsAre(with_block(32), with_block(128)));
}

}  // namespace
}  // namespace tuner
