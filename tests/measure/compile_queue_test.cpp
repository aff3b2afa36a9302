#include <tuner/measure/compile_queue.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/numbers/throughput.hpp>

#include <tests/support/testing.hpp>

#include <tests/support/scale_spec.hpp>

namespace tuner {
namespace {

CompileJob job(std::size_t id, std::vector<std::string> expressions = {}, const std::string& define = "TUNER=1") {
  CompileJob result;
  result.id = id;
  if (expressions.empty()) expressions.push_back("f<" + std::to_string(id) + '>');
  result.request.expressions = std::move(expressions);
  result.request.defines = {define};
  return result;
}

std::vector<std::size_t> ids(const std::vector<CompileJob>& jobs) {
  std::vector<std::size_t> result;
  for (const CompileJob& each : jobs) result.push_back(each.id);
  return result;
}

TEST(CompileQueue, SharesOutJobsSoThatEveryWorkerGetsSome) {
  CompileQueue queue;
  for (std::size_t i = 0; i < 8; ++i) queue.push(job(i));
  EXPECT_THAT(ids(queue.take(8, 4)), ElementsAre(0)) << "the first has the device wait for nothing else";
  EXPECT_THAT(ids(queue.take(8, 4)), ElementsAre(1, 2));
  EXPECT_THAT(ids(queue.take(4, 1)), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(ids(queue.take(4, 16)), ElementsAre(7));
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.take(4, 16).empty());
}

TEST(CompileQueue, NeverMixesJobsWithDifferentDefines) {
  CompileQueue queue;
  for (std::size_t i = 0; i < 2; ++i) queue.push(job(i));
  queue.push(job(2, {}, "TUNER_T_half=1"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(i));
}

TEST(CompileQueue, TakesJobsWithTheOptionsOfTheOldestTogether) {
  CompileQueue queue;
  queue.push(job(0));
  for (std::size_t i = 1; i < 6; ++i) {
    CompileJob one = job(i);
    one.request.options = {{i % 2 == 0 ? "-G" : "-use_fast_math", {}}};
    queue.push(std::move(one));
  }
  EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(0));
  EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(1, 3));
  EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(2, 4));
  EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(5));
}

TEST(CompileQueue, FindsTheGuiltyJobByHalving) {
  CompileQueue queue;
  for (std::size_t i = 0; i < 8; ++i) queue.push(job(i));
  std::vector<std::size_t> good, guilty;
  while (!queue.empty()) {
    auto batch = queue.take(8, 1);
    const auto members = ids(batch);
    const bool fails = std::find(members.begin(), members.end(), 5u) != members.end();
    if (fails && batch.size() > 1)
      queue.split(std::move(batch));
    else
      (fails ? guilty : good).insert((fails ? guilty : good).end(), members.begin(), members.end());
  }
  EXPECT_THAT(guilty, ElementsAre(5));
  EXPECT_EQ(good.size(), 7u);
}

TEST(CompileQueue, MakesBatchesSmallerThatAreNotCompiledInTime) {
  CompileQueue queue;
  for (std::size_t i = 0; i < 31; ++i) queue.push(job(i));
  for (const std::size_t size : {1u, 2u, 4u, 8u}) EXPECT_EQ(queue.take(8, 1).size(), size);
  queue.take_fewer_than(8);
  EXPECT_EQ(queue.take(8, 1).size(), 4u);
  queue.take_fewer_than(1);
  EXPECT_EQ(queue.take(8, 1).size(), 1u);
}

TEST(CompileQueue, HasOneCompileForAllThatAskForTheSameProgram) {
  CompileQueue queue;
  for (std::size_t i = 0; i < 6; ++i) queue.push(job(i, {i % 2 == 0 ? "even" : "odd"}));
  queue.push(job(6, {"even", "other"}));
  queue.push(job(7, {"even"}, "TUNER_T_half=1"));
  EXPECT_THAT(ids(queue.take(1, 1)), ElementsAre(0, 2, 4)) << "neither what asks for more nor with another define";
  EXPECT_THAT(ids(queue.take(2, 1)), ElementsAre(1, 3, 5));
  EXPECT_THAT(ids(queue.take(2, 1)), ElementsAre(6));
  EXPECT_THAT(ids(queue.take(2, 1)), ElementsAre(7));
}

