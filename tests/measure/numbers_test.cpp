// The numbers of a buffer: those that a kernel file fills it with, and those that a kernel left in it.

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <tuner/backend/fill_value.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/numbers/output_values.hpp>
#include <tuner/measure/problem_buffers.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(StoreNumber, RefusesNumbersThatBecomeInfinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const struct {
    ElementType type;
    double number;
    bool fits;
  } table[] = {{ElementType::half, 65504, true},
               {ElementType::half, 65519.9, true},
               {ElementType::half, 65520, false},
               {ElementType::half, -70000, false},
               {ElementType::half, infinity, true},
               {ElementType::bfloat16, 3e38, true},
               {ElementType::bfloat16, 3.4e38, false},
               {ElementType::float32, 3.4e38, true},
               {ElementType::float32, 1e39, false},
               {ElementType::float32, -infinity, true},
               {ElementType::float32, std::nan(""), true},
               {ElementType::float64, 1e300, true},
               {ElementType::uint8, 255.9, true},
               {ElementType::uint8, 256, false},
               {ElementType::e4m3, 448, true},
               {ElementType::e4m3, -449, false},
               {ElementType::e4m3, infinity, false},
               {ElementType::e5m2, 57344, true},
               {ElementType::e5m2, 57345, false},
               {ElementType::e4m3, std::nan(""), true},
               {ElementType::e3m2, 28, true},
               {ElementType::e3m2, 29, false},
               {ElementType::e2m1, -6, true},
               {ElementType::e2m1x2, 7, false},
               {ElementType::e8m0, 0x1p127, true},
               {ElementType::tf32, 3.4e38, true},
               {ElementType::tf32, 1e39, false}};
  for (const auto& [type, number, fits] : table) {
    std::byte bytes[8];
    EXPECT_EQ(store_number(bytes, type, number), fits) << info(type).name << ' ' << number;
  }
  std::byte bytes[8];
  EXPECT_FALSE(store_number(bytes, ElementType::half, std::int64_t{70000}));
  EXPECT_TRUE(store_number(bytes, ElementType::bfloat16, std::numeric_limits<std::uint64_t>::max()));
}

TEST(Tolerance, OfSmallTypesAllowsTheNextNumberAndNoOther) {
  const KernelSpec spec = parse_kernel_file(
      "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner parameter p = 1\n#pragma tuner out a[n] : e4m3\n"
      "#pragma tuner accumulates 1000000\n#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments a\n"
      "#pragma tuner instantiate k\n",
      "k.cu");
  const std::pair<ElementType, int> types[] = {{ElementType::e4m3, 0x7e},
                                               {ElementType::e5m2, 0x7b},
                                               {ElementType::e3m2, 0x1f},
                                               {ElementType::e2m3, 0x1f},
                                               {ElementType::e2m1, 7}};
  for (const auto& [type, largest] : types) {
    const auto value = [type = type](int bits) { return element({type, 1, {static_cast<std::byte>(bits)}}, 0); };
    const Tolerance tolerance = tolerance_for(spec, complete(spec, {{{"n", 1}}, {}}), {}, type);
    const auto differs = [&](int actual, int expected) {
      return fill_value::differs(value(actual), value(expected), tolerance.relative, tolerance.absolute,
                                 tolerance.is_place);
    };
    for (int bits = 0; bits < largest; ++bits) {
      EXPECT_FALSE(differs(bits, bits + 1) || differs(bits + 1, bits)) << info(type).name << ' ' << bits;
      if (bits + 2 > largest) continue;
      EXPECT_TRUE(differs(bits, bits + 2) && differs(bits + 2, bits)) << info(type).name << ' ' << bits;
    }
  }
}

/// The error of \p fill for 1000 elements of \p type.
std::string complaint(const std::string& fill, const std::string& type) {
  const KernelSpec spec = parse_kernel_file(
      "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner parameter p = 1\n"
      "#pragma tuner in a[n] : " +
          type + "\n#pragma tuner fill a = " + fill +
          "\n#pragma tuner grid 1\n#pragma tuner block 1\n"
          "#pragma tuner arguments a\n#pragma tuner instantiate k\n",
      "k.cu");
  const MeasureOptions options;
  Bindings names;
  names.set("n", 1000);
  const FilledBy by{spec, names, "n=1000", options};
  const BufferSpec& buffer = spec.buffers.front();
  return error_of([&] { filled_numbers(by, "a", buffer.fill, *element_type(type), 1000, 1); });
}

TEST(FilledNumbers, NameThePlaceOfANumberThatItsTypeCannotHold) {
  const struct {
    const char *fill, *type, *complaint;
  } table[] = {
      {"expression 60000 + i * 100", "half", "k.cu:5:35: element 56 is 65600, which does not fit the type half"},
      {"expression i * 100.5", "half", "k.cu:5:35: element 652 is 65526, which does not fit the type half"},
      {"constant 70000", "half", "k.cu:5:24: the fill of a on n=1000: 70000 does not fit the type half"},
      {"constant n * 100", "half", "k.cu:5:24: the fill of a on n=1000: 100000 does not fit the type half"},
      {"constant -1", "uint8", "-1 does not fit the type uint8"},
      {"uniform 0 257", "uint8", "does not fit the type uint8"},
      {"uniform -129 0", "int8", "-129 does not fit the type int8"},
      {"uniform 0 1e39", "float", "does not fit the type float"},
      {"iota", "int8", "999 does not fit the type int8"},
  };
  for (const auto& [fill, type, wanted] : table) EXPECT_THAT(complaint(fill, type), HasSubstr(wanted)) << fill;
}

TEST(FilledNumbers, MayReachTheEndsOfTheirType) {
  const std::pair<const char*, const char*> table[] = {{"uniform 0 256", "uint8"},
                                                       {"uniform -128 128", "int8"},
                                                       {"uniform 0 65504", "half"},
                                                       {"constant 65504", "half"},
                                                       {"uniform 0 4294967296", "uint32"},
                                                       {"iota", "half"},
                                                       {"constant 2.5", "int"},
                                                       {"uniform 0 9223372036854775807", "int64"},
                                                       {"expression i - 128", "int"}};
  for (const auto& [fill, type] : table) EXPECT_EQ(complaint(fill, type), "no error") << fill << " of " << type;
}

TEST(FilledNumbers, AreNotComputedForEver) {
  const KernelSpec spec = parse_kernel_file(
      "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner parameter p = 1\n#pragma tuner inout a[n] : float\n"
      "#pragma tuner fill a = expression i % 7\n#pragma tuner block 1\n#pragma tuner grid 1\n"
      "__global__ void k(float *a) {}\n",
      "k.cu");
  const Expression& element = *spec.buffers.front().fill->element;
  EXPECT_EQ(computed_elements(ElementType::float32, 100'000, element, {}).size(), 400'000u);
  EXPECT_THAT(error_of([&] { (void)computed_elements(ElementType::float32, 100'000, element, {}, 0); }),
              HasSubstr("of 100000 elements are computed: give a file"));
}

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
  EXPECT_EQ(element_text(buffer<std::uint8_t>(ElementType::e4m3, {0x7e}), 0), "448");
  EXPECT_EQ(element_text(buffer<std::uint8_t>(ElementType::e5m2, {0x80 | 1}), 0), "-1.5258789e-05");
  EXPECT_EQ(element_text(buffer<std::uint8_t>(ElementType::e2m1x2, {0xb2}), 0), "1|-1.5");
  EXPECT_EQ(element_text(buffer<std::uint8_t>(ElementType::e8m0, {0x80}), 0), "2");
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
