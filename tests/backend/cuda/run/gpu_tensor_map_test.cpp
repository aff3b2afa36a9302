// Tensor maps as the driver encodes them.

#include <utility>

#include <tuner/backend/cuda/driver/context.hpp>

#include <tests/support/gpu_fixture.hpp>

namespace tuner::cuda {
namespace {

class GpuTensorMaps : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && backend().device().limits.compute_capability < 90)
      GTEST_SKIP() << "no tensor maps before compute capability 9.0";
  }
  static TensorMapShape shape() {
    TensorMapShape made{ElementType::float32, false, false, 2, {}};
    using Shape = TensorMapShape;
    for (const auto& [place, value] :
         {std::pair{Shape::extent, 64}, {Shape::box, 8}, {Shape::stride, 128}, {Shape::step, 1}})
      made.numbers[place] = value;
    made.numbers[Shape::extent + 1] = 128;
    made.numbers[Shape::box + 1] = 32;
    made.numbers[Shape::step + 1] = 1;
    return made;
  }
};

TEST_F(GpuTensorMaps, AreMadeOfAllTypesAndProperties) {
  const auto memory = backend().allocate(1 << 20);
  for (const ElementTypeInfo& type : element_types()) {
    TensorMapShape made = shape();
    made.type = type.type;
    made.numbers[TensorMapShape::box + 1] = static_cast<std::int64_t>(32 / type.bytes);
    for (const int swizzle : {0, 32, 64, 128}) {
      made.numbers[TensorMapShape::swizzle] = swizzle;
      for (const int promotion : {0, 64, 128, 256}) {
        made.numbers[TensorMapShape::promotion] = promotion;
        made.fills_with_nan = type.is_floating && type.bytes > 1 && promotion == 64;
        made.is_tf32 = type.type == ElementType::tf32 || (type.type == ElementType::float32 && promotion == 128);
        EXPECT_NO_THROW(backend().tensor_map(made, memory->address())) << text(made);
      }
    }
  }
}

TEST_F(GpuTensorMaps, ThatTheDriverRefusesAreNamedWithTheirNumbers) {
  const auto memory = backend().allocate(1 << 20);
  TensorMapShape wrong = shape();
  wrong.numbers[TensorMapShape::box] = 257;
  EXPECT_THAT(error_of<TensorMapError>([&] { backend().tensor_map(wrong, memory->address()); }),
              AllOf(HasSubstr("float[64, 128] strides 128 box 257, 32"), HasSubstr("the driver refuses it: ")));
  EXPECT_THAT(error_of<TensorMapError>([&] { backend().tensor_map(shape(), memory->address() + 4); }),
              HasSubstr("the address of a tensor map must be a multiple of 16 bytes"));
}

TEST_F(GpuTensorMaps, MovedToAnotherAddressAreThoseThatAreMadeThere) {
  const auto first = backend().allocate(1 << 20), second = backend().allocate(1 << 20);
  TensorMap moved = backend().tensor_map(shape(), first->address());
  const TensorMap made = backend().tensor_map(shape(), second->address());
  EXPECT_NE(moved.bytes, made.bytes);
  const Context context = Context::primary(0);
  const ContextGuard guard(context.handle());
  backend().move_tensor_map(moved, shape(), second->address());
  EXPECT_EQ(moved.bytes, made.bytes);
}

}  // namespace
}  // namespace tuner::cuda
