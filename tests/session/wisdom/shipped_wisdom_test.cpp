/// The shipped wisdom, as a program on each GPU finds it.

#include <cstdlib>
#include <filesystem>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/wisdom.hpp>

namespace tuner {
namespace {

Device hopper(const char* name, std::int64_t l2_bytes, int bus_bits) {
  Device device;
  device.name = name;
  device.key = {"cuda", 90, 132, l2_bytes, bus_bits, 232448, 65536, ""};
  device.limits.sm_count = 132;
  device.limits.max_shared_bytes = 232448;
  device.limits.compute_capability = 90;
  return device;
}

struct Shipped {
  Device gpu;
  std::vector<std::string> operations;  ///< of reduce
  int matrix_elements;                  ///< of sumMatrix2D: power of two
};

class ShippedWisdom : public ::testing::TestWithParam<Shipped> {
 protected:
  static void SetUpTestSuite() { ::setenv("TUNER_DB_PATH", TUNER_BINARY_DIR "/share/tuner/wisdom", 1); }
  static void TearDownTestSuite() { ::unsetenv("TUNER_DB_PATH"); }
  cache::WisdomMatch lookup(const KernelSpec& spec, ProblemSize size) {
    return wisdom_.lookup(spec, complete(spec, std::move(size)), GetParam().gpu);
  }
  void expect_known(const KernelSpec& spec, const ProblemSize& size) {
    const auto match = lookup(spec, size);
    ASSERT_TRUE(match) << size.text();
    EXPECT_LE(match.tier, cache::Tier::nearest_size) << size.text() << ": " << match.reason;
    EXPECT_TRUE(match.shipped) << size.text();
  }

  testing::TemporaryFolder folder_;
  Wisdom wisdom_{{.database = folder_ / "wisdom.db", .warn = {}}};
};

TEST_P(ShippedWisdom, CoversReductionsOfEveryTypeFromOneElementToTwoToTheThirtyOne) {
  const KernelSpec spec = KernelLibrary().find("reduce");
  for (const std::string& type : spec.find_choice("T")->values)
    for (const std::string& operation : GetParam().operations)
      for (int log2 = 0; log2 <= 31; ++log2)
        expect_known(spec, {{{"n", std::int64_t{1} << log2}}, {{"T", type}, {"operation", operation}}});
}

TEST_P(ShippedWisdom, CoversMatrixSumsOfEveryTypeAndShape) {
  const KernelSpec spec = KernelLibrary().find("sumMatrix2D");
  for (const std::string& type : spec.find_choice("T")->values) {
    for (std::int64_t side = 1024; side <= 16384; side *= 2)
      expect_known(spec, {{{"nx", side}, {"ny", side}}, {{"T", type}}});
    for (int columns = 0; columns <= GetParam().matrix_elements; ++columns)
      for (int rows = 0; columns + rows <= GetParam().matrix_elements; ++rows)
        expect_known(spec, {{{"nx", std::int64_t{1} << columns}, {"ny", std::int64_t{1} << rows}}, {{"T", type}}});
  }
}

TEST_P(ShippedWisdom, WasMeasuredWithTheKernelsAsTheyAre) {
  for (const auto& [kernel, sizes] :
       {std::pair<const char*, std::map<std::string, std::int64_t>>{"reduce", {{"n", 4096}}},
        {"sumMatrix2D", {{"nx", 1024}, {"ny", 1024}}}}) {
    const KernelSpec spec = KernelLibrary().find(kernel);
    const auto match = lookup(spec, {sizes, {}});
    ASSERT_TRUE(match) << kernel;
    EXPECT_EQ(match.best->kernel.source_hash, to_record(spec, {}).source_hash) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfGpus, ShippedWisdom,
    ::testing::Values(Shipped{hopper("NVIDIA H200", 62914560, 6016), {"sum", "min", "max", "product"}, 28},
                      Shipped{hopper("NVIDIA H100", 52428800, 5120), {"sum", "min", "max", "product"}, 28}),
    [](const auto& shipped) { return shipped.param.gpu.name.substr(7); });

TEST(ShippedDatabases, AreOpenedWhenAFileThatCouldNotBeUsedChanges) {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("shipped/good.db", "a copy that is not complete");
  const testing::EnvironmentVariable places("TUNER_DB_PATH", (folder / "shipped").string());
  Wisdom wisdom({.database = folder / "wisdom.db", .warn = {}});
  const std::size_t before = wisdom.databases().size();
  EXPECT_FALSE(wisdom.look_for_shipped());
  std::filesystem::copy_file(TUNER_BINARY_DIR "/share/tuner/wisdom/nvidia_h200.db", folder / "whole");
  std::filesystem::rename(folder / "whole", file);
  EXPECT_EQ(wisdom.databases().size(), before) << "a call does not look at files that are of no use";
  EXPECT_TRUE(wisdom.look_for_shipped());
  EXPECT_EQ(wisdom.databases().size(), before + 1);
  EXPECT_FALSE(wisdom.look_for_shipped());
}

}  // namespace
}  // namespace tuner
