/// The small value types: values, configurations, problem sizes, devices, element types.

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/available_memory.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/problem_size.hpp>

#include <stdexcept>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(Value, ParsesBackFromItsText) {
  for (const Value& value : {Value(0), Value(-7), Value(INT64_MIN), Value(INT64_MAX), Value(true), Value(false),
                             Value("shuffle"), Value("-x")}) {
    EXPECT_EQ(Value::parse(value.text()), value) << value.text();
  }
  EXPECT_TRUE(Value::parse("9223372036854775808").is_string());
  EXPECT_TRUE(Value::parse("").is_string());
}

TEST(Value, KeepsBooleansApartFromIntegersThatTheyCountAs) {
  EXPECT_NE(Value(true), Value(1));
  EXPECT_EQ(Value(true).integer(), 1);
}

TEST(Configuration, HasOneTextWhateverTheOrderOfItsEntries) {
  const Configuration a{{"vector", 4}, {"block_x", 32}, {"cached", true}};
  const Configuration b{{"cached", true}, {"block_x", 32}, {"vector", 4}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.text(), "block_x=32 cached=true vector=4");
  EXPECT_EQ(Configuration::parse(a.text()), a);
  EXPECT_EQ(Configuration::parse(" vector=4,block_x=32, cached=true "), a);
}

TEST(Configuration, RefusesTextThatIsNoneAndSaysWhichPart) {
  for (const char* text : {"block", "=4", "block=", "block=1 block=2"}) {
    EXPECT_THROW(Configuration::parse(text), std::invalid_argument) << text;
  }
}

TEST(ProblemSize, PutsChoicesBeforeSizes) {
  const ProblemSize size{{{"ny", 2}, {"nx", 1}}, {{"T", "float"}}};
  EXPECT_EQ(size.text(), "T=float nx=1 ny=2");
  EXPECT_EQ(ProblemSize{}.text(), "");
}

TEST(ProblemSize, ReadsChoicesBackFromTheirText) {
  const ProblemSize size{{}, {{"T", "float"}, {"operation", "sum"}}};
  EXPECT_EQ(ProblemSize::parse_choices(size.choices_text()), size.choices);
  EXPECT_TRUE(ProblemSize::parse_choices("").empty());
}

TEST(DeviceKey, HasDifferentTextForDifferentSilicon) {
  DeviceKey key{"cuda", 90, 132, 62914560, 6144, 232448, 65536, ""};
  EXPECT_EQ(key.text(), "cuda cc=9.0 sm=132 l2=62914560 bus=6144 smem=232448 regs=65536");
  DeviceKey other = key;
  other.sm_count = 114;
  EXPECT_NE(key.text(), other.text());
}

TEST(AvailableMemory, IsWhatTheMachineHasOrItsControlGroupsAllow) {
  const testing::TemporaryFolder root;
  EXPECT_EQ(available_memory(root.path()), 0u) << "nothing is known";
  root.write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    4000 kB\n");
  EXPECT_EQ(available_memory(root.path()), 4000u << 10);
  root.write("proc/self/cgroup", "0::/jobs/one\n");
  root.write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  EXPECT_EQ(available_memory(root.path()), 4000u << 10);
  root.write("sys/fs/cgroup/jobs/memory.max", "1000000\n");
  root.write("sys/fs/cgroup/jobs/memory.current", "900000\n");
  EXPECT_EQ(available_memory(root.path()), 100000u) << "the group above limits its groups";
  root.write("sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file 300000\n");
  EXPECT_EQ(available_memory(root.path()), 400000u) << "pages of files are given back";
  root.write("proc/self/cgroup", "7:cpu,memory:/elsewhere\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "70000\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "80000\n");
  EXPECT_EQ(available_memory(root.path()), 0u) << "version 1, in a container";
}

TEST(ElementType, IsFoundByItsNameAndItsAliases) {
  for (const ElementTypeInfo& type : element_types()) {
    EXPECT_EQ(element_type(type.name), type.type);
    EXPECT_EQ(info(type.type).name, type.name);
  }
  EXPECT_EQ(element_type("int32"), ElementType::int32);
  EXPECT_EQ(element_type("bf16"), ElementType::bfloat16);
  EXPECT_EQ(element_type("float8_e4m3fn"), ElementType::e4m3) << "as PyTorch and JAX have it";
  EXPECT_EQ(element_type("float4_e2m1fn_x2"), ElementType::e2m1x2);
  EXPECT_EQ(element_type("quad"), std::nullopt);
}

TEST(ElementType, OfFp8HasPairsAndQuadruples) {
  const auto vector = vector_type("__nv_fp8x4_e4m3");
  ASSERT_TRUE(vector);
  EXPECT_EQ(vector->type, ElementType::e4m3);
  EXPECT_EQ(vector->components, 4);
  EXPECT_EQ(vector_type("__nv_fp8x2_e5m2")->type, ElementType::e5m2);
  EXPECT_EQ(vector_type("__nv_fp8x2_e8m0")->type, ElementType::e8m0);
  EXPECT_EQ(vector_type("__nv_fp6x4_e2m3")->type, ElementType::e2m3);
  EXPECT_EQ(vector_type("__nv_fp6x4_e2m3")->components, 4);
  EXPECT_EQ(numbers_of("__nv_fp4x2_e2m1")->type, ElementType::e2m1x2);
  EXPECT_EQ(numbers_of("__nv_fp4x2_e2m1")->components, 1) << "two numbers in one byte";
  EXPECT_EQ(vector_type("__nv_fp4x4_e2m1")->components, 2);
  EXPECT_EQ(vector_type("dim3")->components, 3);
  for (const char* name : {"__nv_fp8x3_e4m3", "__nv_fp8x4_half", "__nv_fp8x4", "__nv_fp8x", "__nv_fp8x44e4m3",
                           "__nv_fp6x2_e4m3", "__nv_fp4x2", "e4m3"})
    EXPECT_FALSE(vector_type(name)) << name;
}

}  // namespace
}  // namespace tuner
