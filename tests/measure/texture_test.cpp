// Kernels that read and write through textures and surfaces: when their copies are made, and what is found of them.
#include <tuner/measure/runner.hpp>

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/error_of.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/expressions.hpp>

#include "scale_spec.hpp"

namespace tuner {
namespace {

using testing::argument;
using testing::error_of;
using ::testing::HasSubstr;

TextureSpec texture(const std::string& name, const std::string& buffer, const std::string& extent = "n") {
  TextureSpec made;
  made.name = name;
  made.buffer = buffer;
  made.extent = {testing::parsed(extent)};
  return made;
}
TextureSpec surface(const std::string& name, const std::string& buffer) {
  TextureSpec made = texture(name, buffer);
  made.is_surface = true;
  return made;
}

/// c[i] = 2 * a[i] through `from` and `to`; its reference has pointers.
class TexturesTest : public ::testing::Test {
 protected:
  TexturesTest() : spec_(testing::scale_spec()) {
    spec_.textures = {texture("from", "a"), surface("to", "c")};
    spec_.launches[0].arguments = {"from", "to", "n"};
    backend_.kernels["reference"] = testing::scale_kernel<float>;
    kernel() = testing::scale_kernel<float>;
  }
  testing::FakeKernel& kernel() { return backend_.kernels["scale<32>"]; }

  std::string outcome() {
    Runner runner(backend_, spec_, ProblemSize{}, MeasureOptions{});
    const Image reference = compile(reference_expressions(spec_, size(), backend_.device().limits));
    runner.prepare(&reference);
    const Image image = compile(launch_expressions(spec_, size(), backend_.device().limits, testing::block(32)));
    const Trial trial = runner.evaluate(testing::block(32), image, 0);
    return trial.verified ? "verified" : std::string(message(trial.outcome));
  }
  ProblemSize size() const { return complete(spec_, {}); }
  Image compile(std::vector<std::string> expressions) {
    return std::get<Image>(backend_.compiler().compile(
        compile_request(spec_, size(), backend_.device().limits, "fake", std::move(expressions), {})));
  }

  testing::FakeBackend backend_;
  KernelSpec spec_;
};

TEST_F(TexturesTest, ShowTheInputsAndTakeTheOutputs) {
  EXPECT_EQ(outcome(), "verified");
  ASSERT_EQ(backend_.shapes.size(), 2u);
  EXPECT_EQ(backend_.shapes[0].extent[0], 1000u);
  EXPECT_FALSE(backend_.shapes[0].has_surfaces);
  EXPECT_TRUE(backend_.shapes[1].has_surfaces);
}

TEST_F(TexturesTest, DoNotHideAWrongElement) {
  kernel() = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[7] = -5;
    return std::nullopt;
  };
  EXPECT_THAT(outcome(), HasSubstr("c[7] is -5, expected "));
}

TEST_F(TexturesTest, DoNotHideAnElementThatWasNotWritten) {
  kernel() = [](const Launch& launch) {
    for (int i = 1; i < argument<int>(launch, 2); ++i)
      argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(outcome(), HasSubstr("c[0] was not written"));
}

TEST_F(TexturesTest, ShowTheSecondSetOfInputsToo) {
  std::set<float> first;
  kernel() = [&](const Launch& launch) {
    first.insert(argument<const float*>(launch, 0)[0]);
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_EQ(outcome(), "verified");
  EXPECT_EQ(first.size(), 2u);
}

TEST_F(TexturesTest, DoNotHideAWriteToAnInput) {
  spec_.textures[0].is_surface = true;
  kernel() = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 0)[3] = 0;
    return std::nullopt;
  };
  EXPECT_THAT(outcome(), HasSubstr("writes to its input a"));
}

TEST_F(TexturesTest, OfAnInoutBufferAreMadeAnewForEachRun) {
  spec_.buffers.resize(1);
  spec_.buffers[0].role = BufferRole::inout;
  spec_.textures = {surface("to", "a")};
  spec_.launches[0].arguments = {"to", "n"};
  spec_.reference[0].arguments = {"a", "n"};
  const auto add = [](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 1); ++i) argument<float*>(launch, 0)[i] += 1;
    return std::nullopt;
  };
  backend_.kernels = {{"reference", add}, {"scale<32>", add}};
  EXPECT_EQ(outcome(), "verified");
}

TEST_F(TexturesTest, AreMadeAnewInEachRoundOfTheFinals) {
  const auto loads = [&](std::size_t rounds) {
    MeasureOptions options;
    options.finalist_rounds = rounds;
    Runner runner(backend_, spec_, ProblemSize{}, options);
    const Image reference = compile(reference_expressions(spec_, size(), backend_.device().limits));
    runner.prepare(&reference);
    const Image image = compile(launch_expressions(spec_, size(), backend_.device().limits, testing::block(32)));
    const Runner::Finalist finalist{testing::block(32), &image};
    const std::size_t before = backend_.loads;
    runner.remeasure({&finalist, 1});
    return backend_.loads - before;
  };
  EXPECT_EQ(loads(5) - loads(3), 2u * 2) << "two objects in two more rounds";
}

TEST_F(TexturesTest, AreNoPointersAndNoNumbersOfAnotherSize) {
  const LaunchSpec& launch = spec_.launches[0];
  const auto bound = bind_arguments(spec_, launch, size(), testing::block(32));
  const auto problem = [&](const std::string& first) {
    return wrong_type(spec_, launch, "scale", bound, {first, "unsigned long long", "int"});
  };
  EXPECT_EQ(problem("unsigned long long"), std::nullopt);
  for (const char* const type : {"float const*", "int"})
    EXPECT_THAT(problem(type).value_or("fine"),
                HasSubstr("'from' is declared as a texture or surface, but parameter 1"));
}

TEST_F(TexturesTest, OfOneBufferShareAnArrayWhereTheyHaveOneShape) {
  spec_.textures.push_back(texture("again", "a"));
  spec_.textures.push_back(texture("plane", "a"));
  spec_.textures.back().extent = {testing::parsed("n / 8"), testing::parsed("8")};
  EXPECT_EQ(outcome(), "verified");
  EXPECT_EQ(backend_.shapes.size(), 3u);
}

TEST_F(TexturesTest, WithASurfaceAmongThemHaveOneShape) {
  spec_.textures.push_back(texture("plane", "c"));
  spec_.textures.back().extent = {testing::parsed("8"), testing::parsed("n / 8")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("plane shows c in another shape than the textures and surfaces"));
}

TEST_F(TexturesTest, ShowAllElementsAndNoMore) {
  spec_.textures[0].extent = {testing::parsed("n - 1")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("from shows 999 elements on n=1000, and a has 1000"));
  spec_.textures[0].extent = {testing::parsed("n - n")};
  EXPECT_THAT(error_of([&] { outcome(); }), HasSubstr("from has an extent of 0 on n=1000"));
}

}  // namespace
}  // namespace tuner
