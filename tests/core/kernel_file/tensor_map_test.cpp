// `tensormap` lines: what they mean, and the rules that their numbers must follow.

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/tensor_maps.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/space/enumerated_space.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

using Shape = TensorMapShape;
using ::testing::IsEmpty;

constexpr const char* kPlain = "x[m, k] box rows, tile swizzle swizzle";

/// A kernel that copies x to y through tensor map `from`, which is \p map.
KernelSpec tiles(const std::string& map = kPlain, const std::string& type = "half", const std::string& more = "") {
  const std::string text =
      "#pragma tuner kernel tiles\n#pragma tuner size m = 64\n#pragma tuner size k = 128\n"
      "#pragma tuner parameter rows = 8 64 512\n#pragma tuner parameter tile = 4 32 64\n"
      "#pragma tuner parameter swizzle = 0 64 128\n"
      "#pragma tuner in x[m * k] : " +
      type + "\n#pragma tuner out y[m * k] : " + type + "\n#pragma tuner tensormap from = " + map +
      "\n#pragma tuner grid ceil_div(k, tile), ceil_div(m, rows)\n#pragma tuner block 32\n" + more +
      "#pragma tuner reference copied\n"
      "__global__ void tiles(const __grid_constant__ CUtensorMap from, half* y, int m, int k) {}\n"
      "__global__ void copied(const half* from, half* y, int m, int k) {}\n";
  return parse(text);
}
DeviceLimits hopper() {
  DeviceLimits limits;
  limits.compute_capability = 90;
  return limits;
}
ProblemSize problem(std::int64_t m = 64, std::int64_t k = 128) { return {{{"m", m}, {"k", k}}, {}}; }
Configuration configuration(int rows = 64, int tile = 64, int swizzle = 128) {
  return {{"rows", rows}, {"tile", tile}, {"swizzle", swizzle}};
}
std::string invalid(const KernelSpec& spec, const Configuration& one = configuration(),
                    const ProblemSize& size = problem()) {
  return why_invalid(spec, size, hopper(), one).value_or("valid");
}
TensorMapShape shape(const KernelSpec& spec, const Configuration& one = configuration()) {
  return shape_of(spec.tensor_maps.at(0), ElementType::half, bindings(spec, problem(), hopper(), one));
}

TEST(TensorMapLine, HasNumbersThatDependOnParametersAndSizes) {
  const KernelSpec spec = tiles();
  EXPECT_THAT(spec.launches.at(0).arguments, ElementsAre("from", "y", "m", "k"));
  EXPECT_EQ(text(shape(spec)), "half[64, 128] strides 128 box 64, 64 steps 1, 1 swizzle 128 interleave 0 promotion 0");
  EXPECT_THAT(unused_parameters(spec), IsEmpty());
  EXPECT_THAT(spec.taken_by(spec.launches[0]), ElementsAre("from", "y", "m", "k", "x"));
}

TEST(TensorMapLine, HasDenseStridesUnlessItGivesThem) {
  EXPECT_EQ(text(shape(tiles("x[2, m / 2, k] box 1, 8, 64 promotion 256B steps 1, 2, 1 swizzle none"))),
            "half[2, 32, 128] strides 4096, 128 box 1, 8, 64 steps 1, 2, 1 swizzle 0 interleave 0 promotion 256");
  EXPECT_EQ(text(shape(tiles("x[m / 2, 64] strides k box 8, 64 swizzle 128B fill nan"))),
            "half[32, 64] strides 128 box 8, 64 steps 1, 1 swizzle 128 interleave 0 promotion 0 fill nan");
  EXPECT_TRUE(shape(tiles("x[m * k] box 64 tf32 fill zero", "float")).is_tf32);
}

TEST(TensorMapLine, GivesTheReferenceItsBuffer) {
  EXPECT_THAT(tiles().verification.reference.at(0).arguments, ElementsAre("x", "y", "m", "k"));
}

TEST(TensorMapLine, NeedsPointersOf16Bytes) {
  EXPECT_EQ(tiles().alignment, 16);
  EXPECT_EQ(tiles(kPlain, "half", "#pragma tuner aligned 128\n").alignment, 128);
  EXPECT_EQ(tiles("x[1, m, k] box 1, 8, 16 interleave 32B swizzle 32B").alignment, 32);
}

