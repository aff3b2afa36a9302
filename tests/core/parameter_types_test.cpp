#include <tuner/core/element_type.hpp>

#include <typeinfo>

#include <tests/matchers.hpp>

namespace tuner {
namespace {

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
  EXPECT_TRUE(may_take("int", ElementType::int32, false));
  EXPECT_TRUE(may_take("float4*", ElementType::float32, true)) << "no element type: the author's business";
  EXPECT_TRUE(may_take("void*", ElementType::float32, true));
}

TEST(ParameterTypes, DoNotTakeAnotherTypeOrANumberForAPointer) {
  EXPECT_FALSE(may_take("float**", ElementType::float32, true)) << "pointers to pointers are no elements";
  EXPECT_FALSE(may_take("float*", ElementType::int32, true));
  EXPECT_FALSE(may_take("int*", ElementType::int64, true));
  EXPECT_FALSE(may_take("__half*", ElementType::bfloat16, true));
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
