// The parameters of a kernel as its source declares them, and their types.

#include <typeinfo>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/values/element_type.hpp>

#include <tests/support/processor_time.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(Signatures, NameWhatAKernelTakes) {
  const auto found = find_signature(code_of(
      "// __global__ void no(int a)\n"
      "template <typename T, int items = 1>\n"
      "__global__ void __launch_bounds__(items * 32)\n  add(int n, T *c, const T* __restrict__ a /* in, too */, float "
      "b[4]) {}"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "add");
  ASSERT_EQ(found->template_parameters.size(), 2u);
  EXPECT_EQ(found->template_parameters[0].type, "typename");
  EXPECT_EQ(found->template_parameters[1].name, "items");
  ASSERT_EQ(found->arguments.size(), 4u);
  EXPECT_EQ(found->arguments[0].type, "int");
  EXPECT_FALSE(found->arguments[0].is_pointer());
  EXPECT_EQ(found->arguments[1].name, "c");
  EXPECT_TRUE(found->arguments[1].is_pointer());
  EXPECT_FALSE(found->arguments[1].is_to_const());
  EXPECT_TRUE(found->arguments[2].is_to_const());
  EXPECT_TRUE(found->arguments[3].is_pointer());
}

TEST(Signatures, AreFoundByName) {
  const std::string text = "__global__ void one(int a);\nextern \"C\" __global__ void two(void) {}";
  EXPECT_EQ(find_signature(text)->name, "one");
  EXPECT_TRUE(find_signature(text, "two")->arguments.empty());
  EXPECT_FALSE(find_signature(text, "three"));
}

TEST(Signatures, TheFirstWithoutANameIsThatOfAPrototypeToo) {
  const std::string text = "__global__ void one(int a);\n__global__ void two(int a) {}\n__global__ void one(int a) {}";
  EXPECT_EQ(find_signature(text)->begin, 0u);
  EXPECT_EQ(find_signature(text, "one")->begin, text.rfind("__global__")) << "the definition";
}

TEST(Signatures, OfManyHeadsAreFoundInLinearTime) {
  for (const std::string head : {"__global__ void k(", "__global__ void __launch_bounds__(", "__global__ ",
                                 "__global__ void k();", "template <int n> __global__ void k() {"}) {
    std::string text;
    while (text.size() < std::size_t{1} << 20) text += head;
    const double start = testing::processor_seconds();
    EXPECT_EQ(find_signature(text + "\n__global__ void last(int n) {}", "last")->arguments.size(), 1u) << head;
    EXPECT_LT(testing::processor_seconds() - start, 5) << head;
  }
}

TEST(Signatures, OfTextThatEndsTooSoonAreNone) {
  for (const char* text : {"__global__", "__global__ void f(", "template <int a __global__ void f(int",
                           "__global__ f(/*", "__global__ void __launch_bounds__(2", "> __global__ void f("})
    EXPECT_FALSE(find_signature(text)) << text;
}

TEST(Signatures, AreSeenBehindShiftsComparisonsAndAttributes) {
  const auto found = find_signature(
      "template <int a, bool b = (a > 3), int c = 1 << 4, template <class> class D = X>\n#pragma kernel tune(x = 1)\n"
      "extern \"C\" static __global__ void __launch_bounds__(1 << 8) __cluster_dims__(2, 1, 1) f(float* x) {}");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "f");
  ASSERT_EQ(found->template_parameters.size(), 4u);
  EXPECT_EQ(found->template_parameters[1].name, "b");
  EXPECT_EQ(found->template_parameters[2].name, "c");
  EXPECT_EQ(found->arguments.size(), 1u);
}

TEST(Signatures, AreSeenBehindMacrosWithArguments) {
  const auto name = [](std::string_view code, std::string_view kernel = "") {
    const std::vector<Signature> all = find_signatures(code, kernel);
    return all.size() == 1 ? all[0].name : "none";
  };
  EXPECT_EQ(name("__global__ BOUNDS(128, 2) void f(int n) {}"), "f");
  EXPECT_EQ(name("__global__ void BOUNDS(128, 2) f(int n) {}", "f"), "f");
  EXPECT_EQ(name("__global__ void f(int n) noexcept(sizeof(n)) {}"), "f");
  EXPECT_EQ(name("__global__ void f(int n) LAST(2) {}", "f"), "f");
  EXPECT_EQ(name("__global__ void f(int n) LAST(2) {}"), "f");
}

