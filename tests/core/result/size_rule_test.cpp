// Rules by size, and their text.

#include <tuner/core/result/size_rule.hpp>

#include <tests/support/testing.hpp>

namespace tuner::testing {
namespace {

const Configuration kSmall{{"block", 64}}, kMiddle{{"block", 128}}, kLarge{{"block", 256}};

SizeRule some_rule() {
  return {{{"m", {1, 64}}, {"n", {1024, 1048576}}},
          {{{{{"m", "n"}, 65536}, {{"m"}, 8}}, kSmall}, {{{{"n"}, 4096.5}}, kMiddle}, {{}, kLarge}},
          {0.001, 0, 0.0125, 0.031, 28}};
}

std::string block_at(std::int64_t m, std::int64_t n) {
  const SizeRule rule = some_rule();
  const SizeRule::Branch* const branch = rule.branch({{"m", m}, {"n", n}});
  return branch == nullptr ? "none" : branch->configuration.text();
}

TEST(SizeRule, TakesTheFirstBranchWhoseBoundsAllHold) {
  EXPECT_EQ(block_at(7, 9362), "block=64");
  EXPECT_EQ(block_at(8, 4096), "block=128") << "m is not less than 8";
  EXPECT_EQ(block_at(7, 9363), "block=256") << "the product is not less than 65536";
}

TEST(SizeRule, SaysNothingOutsideOfItsRange) {
  EXPECT_EQ(block_at(1, 1024), "block=64");
  EXPECT_EQ(block_at(64, 1048576), "block=256");
  EXPECT_EQ(block_at(65, 4096), "none");
  EXPECT_EQ(block_at(1, 1023), "none");
  EXPECT_EQ(some_rule().branch({{"n", 4096}}), nullptr);
  EXPECT_EQ(some_rule().branch({{"n", 4096}, {"k", 8}}), nullptr);
}

TEST(SizeRule, CountsForTheWholeSizeClassOfItsLeastSize) {
  SizeRule rule{{{"n", {1000, 100'000}}}, {{{}, {{"block", 64}}}}, {}};
  EXPECT_NE(rule.branch({{"n", 960}}), nullptr) << "served as 1000 is";
  EXPECT_EQ(rule.branch({{"n", 959}}), nullptr);
}

TEST(SizeRule, IsOneLineOfTextThatParsesBack) {
  EXPECT_EQ(some_rule().text(),
            "m=1..64 n=1024..1048576; m*n<65536 and m<8: block=64; n<4096.5: block=128; else: block=256; "
            "between 0.001 0 0.0125 0.031 28");
  EXPECT_EQ(SizeRule::parse(some_rule().text()), some_rule());
}

TEST(SizeRule, IsNotReadFromAnyOtherText) {
  for (const char* text : {
           "",
           "n=1..8",
           "n=1..8; between 0 0 0 0 0",
           "n=1..8; else: block=1",
           "n=8..1; else: block=1; between 0 0 0 0 0",
           "n=1..8 n=1..8; else: block=1; between 0 0 0 0 0",
           "n=1..8; n<4: block=1; between 0 0 0 0 0",
           "n=1..8; else: block=1; else: block=2; between 0 0 0 0 0",
           "n=1..8; m<4: block=1; else: block=2; between 0 0 0 0 0",
           "n=1..8; n<inf: block=1; else: block=2; between 0 0 0 0 0",
           "n=1..8; n<4x: block=1; else: block=2; between 0 0 0 0 0",
           "n=1..8; n<4: block; else: block=2; between 0 0 0 0 0",
           "n=1..8; else: unroll=1 block=2; between 0 0 0 0 0",
           "n=1..8; else: block=1; between 0 0 0 0",
           "n=1..8; else: block=1; between 0 -1 0 0 3",
           "n=1..8; else: block=1; between 0 0 0 0 3; ",
       })
    EXPECT_EQ(SizeRule::parse(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tuner::testing