TEST(TensorMapRules, AreThoseOfCuda) {
  EXPECT_EQ(invalid(tiles()), "valid");
  EXPECT_EQ(invalid(tiles(), configuration(64, 4, 0)),
            "tensor map 'from' (line 9): a row of its box has 8 bytes, and must have a multiple of 16");
  EXPECT_EQ(invalid(tiles(), configuration(64, 64, 64)),
            "tensor map 'from' (line 9): a row of its box has 128 bytes, which exceed its swizzle of 64");
  EXPECT_EQ(invalid(tiles("x[m, k] box rows, tile"), configuration(512)),
            "tensor map 'from' (line 9): its box has 512 elements in dimension 1, not from 1 to 256");
  const auto broken = [](const std::string& map) {
    const std::string why = invalid(tiles(map));
    const std::string begin = "tensor map 'from' (line 9): ";
    return why.substr(why.starts_with(begin) ? begin.size() : 0);
  };
  EXPECT_EQ(broken("x[0, k] box 1, 64"), "its extent in dimension 1 is 0, not from 1 to 2^32");
  EXPECT_EQ(broken("x[m, k] box 1, 64 steps 9, 1"), "its step in dimension 1 is 9, not from 1 to 8");
  EXPECT_EQ(broken("x[8, 12] box 8, 8"), "its stride in dimension 1 has 24 bytes, and must have a multiple of 16");
  EXPECT_EQ(broken("x[1, 8] strides 549755813888 box 1, 8"),
            "its stride in dimension 1 has 1099511627776 bytes, not from 0 to 2^40");
  EXPECT_EQ(broken("x[m, k] box 8, 8 swizzle 16"), "its swizzle has 16 bytes, not one of 0, 32, 64, 128");
  EXPECT_EQ(broken("x[1, m, k] box 1, 8, 8 interleave 64B"), "its interleave has 64 bytes, not one of 0, 16, 32");
  EXPECT_EQ(broken("x[m, k] box 8, 8 promotion 32B"), "its promotion has 32 bytes, not one of 0, 64, 128, 256");
  EXPECT_EQ(broken("x[m, k] box 8, 8 interleave 16B"), "an interleave of 16 bytes needs at least three dimensions");
  EXPECT_EQ(broken("x[1, m, k] box 1, 8, 8 interleave 32B"),
            "with an interleave of 32 bytes, its swizzle must be 32, not 0");
  EXPECT_EQ(broken("x[1, m, 8] box 1, 8, 8 interleave 32B swizzle 32B"),
            "with an interleave of 32 bytes, its stride in dimension 2 must be a multiple of 32 bytes, not 16");
  EXPECT_EQ(broken("x[m + 1, k] box 8, 8"), "its last element is number 8320 of 'x', which has 8192");
  EXPECT_EQ(broken("x[m, k] box 8, 8 tf32"), "it is read as tf32, but its elements are half, not float");
  EXPECT_EQ(invalid(tiles("x[m, k] box 8, 16 fill nan", "int8")),
            "tensor map 'from' (line 9): it is filled with NaN, but its elements are int8");
  EXPECT_EQ(invalid(tiles("x[m, k] box 8, 16 fill nan", "e4m3")),
            "tensor map 'from' (line 9): it is filled with NaN, but its elements are e4m3");
  EXPECT_EQ(invalid(tiles("x[m, k] box 8, 16", "e4m3")), "valid");
}

TEST(TensorMapRules, AreBrokenByNumbersThatOverflow) {
  for (const char* const box :
       {"8, 9223372036854775807", "8, 64 strides 9223372036854775807", "8, k * 100000000000000000"}) {
    const KernelSpec spec = tiles("x[m, k] box " + std::string(box));
    EXPECT_THAT(invalid(spec), HasSubstr("overflow")) << box;
    EXPECT_FALSE(first_valid(spec, problem(), hopper())) << box;
  }
}

TEST(TensorMapRules, DecideWhichConfigurationsThereAre) {
  const KernelSpec spec = tiles();
  std::size_t valid = 0;
  for (const int rows : {8, 64, 512})
    for (const int tile : {4, 32, 64})
      for (const int swizzle : {0, 64, 128}) valid += invalid(spec, configuration(rows, tile, swizzle)) == "valid";
  EXPECT_EQ(valid, 2u * 5u);
  EXPECT_EQ(enumerate(spec, problem(), hopper()).size(), valid);
}

TEST(TensorMapRules, HoldForSizesAsFarAsThereAreNoParameters) {
  EXPECT_EQ(why_impossible(tiles(), problem(64, 100), hopper()),
            "tensor map 'from' (line 9): its stride in dimension 1 has 200 bytes, and must have a multiple of 16");
  for (const VerifyProblem& one : verify_problems(tiles(), problem(512, 1024), hopper()))
    EXPECT_EQ(one.size.sizes.at("k") % 8, 0) << one.size.sizes_text();
  EXPECT_GT(verify_problems(tiles(), problem(512, 1024), hopper()).size(), 2u);
}

TEST(TensorMapRules, DoNotMatterWhereNoLaunchTakesTheMap) {
  const KernelSpec spec = tiles("x[m, k] box rows, tile swizzle swizzle", "half", "#pragma tuner when tile > 4\n");
  EXPECT_EQ(invalid(spec, configuration(64, 4)), "nothing is launched: the conditions of all launches are false");
}

TEST(TensorMapRules, NeedAGpuThatHasTensorMaps) {
  DeviceLimits limits;
  for (const int capability : {0, 80}) {
    limits.compute_capability = capability;
    EXPECT_EQ(why_invalid(tiles(), problem(), limits, configuration()),
              "the kernel is given tensor maps, which need a GPU of compute capability 9.0 or later");
  }
}

}  // namespace
}  // namespace tuner
