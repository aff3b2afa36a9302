#include <tuner/core/sub_space.hpp>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tuner/core/kernel_file.hpp>

namespace tuner {
namespace {

class SubSpace : public ::testing::Test {
 protected:
  std::size_t size(const KernelSpec& part) const { return enumerate(part, complete(part, {}), limits).size(); }

  DeviceLimits limits;
  KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel      add
#pragma tuner size        n = 1000
#pragma tuner parameter   block_x = 1 16 256
#pragma tuner parameter   block_y = 1 8
#pragma tuner parameter   unroll  = 1 2 4
#pragma tuner inout       x[n]  : float
#pragma tuner block       block_x, block_y
#pragma tuner grid        1
#pragma tuner arguments   x, n
#pragma tuner instantiate add<block_x, block_y, unroll>
#pragma tuner reference   addReference
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   x, n
#pragma tuner default     block_x=16 block_y=8 unroll=2
)",
                                      "add.cu");
};

TEST_F(SubSpace, FixedParametersHaveOneValueAndTheOthersStayFree) {
  EXPECT_EQ(size(sub_space(spec, {{"unroll", 4}}, {})), 5u);  // 256 x 8 is too large
}

TEST_F(SubSpace, WhatIsNotVariedHasItsDefault) {
  const KernelSpec part = sub_space(spec, {{"block_y", 1}}, {"unroll"});
  const EnumeratedSpace space = enumerate(part, complete(part, {}), limits);
  ASSERT_EQ(space.size(), 3u);
  EXPECT_EQ(space.configuration(0).find("block_x")->text(), "16");
  EXPECT_EQ(space.configuration(0).find("block_y")->text(), "1");
}

TEST_F(SubSpace, RefusesWhatTheKernelDoesNotHave) {
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"blok_x", 1}}, {}); }), HasSubstr("did you mean 'block_x'"));
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"unroll", 3}}, {}); }), HasSubstr("its values are 1 2 4"));
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"unroll", 2}}, {"unroll"}); }), HasSubstr("both fixed and varied"));
  spec.default_configuration.reset();
  EXPECT_THAT(error_of([&] { sub_space(spec, {}, {"unroll"}); }), HasSubstr("no default"));
}

TEST_F(SubSpace, NamesWhatCannotRunWithItsReason) {
  const std::vector<Impossible> all =
      impossible_configurations(sub_space(spec, {}, {"block_x", "block_y"}), complete(spec, {}), limits);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].configuration.text(), "block_x=256 block_y=8 unroll=2");
  EXPECT_THAT(all[0].reason, HasSubstr("2048 threads exceeds the limit of 1024"));
  EXPECT_TRUE(impossible_configurations(spec, complete(spec, {}), limits, 17).empty());
}

}  // namespace
}  // namespace tuner
