#include <cmath>
#include <cstring>
#include <limits>

#include <tuner/measure/output_values.hpp>

#include <tests/matchers.hpp>

namespace tuner {
namespace {

template <typename T>
HostBuffer buffer(ElementType type, const std::vector<T>& values) {
  HostBuffer made{type, values.size(), std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

HostBuffer floats(const std::vector<float>& values) { return buffer(ElementType::float32, values); }

TEST(OutputValues, ShowElementsInAsManyDigitsAsTheyHave) {
  EXPECT_EQ(element_text(floats({0.1f}), 0), "0.1");
  EXPECT_EQ(element_text(buffer<std::uint64_t>(ElementType::uint64, {~std::uint64_t{0}}), 0), "18446744073709551615");
  EXPECT_EQ(element_text(buffer<std::int8_t>(ElementType::int8, {-7}), 0), "-7");
  EXPECT_EQ(element_text(buffer<std::uint16_t>(ElementType::half, {0x3c00}), 0), "1");
  EXPECT_EQ(element_text(buffer<std::uint16_t>(ElementType::bfloat16, {0xc000}), 0), "-2");
}

TEST(OutputValues, MeasureErrorsAgainstTheLargestExpectedElement) {
  EXPECT_DOUBLE_EQ(largest_error(floats({1, 4}), floats({1, 4})), 0);
  EXPECT_DOUBLE_EQ(largest_error(floats({0.5f, 4}), floats({0, 4})), 0.125);
  EXPECT_DOUBLE_EQ(largest_error(floats({3, 4}), floats({2, 4})), 0.25);
}

TEST(OutputValues, CallANaNBesideANumberAnInfiniteError) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isinf(largest_error(floats({nan}), floats({1}))));
  EXPECT_EQ(largest_error(floats({nan}), floats({nan})), 0);
}

TEST(OutputValues, GiveTheFirstElementsOfEachBufferAndItsError) {
  const HostBuffers actual{{"c", floats({1, 2, 3})}}, expected{{"c", floats({1, 2, 4})}};
  const std::vector<OutputValues> all = output_values(actual, expected, 2);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 3u);
  EXPECT_THAT(all[0].first, ElementsAre("1", "2"));
  EXPECT_DOUBLE_EQ(all[0].error.value(), 0.25);
  EXPECT_FALSE(output_values(actual, {}, 2)[0].error);
}

}  // namespace
}  // namespace tuner