TEST(CompileQueue, KeepsJobsOfOneProgramTogetherWhenItHalves) {
  CompileQueue queue;
  queue.split({job(0, {"a"}), job(1, {"b"}), job(2, {"a"}), job(3, {"b"})});
  const auto first = queue.take(8, 1);
  EXPECT_THAT(ids(first), ElementsAre(0, 2));
  EXPECT_TRUE(is_one_program(first)) << "not to be halved again: one would fail as the other";
  EXPECT_THAT(ids(queue.take(8, 1)), ElementsAre(1, 3));
}

TEST(CompileQueue, DoesNotTakeAProgramForItsPart) {
  EXPECT_TRUE(is_one_program(std::vector{job(0, {"a", "b"}), job(1, {"a", "b"})}));
  EXPECT_FALSE(is_one_program(std::vector{job(0, {"a", "b"}), job(1, {"a"})})) << "b alone may be what fails";
}

TEST(CompileQueue, TakesOneAtATimeOnManyCoresWhereTheSearchLearns) {
  EXPECT_EQ(compile_batch(kCudaBackend, 16, true), 1u);
  EXPECT_EQ(compile_batch(kCudaBackend, 16, false), 8u);
  EXPECT_EQ(compile_batch(kCudaBackend, 2, true), 4u);
  EXPECT_EQ(compile_batch(kCudaBackend, 2, false), 8u);
}

TEST(CompileQueue, LeavesNothingForBusyCompilersThatShareTheDevicesCores) {
  EXPECT_EQ(sharing_compilers(kCudaBackend, 4, 1), 4u);
  EXPECT_EQ(sharing_compilers(kHostBackend, 4, 1), 1u);
}

TEST(CompileQueue, MergesExpressionsWithoutRepeatingThem) {
  const std::vector<CompileJob> jobs{job(0, {"f<1>", "finish"}), job(1, {"f<2>", "finish"})};
  EXPECT_THAT(merge(jobs).expressions, ElementsAre("f<1>", "finish", "f<2>"));
}

TEST(CompileQueue, CompilesInTheBackgroundOnlyWhatNobodyWaitsFor) {
  std::vector<CompileJob> jobs{job(0, {"f<1>"}), job(1, {"f<2>"})};
  for (CompileJob& one : jobs) one.request.in_background = true;
  EXPECT_TRUE(merge(jobs).in_background);
  jobs[1].request.in_background = false;
  EXPECT_FALSE(merge(jobs).in_background);
}

class RunOrder : public ::testing::Test {
 protected:
  std::deque<Configuration> line{testing::block(32), testing::block(64), testing::block(128), testing::block(256)};
};

TEST_F(RunOrder, PutsWhatIsNamedFirstAndKeepsTheOrderOfTheRest) {
  put_in_order(line, std::vector{testing::block(256), testing::block(64), testing::block(1024)}, std::identity());
  EXPECT_THAT(line, ElementsAre(testing::block(256), testing::block(64), testing::block(32), testing::block(128)));
}

TEST_F(RunOrder, TakesOutWhatIsThereAndPassesOverWhatIsNot) {
  const auto taken =
      take_out(line, std::vector{testing::block(1024), testing::block(64), testing::block(256)}, std::identity());
  EXPECT_THAT(taken, ElementsAre(testing::block(64), testing::block(256)));
  EXPECT_THAT(line, ElementsAre(testing::block(32), testing::block(128)));
}

