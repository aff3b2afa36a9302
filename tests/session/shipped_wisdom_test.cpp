/// The wisdom that the build ships, as a program on that GPU would meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/session/kernel_library.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner {
namespace {

Device h200() {
  Device device;
  device.key = {"cuda", 90, 132, 62914560, 6016, 232448, 65536, ""};
  device.limits.sm_count = 132;
  device.limits.max_shared_bytes = 232448;
  device.limits.compute_capability = 90;
  return device;
}

class ShippedWisdom : public ::testing::Test {
 protected:
  cache::WisdomMatch lookup(const char* kernel, ProblemSize size) {
    const KernelSpec spec = KernelLibrary().find(kernel);
    return wisdom_.lookup(spec, complete(spec, std::move(size)), device_);
  }

  const Device device_ = h200();
  Wisdom wisdom_{{":memory:", TUNER_BINARY_DIR "/share/tuner/wisdom", true, {}}};
};

TEST_F(ShippedWisdom, CoversReductionsOfAllSizesFromTwoToTheTenToTwoToTheThirty) {
  for (const char* type : {"float", "int", "double"}) {
    for (int exponent = 10; exponent <= 30; ++exponent) {
      const auto match = lookup("reduce", {{{"n", std::int64_t{1} << exponent}}, {{"T", type}}});
      ASSERT_TRUE(match) << type << " 2^" << exponent;
      EXPECT_LE(match.tier, cache::Tier::nearest_size) << type << " 2^" << exponent << ": " << match.reason;
      EXPECT_TRUE(match.shipped);
    }
  }
}

TEST_F(ShippedWisdom, CoversMatrixSumsFromOneToSixteenThousandRows) {
  for (const char* type : {"float", "int", "double"}) {
    for (std::int64_t n = 1024; n <= 16384; n *= 2) {
      const auto match = lookup("sumMatrix2D", {{{"nx", n}, {"ny", n}}, {{"T", type}}});
      ASSERT_TRUE(match) << type << ' ' << n;
      EXPECT_LE(match.tier, cache::Tier::stale) << match.reason;
    }
  }
}

TEST_F(ShippedWisdom, SaysNothingOfSizesFarFromWhatWasMeasured) {
  const auto match = lookup("reduce", {{{"n", 100}}, {{"T", "float"}}});
  EXPECT_GT(match.tier, cache::Tier::nearest_size);
}

}  // namespace
}  // namespace tuner
