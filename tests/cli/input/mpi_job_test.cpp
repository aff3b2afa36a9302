// The ranks of an MPI job: their descriptions, and whether they can work together.

#include <tuner/backend/traits.hpp>
#include <tuner/cli/input/mpi_job.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

Member on(const std::string& host) {
  Member member;
  member.build = "0.1 abc";
  member.host = host;
  member.device_key = "cuda cc=9.0 sm=132";
  member.driver = "13.0";
  member.compiler = "nvrtc 13.0";
  member.cores = {0, 1, 2, 3};
  member.host_cores = 8;
  return member;
}

std::string why_not(const std::vector<Member>& members) {
  return error_of([&] { check_members(members); });
}

TEST(Job, ReadsWhatAMemberWrites) {
  Member member = on("node1");
  member.device = 3;
  member.address = "0000:1b:00.0";
  member.error = "no GPU: \"driver\"";
  const Member read = member_from_text(to_text(member));
  EXPECT_EQ(to_text(read), to_text(member));
  EXPECT_EQ(read.device, 3);
}

TEST(Job, TakesMembersOfOneKind) { EXPECT_EQ(why_not({on("node1"), on("node1"), on("node2")}), "no error"); }

TEST(Job, RefusesAMemberThatCannotWorkWithTheFirstAndNamesItsHost) {
  struct Case {
    void (*change)(Member&);
    const char* complaint;
  };
  for (const auto& [change, complaint] :
       {Case{[](Member& other) { other.build = "0.2 def"; }, " runs another build of tune-mpi or tuner-worker"},
        {[](Member& other) { other = member_from_text("of a later format"); }, " runs another build"},
        {[](Member& other) { other.device_key = "cuda cc=9.0 sm=114"; }, "sm=114 and sm=132"},
        {[](Member& other) { other.driver = "12.4"; }, " has another driver than rank 0 on node1 (12.4; 13.0)"},
        {[](Member& other) { other.error = "no GPU to use"; }, ": no GPU to use"}}) {
    Member other = on("node2");
    change(other);
    const std::string who = other.host.empty() ? "rank 1 on an unknown host" : "rank 1 on node2";
    EXPECT_THAT(why_not({on("node1"), other}), AllOf(HasSubstr(who), HasSubstr(complaint)));
  }
}

TEST(Job, GivesEachRankItsOwnDeviceAndTakesNoNumbers) {
  EXPECT_EQ(device_of_rank("host", 3).device.key.backend, "host");
  EXPECT_THAT(error_of([] { device_of_rank("0,1", 0); }), HasSubstr("--device is auto, cuda or host, not '0,1'"));
}

TEST(Job, RefusesTwoRanksWithOneGpu) {
  Member one = on("node1"), other = on("node2");
  one.address = other.address = "0000:1b:00.0";
  EXPECT_EQ(why_not({one, other}), "no error") << "they are on different hosts";
  other.host = one.host;
  EXPECT_THAT(why_not({one, other}), HasSubstr("rank 1 on node1 has the GPU of rank 0 (0000:1b:00.0)"));
}

TEST(Job, SharesCoresBetweenTheRanksThatMayRunOnThem) {
  Member bound = on("node1");
  bound.cores = {7};
  EXPECT_EQ(compile_workers({on("node1"), on("node1"), bound, on("node2")}), (std::vector<std::size_t>{2, 2, 1, 4}));
  const std::vector<Member> more_ranks_than_cores(9, on("node1"));
  EXPECT_EQ(compile_workers(more_ranks_than_cores), std::vector<std::size_t>(9, 1));
}

TEST(Job, WarnsOfARankThatIsBoundToOneCoreOfMany) {
  Member bound = on("node1");
  EXPECT_EQ(binding_warning({bound, bound}), "");
  bound.cores = {1};
  EXPECT_THAT(binding_warning({on("node1"), bound}), HasSubstr("rank 1 on node1 is bound to one of 8 cores"));
  bound.host_cores = 1;
  EXPECT_EQ(binding_warning({bound, bound}), "");
}

TEST(Job, WarnsOfRanksThatMeasureOnTheSameCores) {
  Member one = on("node1"), other = on("node2");
  one.device_key = other.device_key = "host x86-64";
  EXPECT_EQ(binding_warning({one, other}), "");
  other.host = one.host;
  EXPECT_THAT(binding_warning({one, other}), HasSubstr("rank 1 on node1 and rank 0 measure on the same cores"));
}

TEST(Job, NamesTheReasonWhyAMemberCannotTakePart) {
  const Member member = this_member("host", 0, {});
  EXPECT_EQ(member.error, "");
  EXPECT_FALSE(member.cores.empty());
  EXPECT_NE(this_member("nonsense", 0, {}).error, "");
}

}  // namespace
}  // namespace tuner::cli