TEST(Expressions, CoverTheFurtherProblemsAConfigurationIsVerifiedOn) {
  KernelSpec spec = testing::scale_spec();
  spec.launches[0].instantiate = "scale<block, n>";
  spec.verification.problems = {{{{"n", 7}}, 0}};
  const ProblemSize size = complete(spec, {});
  EXPECT_THAT(launch_expressions(spec, size, {}, testing::block(32)), ElementsAre("scale<32, 1000>", "scale<32, 7>"));
  EXPECT_THAT(reference_expressions(spec, size, {}), ElementsAre("reference"));
}

TEST(Throughput, IsTheLeastTrafficOverTheTimeAndAFractionOfTheFittingCeiling) {
  KernelSpec spec = testing::scale_spec();
  spec.work.bytes = testing::parsed("2 * n * 4");
  spec.work.flops = testing::parsed("n");
  Device device;
  device.ceilings.read = 100e9;
  device.ceilings.copy = 16e9;
  const ProblemSize size = complete(spec, {});
  const Throughput copy = throughput(spec, size, device, 1000);
  EXPECT_DOUBLE_EQ(*copy.bytes_per_second, 8e9);
  EXPECT_DOUBLE_EQ(*copy.flops_per_second, 1e9);
  EXPECT_DOUBLE_EQ(*copy.ceiling_fraction, 0.5);
  EXPECT_EQ(copy.ceiling, "copy");
  spec.work.bytes = testing::parsed("3 * n * 4");  // two reads and a write: a third at 100 GB/s, two thirds at 16
  const Throughput mixed = throughput(spec, size, device, 1000);
  EXPECT_EQ(mixed.ceiling, "mix");
  EXPECT_DOUBLE_EQ(mixed.written, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*mixed.ceiling_rate, 12e9 / *mixed.ceiling_fraction);
  EXPECT_DOUBLE_EQ(*mixed.ceiling_fraction, 12e9 * (2.0 / 3 / 16e9 + 1.0 / 3 / 100e9));
  device.ceilings.read = 0;
  EXPECT_FALSE(throughput(spec, size, device, 1000).ceiling_fraction.has_value()) << "half of it is not known";
  device.ceilings.read = 100e9;
  spec.work.bytes = testing::parsed("n * 4");
  EXPECT_EQ(throughput(spec, size, device, 1000).ceiling, "writes");
  EXPECT_FALSE(throughput(spec, size, device, 1000).ceiling_fraction.has_value()) << "writes were not measured";
  device.ceilings.write = 8e9;
  EXPECT_DOUBLE_EQ(*throughput(spec, size, device, 1000).ceiling_fraction, 0.5);
  spec.work.bytes = testing::parsed("2 * n * 4");
  spec.buffers[1].count = testing::parsed("1");
  EXPECT_DOUBLE_EQ(*throughput(spec, size, device, 1000).ceiling_fraction, 0.08);
  spec.work.bytes.reset();
  EXPECT_FALSE(throughput(spec, size, device, 1000).ceiling_fraction.has_value());
}

TEST(Throughput, IsLedByTheArithmeticWhereEachByteIsUsedInManyOperationsOrNoneIsCounted) {
  KernelSpec spec = testing::scale_spec();
  const ProblemSize size = complete(spec, {});
  EXPECT_FALSE(throughput(spec, size, {}, 1000).arithmetic_leads()) << "nothing is known";
  spec.work.flops = testing::parsed("64 * n");
  EXPECT_TRUE(throughput(spec, size, {}, 1000).arithmetic_leads());
  spec.work.bytes = testing::parsed("2 * n * 4");
  EXPECT_FALSE(throughput(spec, size, {}, 1000).arithmetic_leads()) << "8 flops a byte";
  spec.work.flops = testing::parsed("65 * n");
  EXPECT_TRUE(throughput(spec, size, {}, 1000).arithmetic_leads());
  EXPECT_TRUE(throughput(spec, size, {}, 1e6).arithmetic_leads()) << "whatever the time";
}

}  // namespace
}  // namespace tuner
