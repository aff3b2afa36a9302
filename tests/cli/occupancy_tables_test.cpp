#include <tuner/cli/occupancy_plot.hpp>
#include <tuner/cli/occupancy_tables.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tuner/backend/cuda/architecture.hpp>

namespace tuner::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceLimits of(const char* architecture) { return cuda::limits_of_architecture(architecture); }

TEST(OccupancyTables, GiveWhatEachLimitByItselfAdmits) {
  const std::string text = occupancy_facts(of("sm_86"), {256, 32, 4096});
  EXPECT_THAT(text, HasSubstr("6: 6 by threads, 16 by blocks, 8 by registers, 20 by shared memory"));
  EXPECT_THAT(text, HasSubstr("100.0%, 48 of 48 warps"));
  EXPECT_THAT(text, HasSubstr("96 128 192 256 384 512 768 threads: 100.0%"));
}

TEST(OccupancyTables, CountTheLanesOfABlockThatEndsInPartOfAWarp) {
  EXPECT_THAT(occupancy_facts(of("sm_90"), {80, 32, 0}), HasSubstr("16 of 96"));
  EXPECT_THAT(occupancy_facts(of("sm_90"), {96, 32, 0}), Not(HasSubstr("idle lanes")));
}

TEST(OccupancyTables, MarkTheConfigurationInEveryTable) {
  const std::string text = occupancy_tables(of("sm_86"), {80, 32, 100});
  EXPECT_THAT(text, ContainsRegex("\n +80 +16 +48 +100.0%[^\n]*<- this configuration"));
  EXPECT_THAT(text, ContainsRegex("\n +1 to 40 [^\n]*<- this configuration"));
  EXPECT_THAT(text, ContainsRegex("\n +0 B to [^\n]*<- this configuration"));
}

TEST(OccupancyTables, GiveTheStepsOfTheCalculatorForRegisters) {
  // 65536 registers in units of 256 a warp: 8 warps a block leave 6, 5, 4, 3, 2 and 1 blocks.
  const Json steps = occupancy_json(of("sm_86"), {256, 32, 0})["by_registers"];
  std::vector<int> last;
  for (const auto& step : steps) last.push_back(step["to"]);
  EXPECT_EQ(last, (std::vector<int>{40, 48, 64, 80, 128, 255}));
}

TEST(OccupancyTables, GiveEveryBlockSizeItsOwnOccupancy) {
  const Json sizes = occupancy_json(of("sm_90"), {256, 32, 0})["by_threads"];
  EXPECT_EQ(sizes.back()["from"], 1024);
  EXPECT_EQ(sizes.back()["occupancy"], 1.0);
}

TEST(OccupancyTables, HaveNoBestBlockSizeWhereNoBlockCanRun) {
  EXPECT_THAT(occupancy_facts(of("sm_86"), {256, 32, 200 * 1024}), Not(HasSubstr("best block sizes")));
  EXPECT_TRUE(occupancy_json(of("sm_86"), {256, 32, 200 * 1024})["best_block_sizes"].empty());
}

TEST(OccupancyPlot, DrawsThreeCurvesForEachSubjectAndMarksWhatItNeeds) {
  const std::string plot = occupancy_plot(of("sm_86"), "heading", {{"f<a & b>", {256, 32, 0}}, {"g", {1024, 64, 512}}});
  EXPECT_THAT(plot, ::testing::StartsWith("<svg "));
  EXPECT_THAT(plot, HasSubstr("f&lt;a &amp; b>"));
  const auto times = [&plot](const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = plot.find(part); at != std::string::npos; at = plot.find(part, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times("<polyline"), 6u);
  EXPECT_EQ(times("<circle"), 6u);
  EXPECT_EQ(times("<title>256: 48 warps, 100.0%</title>"), 1u);
  EXPECT_EQ(times("<title>1024: 32 warps, 66.7%</title>"), 1u);
}

TEST(OccupancyTables, ListEveryArchitectureWithItsLimits) {
  const std::string text = architectures_table().text("");
  for (const std::string& name : cuda::known_architectures()) EXPECT_THAT(text, HasSubstr(name + " "));
  EXPECT_EQ(architectures_table().rows(), cuda::known_architectures().size());
}

}  // namespace
}  // namespace tuner::cli
