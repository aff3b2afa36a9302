/// A sample of the configurations of every built-in kernel (all values, all warp steps, all finishes) gives the
/// reference's result: at an odd size, and on the `verify` problems of the file (nothing, one element, odd sizes,
/// misaligned pointers). Built twice, for the host backend and for a GPU; see Subject.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sample.hpp"

namespace tuner {
namespace {

using Choices = std::map<std::string, std::string>;

/// Picks configurations for each of \p choices, \p each of them where the sample has all values, and expects them to be
/// right at \p sizes.
void expect_samples_right(KernelSpec spec, const std::map<std::string, std::int64_t>& sizes,
                          const std::vector<Choices>& choices, std::size_t each, testing::Picker& picker,
                          const std::function<void(KernelSpec&, const ProblemSize&)>& adapt = {}) {
  const testing::Subject subject = testing::subject();
  if (!subject.backend) GTEST_SKIP() << subject.why_not;
  if (const auto never = why_never(spec, subject.backend->device().limits)) GTEST_SKIP() << spec.name << ' ' << *never;
  for (const Choices& choice : choices) {
    const ProblemSize size = complete(spec, {sizes, choice});
    if (adapt) adapt(spec, size);
    const EnumeratedSpace space = enumerate(spec, size, subject.backend->device().limits);
    testing::expect_right(
        *subject.backend, spec, size,
        picker.pick(space, std::max<std::size_t>(each * testing::sample_size() / testing::kAllValues, 1)));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// A smaller sample cannot promise it.
void expect_all_values_used(const testing::Picker& picker, const KernelSpec& spec,
                            const std::vector<std::string>& unreachable = {}) {
  if (testing::sample_size() >= testing::kAllValues && !::testing::Test::IsSkipped()) {
    EXPECT_THAT(picker.never_used(spec.space), ::testing::UnorderedElementsAreArray(unreachable));
  }
}

/// Inputs of a reduction that reveal a lost or doubled element by operation: the default ones are all but certain to
/// hold the smallest value many times, and their product is soon zero.
void reveal(KernelSpec& spec, const ProblemSize& size) {
  const ElementTypeInfo& type = info(*element_type(size.choices.at("T")));
  const std::string& operation = size.choices.at("operation");
  Fill fill{Fill::Kind::uniform, 0, type.is_floating ? 1.0 : 100.0};
  if (operation == "product") {
    fill = type.is_floating ? Fill{Fill::Kind::uniform, 0.99, 1.01} : Fill{Fill::Kind::constant, 3, 3};  // 3^n mod 2^64
  } else if (operation != "sum" && type.bytes > 1) {
    fill.high = 30000;
  }
  for (BufferSpec& buffer : spec.buffers) {
    if (buffer.name == "x") buffer.fill = fill;
  }
}

void expect_reduce_right(const std::vector<std::string>& types, std::uint64_t seed,
                         const std::vector<std::string>& unreachable) {
  const KernelSpec spec = testing::built_in("reduce");
  const std::vector<std::string> operations{"sum", "min", "max", "product"};
  std::vector<Choices> choices;
  for (std::size_t i = 0; i < types.size(); ++i) {
    // order=any admits every finish
    choices.push_back({{"T", types[i]}, {"operation", operations[i % 4]}, {"order", "any"}});
    choices.push_back({{"T", types[i]}, {"operation", operations[(i + 1 + i / 4) % 4]}, {"order", "any"}});
  }
  testing::Picker picker(seed);
  expect_samples_right(spec, {{"n", 20011}}, choices, 12, picker, reveal);
  expect_all_values_used(picker, spec, unreachable);
}

TEST(ReduceTemplate, IsRightForFourByteTypesInASampleOfConfigurations) {
  expect_reduce_right({"int", "unsigned", "float"}, 1, {});
}
TEST(ReduceTemplate, IsRightForEightByteTypesInASampleOfConfigurations) {
  expect_reduce_right({"int64", "uint64", "double"}, 2, {"load_bytes=4", "warp_step=redux", "finish=counted"});
}
TEST(ReduceTemplate, IsRightForIntegersOfOneAndTwoBytesInASampleOfConfigurations) {
  expect_reduce_right({"int8", "uint8", "int16", "uint16"}, 3, {"warp_step=redux", "finish=counted"});
}
TEST(ReduceTemplate, IsRightForHalfAndBfloat16InASampleOfConfigurations) {
  expect_reduce_right({"half", "bfloat16"}, 4, {"warp_step=redux", "finish=counted"});
}

TEST(SumMatrix2DTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("sumMatrix2D");
  testing::Picker picker(5);
  expect_samples_right(spec, {{"nx", 257}, {"ny", 67}}, {{{"T", "float"}}, {{"T", "double"}}, {{"T", "int"}}}, 68,
                       picker);
  expect_all_values_used(picker, spec);
}

TEST(ReduceClassicTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("reduceClassic");
  testing::Picker picker(6);
  expect_samples_right(spec, {{"n", 20011}}, {{{"T", "int"}}, {{"T", "float"}}, {{"T", "double"}}}, 68, picker);
  expect_all_values_used(picker, spec);
}

TEST(SerialSumTemplate, IsRightInEveryConfiguration) {
  const KernelSpec spec = testing::built_in("serialSum");
  testing::Picker picker(11);
  expect_samples_right(spec, {{"n", 20011}}, {{{"T", "int"}}, {{"T", "float"}}, {{"T", "double"}}}, 5, picker);
  expect_all_values_used(picker, spec);
}

TEST(NestedReduceTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("nestedReduce");
  testing::Picker picker(9);
  expect_samples_right(spec, {{"n", 20011}}, {{{"T", "int"}}, {{"T", "float"}}, {{"T", "double"}}}, 68, picker);
  expect_all_values_used(picker, spec);
}

TEST(NestedHelloTemplate, IsRightInEveryConfiguration) {
  const KernelSpec spec = testing::built_in("nestedHello");
  testing::Picker picker(10);
  expect_samples_right(spec, {{"threads", 512}, {"deepest", 10}},
                       {{{"blocks", "1"}, {"greetings", "silent"}}, {{"blocks", "2"}, {"greetings", "silent"}}}, 2,
                       picker);
  expect_all_values_used(picker, spec);
}

TEST(WarpReduceTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("warpReduce");
  testing::Picker picker(7);
  expect_samples_right(spec, {{"n", 20011}},
                       {{{"T", "float"}, {"operation", "sum"}},
                        {{"T", "float"}, {"operation", "count"}},
                        {{"T", "int"}, {"operation", "sum"}},
                        {{"T", "int"}, {"operation", "count"}}},
                       52, picker);
  expect_all_values_used(picker, spec);
}

TEST(BlockReduceTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("blockReduce");
  testing::Picker picker(9);
  const std::vector<Choices> types{{{"T", "float"}}, {{"T", "int"}}, {{"T", "double"}}};
  expect_samples_right(spec, {{"n", 20011}}, types, 68, picker);
  if (::testing::Test::IsSkipped()) return;

  // On the host a grid of more blocks than there are cores cannot meet.
  KernelSpec meeting = spec;
  std::vector<Constraint> constraints = spec.space.constraints();
  constraints.push_back({"meets", Expression::parse("finish == grid_sync", {})});
  meeting.space = SearchSpace(spec.space.parameters(), std::move(constraints));
  expect_samples_right(meeting, {{"n", 1001}}, types, 8, picker);
  expect_all_values_used(picker, spec);
}

TEST(PrefixSumTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("prefixSum");
  testing::Picker picker(11);
  expect_samples_right(spec, {{"n", 20011}},
                       {{{"T", "int"}, {"form", "inclusive"}},
                        {{"T", "int"}, {"form", "exclusive"}},
                        {{"T", "float"}, {"form", "exclusive"}},
                        {{"T", "double"}, {"form", "inclusive"}}},
                       52, picker);
  expect_all_values_used(picker, spec);
}

TEST(CompactTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("compact");
  testing::Picker picker(12);
  expect_samples_right(spec, {{"n", 20011}},
                       {{{"T", "float"}, {"density", "half"}},
                        {{"T", "int"}, {"density", "few"}},
                        {{"T", "int"}, {"density", "most"}},
                        {{"T", "double"}, {"density", "most"}}},
                       52, picker);
  expect_all_values_used(picker, spec);
}

TEST(HistogramTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("histogram");
  testing::Picker picker(13);
  expect_samples_right(spec, {{"n", 20011}},
                       {{{"keys", "uniform"}, {"bins", "256"}},
                        {{"keys", "skewed"}, {"bins", "1024"}},
                        {{"keys", "equal"}, {"bins", "256"}},
                        {{"keys", "uniform"}, {"bins", "4096"}}},
                       52, picker);
  expect_all_values_used(picker, spec);
}

TEST(WarpDivergenceTemplate, IsRightInASampleOfConfigurations) {
  const KernelSpec spec = testing::built_in("warpDivergence");
  testing::Picker picker(8);
  expect_samples_right(spec, {{"n", 4099}, {"work", 29}},
                       {{{"T", "float"}, {"cause", "condition"}},
                        {{"T", "double"}, {"cause", "condition"}},
                        {{"T", "float"}, {"cause", "trip_count"}},
                        {{"T", "double"}, {"cause", "trip_count"}},
                        {{"T", "float"}, {"cause", "condition"}, {"optimised", "no"}}},
                       52, picker);
  expect_all_values_used(picker, spec);
}

}  // namespace
}  // namespace tuner