TEST(Signatures, TakeNoTemplateOfAnotherFunction) {
  EXPECT_TRUE(
      find_signature("template <class T> void g(T) {}\n__global__ void f(int n) {}")->template_parameters.empty());
}

TEST(Signatures, TellWhetherAKernelReturnsBeforeABarrier) {
  const auto returns = [](const std::string& body) {
    return returns_before_a_barrier(
        code_of("__global__ void k(int n) {" + body + "}\n__device__ int f() { return 1; }"));
  };
  EXPECT_TRUE(returns("if (threadIdx.x >= n) return; __syncthreads();"));
  EXPECT_TRUE(returns("for (;;) { __syncthreads(); if (n--) { return; } __syncthreads(); }"));
  EXPECT_FALSE(returns("__syncthreads(); if (n) return;"));
  EXPECT_FALSE(returns("if (n) return;"));
  EXPECT_FALSE(returns("/* return */ __syncthreads();"));
}

template <typename A, int N>
struct Pair {};

TEST(ParameterTypes, AreReadFromMangledNamesAndFunctionTypes) {
  EXPECT_THAT(parameter_types("_Z4axpyIfLi32EEvT_PKS0_PS0_i"), ElementsAre("float", "float const*", "float*", "int"));
  EXPECT_THAT(parameter_types("_Z4fillPh"), ElementsAre("unsigned char*"));
  EXPECT_THAT(parameter_types(typeid(void(const float*, double*, unsigned)).name()),
              ElementsAre("float const*", "double*", "unsigned int"));
  EXPECT_EQ(parameter_types(typeid(void(Pair<int, 3>, void (*)(int, int), int*)).name()).size(), 3u);
  EXPECT_THAT(parameter_types(typeid(void()).name()), IsEmpty());
}

TEST(ParameterTypes, AreUnknownOfNamesThatAreNotMangled) { EXPECT_THAT(parameter_types("fill"), IsEmpty()); }

TEST(ParameterTypes, TakeWhatIsDeclaredAndIntegersOfItsWidth) {
  EXPECT_TRUE(may_take("float const*", ElementType::float32, true));
  EXPECT_TRUE(may_take("float const* __restrict__", ElementType::float32, true));
  EXPECT_TRUE(may_take("unsigned long long*", ElementType::int64, true));
  EXPECT_TRUE(may_take("__half*", ElementType::half, true));
  EXPECT_TRUE(may_take("__nv_fp8_e4m3 const*", ElementType::e4m3, true));
  EXPECT_TRUE(may_take("__nv_fp4x2_e2m1 const*", ElementType::e2m1x2, true));
  EXPECT_TRUE(may_take("float*", ElementType::tf32, true)) << "it is a float in C++";
  EXPECT_TRUE(may_take("int", ElementType::int32, false));
  EXPECT_TRUE(may_take("float4*", ElementType::float32, true)) << "no element type: the author's business";
  EXPECT_TRUE(may_take("void*", ElementType::float32, true));
}

TEST(ParameterTypes, DoNotTakeAnotherTypeOrANumberForAPointer) {
  EXPECT_FALSE(may_take("float**", ElementType::float32, true)) << "pointers to pointers are no elements";
  EXPECT_FALSE(may_take("float*", ElementType::int32, true));
  EXPECT_FALSE(may_take("int*", ElementType::int64, true));
  EXPECT_FALSE(may_take("__half*", ElementType::bfloat16, true));
  EXPECT_FALSE(may_take("__nv_fp8_e4m3*", ElementType::e5m2, true));
  EXPECT_FALSE(may_take("unsigned char*", ElementType::e4m3, true));
  EXPECT_FALSE(may_take("__nv_fp4_e2m1*", ElementType::e2m1x2, true)) << "its numbers have a byte each";
  EXPECT_FALSE(may_take("float", ElementType::float32, true));
  EXPECT_FALSE(may_take("float*", ElementType::float32, false));
  EXPECT_FALSE(may_take("long", ElementType::int32, false));
}

TEST(ParameterTypes, KnowPointersToPointers) {
  for (const char* const type : {"float**", "Shape* const*", "float const* const* __restrict__"})
    EXPECT_TRUE(is_pointer_to_pointers(type)) << type;
  for (const char* const type : {"float*", "float* __restrict__", "Shape", "void (*)(int*)"})
    EXPECT_FALSE(is_pointer_to_pointers(type)) << type;
}

}  // namespace
}  // namespace tuner
