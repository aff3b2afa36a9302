// Kernels that are given tensor maps: which memory these show, when they are made, and which errors are found.

#include <tuner/measure/bound_arguments.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

/// c[i] = 2 * a[i], with a through the map `from`; its reference has a pointer.
class TensorMapsTest : public RunnerTest {
 protected:
  TensorMapsTest() {
    backend.device_.limits.compute_capability = 90;
    TensorMapSpec map;
    map.name = "from";
    map.buffer = "a";
    map.numbers[TensorMapShape::extent] = parsed("n");
    map.numbers[TensorMapShape::box] = parsed("block");
    map.numbers[TensorMapShape::step] = parsed("1");
    spec.tensor_maps = {map};
    spec.alignment = 16;
    spec.launches[0].arguments = {"from", "c", "n"};
  }
  testing::FakeKernel& kernel() { return backend.kernels["scale<32>"]; }

  std::string outcome(int block_size = 32) {
    const Trial trial = evaluate(block(block_size));
    return trial.verified ? "verified" : std::string(kind(trial.outcome)) + ": " + std::string(message(trial.outcome));
  }
};

TEST_F(TensorMapsTest, ShowTheBufferInTheNumbersOfTheConfiguration) {
  EXPECT_EQ(outcome(), "verified");
  ASSERT_FALSE(backend.tensor_maps.empty());
  EXPECT_EQ(text(backend.tensor_maps.front()), "float[1000] box 32 steps 1 swizzle 0 interleave 0 promotion 0");
  backend.tensor_maps.clear();
  EXPECT_EQ(outcome(64), "verified");
  EXPECT_EQ(text(backend.tensor_maps.front()), "float[1000] box 64 steps 1 swizzle 0 interleave 0 promotion 0");
}

TEST_F(TensorMapsTest, AreArgumentsOf128Bytes) {
  std::set<std::size_t> bytes;
  kernel() = scaled_after([&](const Launch& launch) { bytes.insert(launch.arguments.at(0).size); });
  EXPECT_EQ(outcome(), "verified");
  EXPECT_THAT(bytes, ElementsAre(sizeof(TensorMap)));
}

TEST_F(TensorMapsTest, DoNotHideWhatIsWrong) {
  kernel() = scaled_except(7, -5);
  EXPECT_THAT(outcome(), HasSubstr("c[7] is -5, expected "));
  kernel() = scaled_after([](const Launch& launch) { argument<float*>(launch, 0)[3] = 0; });
  EXPECT_THAT(outcome(), HasSubstr("writes to its input a"));
}

TEST_F(TensorMapsTest, ThatTheDriverRefusesMakeAConfigurationInvalid) {
  backend.why_no_tensor_maps = "the driver refuses it";
  EXPECT_EQ(outcome(), "invalid: tensor map 'from' on n=1000: the driver refuses it");
}

TEST_F(TensorMapsTest, ThatBreakARuleMakeAConfigurationInvalidWithoutAskingTheDriver) {
  spec.tensor_maps[0].numbers[TensorMapShape::extent] = parsed("n + block");
  EXPECT_EQ(outcome(), "invalid: tensor map 'from': its last element is number 1032 of 'a', which has 1000");
  EXPECT_TRUE(backend.tensor_maps.empty());
}

TEST_F(TensorMapsTest, AreNeitherPointersNorNumbers) {
  const LaunchSpec& launch = spec.launches[0];
  const auto bound = bind_arguments(spec, launch, size(), block(32));
  const auto problem = [&](const std::string& first, const std::string& second = "float*") {
    return wrong_type(spec, launch, "scale", bound, {first, second, "int"}).value_or("fine");
  };
  EXPECT_EQ(problem("CUtensorMap_st"), "fine");
  EXPECT_EQ(problem("cute::TmaDescriptor"), "fine");
  for (const char* const type : {"float const*", "unsigned long", "CUtensorMap_st const*"})
    EXPECT_THAT(problem(type), HasSubstr("'from' is declared as a tensor map, but parameter 1 of scale is ")) << type;
  EXPECT_THAT(problem("CUtensorMap_st", "CUtensorMap_st"),
              HasSubstr("parameter 2 of scale is a CUtensorMap, and 'c' is not a tensor map: declare it as in "
                        "'tensormap a = x[m, k] box 64, 64'"));
}

}  // namespace
}  // namespace tuner
