// What the ranks of an MPI job say of themselves, and which of them can work together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/error_of.hpp>
#include <tuner/cli/job.hpp>

namespace tuner::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Member on(const std::string& host) { return {"0.1 abc", host, "cuda cc=9.0 sm=132", 0, 8, {}}; }

std::string why_not(const std::vector<Member>& members) {
  return testing::error_of([&] { check_members(members); });
}

TEST(Job, ReadsWhatAMemberWrites) {
  Member member = on("node1");
  member.device = 3;
  member.error = "no GPU: \"driver\"";
  const Member read = member_from_text(to_text(member));
  EXPECT_EQ(to_text(read), to_text(member));
  EXPECT_EQ(read.device, 3);
}

TEST(Job, TakesMembersOfOneKind) { EXPECT_EQ(why_not({on("node1"), on("node1"), on("node2")}), "no error"); }

TEST(Job, RefusesAnotherBuildAndNamesItsHost) {
  Member other = on("node2");
  other.build = "0.2 def";
  EXPECT_THAT(why_not({on("node1"), other}),
              AllOf(HasSubstr("rank 1 on node2 runs another build"), HasSubstr("0.2 def")));
  EXPECT_THAT(why_not({on("node1"), member_from_text("of a later format")}), HasSubstr("another build"));
}

TEST(Job, RefusesAnotherKindOfDeviceAndNamesTheDifference) {
  Member other = on("node2");
  other.device_key = "cuda cc=9.0 sm=114";
  EXPECT_THAT(why_not({on("node1"), other}), AllOf(HasSubstr("rank 1 on node2"), HasSubstr("sm=114 and sm=132")));
}

TEST(Job, PassesOnWhyAMemberCannotTakePart) {
  Member other = on("node2");
  other.error = "no GPU to use";
  EXPECT_THAT(why_not({on("node1"), other}), HasSubstr("rank 1 on node2: no GPU to use"));
}

TEST(Job, GivesEachRankADeviceOfItsOwnAndTakesNoNumbers) {
  EXPECT_EQ(device_of_rank("host", 3).device.key.backend, "host");
  EXPECT_THAT(testing::error_of([] { device_of_rank("0,1", 0); }),
              HasSubstr("--device is auto, cuda or host, not '0,1'"));
}

TEST(Job, SharesAHostsCoresBetweenItsRanks) {
  EXPECT_EQ(this_member("host", 0, 100000).compile_workers, 1u);
  EXPECT_EQ(this_member("host", 0, 1).error, "");
  EXPECT_NE(this_member("nonsense", 0, 1).error, "");
}

}  // namespace
}  // namespace tuner::cli
