// Kernels that read and write through textures and surfaces: when these are copied, and which errors are found.

#include <tuner/measure/bound_arguments.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

TextureSpec texture(const std::string& name, const std::string& buffer, const std::string& extent = "n") {
  TextureSpec made;
  made.name = name;
  made.buffer = buffer;
  made.extent = {parsed(extent)};
  return made;
}
TextureSpec surface(const std::string& name, const std::string& buffer) {
  TextureSpec made = texture(name, buffer);
  made.is_surface = true;
  return made;
}

/// c[i] = 2 * a[i] through `from` and `to`; its reference has pointers.
class TexturesTest : public RunnerTest {
 protected:
  TexturesTest() {
    spec.textures = {texture("from", "a"), surface("to", "c")};
    spec.launches[0].arguments = {"from", "to", "n"};
  }
  testing::FakeKernel& kernel() { return backend.kernels["scale<32>"]; }

  std::string outcome() {
    const Trial trial = evaluate(block(32));
    return trial.verified ? "verified" : std::string(message(trial.outcome));
  }
};

TEST_F(TexturesTest, ShowTheInputsAndTakeTheOutputs) {
  EXPECT_EQ(outcome(), "verified");
  ASSERT_EQ(backend.shapes.size(), 2u);
  EXPECT_EQ(backend.shapes[0].extent[0], 1000u);
  EXPECT_FALSE(backend.shapes[0].has_surfaces);
  EXPECT_TRUE(backend.shapes[1].has_surfaces);
}

TEST_F(TexturesTest, DoNotHideWhatIsWrong) {
  kernel() = scaled_except(7, -5);
  EXPECT_THAT(outcome(), HasSubstr("c[7] is -5, expected "));
  kernel() = [](const Launch& launch) {
    for (int i = 1; i < argument<int>(launch, 2); ++i)
      argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(outcome(), HasSubstr("c[0] was not written"));
  spec.textures[0].is_surface = true;
  kernel() = scaled_after([](const Launch& launch) { argument<float*>(launch, 0)[3] = 0; });
  EXPECT_THAT(outcome(), HasSubstr("writes to its input a"));
}

TEST_F(TexturesTest, ShowTheSecondSetOfInputsToo) {
  std::set<float> first;
  kernel() = scaled_after([&](const Launch& l) { first.insert(argument<const float*>(l, 0)[0]); });
  EXPECT_EQ(outcome(), "verified");
  EXPECT_EQ(first.size(), 2u);
}

TEST_F(TexturesTest, OfAnInoutBufferAreMadeAnewForEachRun) {
  spec.buffers.resize(1);
  spec.buffers[0].role = BufferRole::inout;
  spec.textures = {surface("to", "a")};
  spec.launches[0].arguments = {"to", "n"};
  spec.verification.reference[0].arguments = {"a", "n"};
  const auto add = [](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 1); ++i) argument<float*>(launch, 0)[i] += 1;
    return std::nullopt;
  };
  backend.kernels = {{"reference", add}, {"scale<32>", add}};
  EXPECT_EQ(outcome(), "verified");
}

TEST_F(TexturesTest, AreMadeAnewInEachRoundAndForEachSampleOfTheFinals) {
  const auto loads = [&](std::size_t rounds) {
    options.finalist_rounds = rounds;
    const auto shared = runner();
    const Image image = compile({"scale<32>"});
    const Runner::Finalist finalist{block(32), &image};
    const std::size_t before = backend.loads;
    shared->remeasure({&finalist, 1});
    return backend.loads - before;
  };
  EXPECT_EQ(loads(5) - loads(3), 2u * (2 + 4)) << "two objects in two more rounds of two samples each";
}

TEST_F(TexturesTest, AreNoPointersAndNoNumbersOfAnotherSize) {
  const LaunchSpec& launch = spec.launches[0];
  const auto bound = bind_arguments(spec, launch, size(), block(32));
  const auto problem = [&](const std::string& first) {
    return wrong_type(spec, launch, "scale", bound, {first, "unsigned long long", "int"});
  };
  EXPECT_EQ(problem("unsigned long long"), std::nullopt);
  for (const char* const type : {"float const*", "int"})
    EXPECT_THAT(problem(type).value_or("fine"),
                HasSubstr("'from' is declared as a texture or surface, but parameter 1"));
}

TEST_F(TexturesTest, OfOneBufferShareAnArrayWhereTheyHaveOneShape) {
  spec.textures.push_back(texture("again", "a"));
  spec.textures.push_back(texture("plane", "a"));
  spec.textures.back().extent = {parsed("n / 8"), parsed("8")};
  EXPECT_EQ(outcome(), "verified");
  EXPECT_EQ(backend.shapes.size(), 3u);
}

TEST_F(TexturesTest, WithASurfaceAmongThemHaveOneShape) {
  spec.textures.push_back(texture("plane", "c"));
  spec.textures.back().extent = {parsed("8"), parsed("n / 8")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("plane shows c in another shape than the textures and surfaces"));
}

TEST_F(TexturesTest, ShowAllElementsAndNoMore) {
  spec.textures[0].extent = {parsed("n - 1")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("from shows 999 elements on n=1000, and a has 1000"));
  spec.textures[0].extent = {parsed("n - n")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("from has an extent of 0 on n=1000"));
}

}  // namespace
}  // namespace tuner
