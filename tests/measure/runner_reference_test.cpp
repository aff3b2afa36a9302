// The expected outputs: from a reference kernel, the default configuration, a file, or a recorded launch.

#include <cmath>
#include <cstring>
#include <limits>

#include <tests/support/temporary_folder.hpp>
#include <tuner/measure/bound_arguments.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

class RunnerReference : public RunnerTest {};

TEST_F(RunnerReference, NamesTheElementThatTheReferenceWritesOutsideABuffer) {
  backend.kernels["reference"] = scaled_except(1031, 0);
  EXPECT_THAT(
      refusal(),
      HasSubstr("scale: the reference writes out of bounds: c[1031], which has 1000 elements of float on n=1000"));
}

TEST_F(RunnerReference, MeasuresWithoutAReferenceButNeverCallsItVerified) {
  spec.verification.reference.clear();
  const Trial trial = evaluate(block(32));
  EXPECT_NE(trial.measurement(), nullptr);
  EXPECT_FALSE(trial.verified);
}

TEST_F(RunnerReference, RefusesAReferenceThatFails) {
  backend.kernels["reference"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  EXPECT_EQ(refusal(), "scale.cu: the reference failed on n=1000: illegal address");
}

TEST_F(RunnerReference, SaysWhatAReferenceDoesNotWrite) {
  for (const char* type : {"float32", "int32", "uint8"}) {
    spec = testing::scale_spec(type);
    backend.kernels["reference"] = [](const Launch&) { return std::nullopt; };
    EXPECT_THAT(refusal(),
                HasSubstr("scale: the reference does not write c[0] and 999 more elements on n=1000, or adds to what "
                          "was there. Is the grid large enough, and `c` as long as "
                          "`n` and of the type "));
  }
  spec = testing::scale_spec("int32");
  backend.kernels["reference"] = [](const Launch& launch) {
    for (int i = 0; i < 1000; ++i)  // some results equal a poison
      if (i != 998) argument<int*>(launch, 1)[i] = i % 2 == 0 ? -1 : 0x5a5a5a5a;
    return std::nullopt;
  };
  EXPECT_THAT(refusal(), HasSubstr("scale: the reference does not write c[998] on n=1000, or adds"));
}

TEST_F(RunnerReference, NeverVerifiesWhatAddsToAnOutputAsItsReferenceDoes) {
  for (const char* type : {"int32", "uint8", "uint64"}) {
    spec = testing::scale_spec(type);
    const auto add = [type = std::string(type)](const Launch& launch) {
      for (int i = 0; i < 1000; ++i) {
        if (type == "int32") argument<int*>(launch, 1)[i] += i % 200 + 1;
        if (type == "uint8") argument<std::uint8_t*>(launch, 1)[i] += static_cast<std::uint8_t>(i % 200 + 1);
        if (type == "uint64") argument<std::uint64_t*>(launch, 1)[i] += static_cast<std::uint64_t>(i % 200 + 1);
      }
      return std::nullopt;
    };
    backend.kernels["reference"] = backend.kernels["scale<32>"] = add;
    const auto all = runner();
    const Trial trial = evaluate(*all, block(32));
    EXPECT_FALSE(trial.verified) << type;
    EXPECT_THAT(std::string(message(trial.outcome)), HasSubstr("add to the old contents")) << type;
  }
}

TEST_F(RunnerReference, SaysWhereAReferenceGivesNaN) {
  backend.kernels["reference"] = scaled_then([](const Launch& launch) {
    for (const int i : {7, 9}) argument<float*>(launch, 1)[i] = kNan;
  });
  EXPECT_THAT(refusal(),
              HasSubstr("scale: the reference gives NaN at c[7] and 1 more element on n=1000. Is c of the type float "
                        "that is declared here? If so, the reference computes NaN, as by 0 / 0"));
}

TEST_F(RunnerReference, NamesTheInputThatAReferenceReadsBehind) {
  backend.kernels["reference"] = scaled_then([](const Launch& launch) {
    const float* const a = argument<const float*>(launch, 0);
    argument<float*>(launch, 1)[998] = a[1000] + a[1001];
  });
  EXPECT_THAT(refusal(), HasSubstr("scale: the reference reads outside of `a[n]`, which has 1000 elements, on n=1000"));
}

class DefaultAsReference : public RunnerTest {
 protected:
  DefaultAsReference() {
    spec.verification.reference.clear();
    spec.verification.default_is_reference = true;
    backend.kernels.erase("reference");
  }
};

TEST_F(DefaultAsReference, VerifiesWhatAgreesWithTheDefaultConfiguration) {
  const auto all = runner();
  EXPECT_TRUE(evaluate(*all, block(32)).verified) << "the default itself";
  EXPECT_TRUE(evaluate(*all, block(64)).verified);
  backend.kernels["scale<128>"] = scaled_except(7, -5);
  const Trial trial = evaluate(*all, block(128));
  EXPECT_FALSE(trial.verified);
  EXPECT_THAT(std::string(message(trial.outcome)), HasSubstr("c[7] is -5, expected "));
}

TEST_F(DefaultAsReference, RunsOnTheSecondInputsAndOnEveryProblemToo) {
  spec.verification.problems.push_back({{{"n", 33}}, 1});
  const auto all = runner();
  std::set<int> sizes;
  backend.kernels["scale<64>"] = scaled_after([&](const Launch& launch) { sizes.insert(argument<int>(launch, 2)); });
  EXPECT_TRUE(evaluate(*all, block(64)).verified);
  EXPECT_THAT(sizes, ElementsAre(33, 1000));
}

TEST_F(DefaultAsReference, IsRefusedWhenItFailsWritesNothingOrGivesNaN) {
  const std::string who = "the default configuration, which is the reference, ";
  backend.kernels["scale<32>"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  EXPECT_EQ(refusal(), "scale.cu: " + who + "failed on n=1000: illegal address");
  backend.kernels["scale<32>"] = [](const Launch&) { return std::nullopt; };
  EXPECT_THAT(refusal(), HasSubstr("scale: " + who + "does not write c[0] and 999 more"));
  backend.kernels["scale<32>"] = scaled_except(7, kNan);
  EXPECT_THAT(refusal(), HasSubstr("scale: " + who + "gives NaN at c[7] on n=1000"));
  backend.kernels["scale<32>"] = scaled_except(1000, 0);
  EXPECT_THAT(refusal(), HasSubstr("scale: " + who + "writes out of bounds: c[1000]"));
}

TEST_F(DefaultAsReference, LeavesWorkSpaceAsTheConfigurationNeedsItWhenItRunsAgain) {
  spec.buffers.push_back(testing::buffer("s", BufferRole::scratch, "float", "block"));
  spec.launches[0].arguments = {"a", "c", "n", "s", "block"};
  float* expected = nullptr;
  const auto scaled = scaled_after([](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 4); ++i) argument<float*>(launch, 3)[i] = 1;
  });
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    expected = argument<float*>(launch, 1);
    return scaled(launch);
  };
  options.second_inputs = false;
  const auto all = runner();
  bool stray = true;
  backend.kernels["scale<256>"] = [&](const Launch& launch) {
    if (std::exchange(stray, false)) expected[3] = -1;
    return scaled(launch);
  };
  const Trial trial = evaluate(*all, block(256));
  EXPECT_FALSE(stray);
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

class AnswerInAFile : public RunnerTest {
 protected:
  AnswerInAFile() {
    spec.program.file = (folder / "scale.cu").string();
    spec.verification.reference.clear();
    backend.kernels.erase("reference");
    spec.buffers[0].fill = FillSpec{{Fill::Kind::iota}};
    spec.buffers[1].answer = AnswerFile{"c.bin", {"scale.cu", 9, 30}};
    for (int i = 0; i < 1000; ++i) numbers.push_back(float(2 * i));
    write();
  }
  void write() const { testing::write_numbers(folder / "c.bin", numbers); }

  const testing::TemporaryFolder folder;
  std::vector<float> numbers;
};

TEST_F(AnswerInAFile, IsWhatConfigurationsAreComparedWith) {
  spec.verification.problems.push_back({{}, 1});
  const auto all = runner();
  EXPECT_TRUE(evaluate(*all, block(32)).verified);
  backend.kernels["scale<64>"] = scaled_except(7, -5);
  EXPECT_THAT(std::string(message(evaluate(*all, block(64)).outcome)), HasSubstr("c[7] is -5, expected 14"));
}

TEST_F(AnswerInAFile, IsRefusedWithItsPlaceWhereItDoesNotFitOrIsNaN) {
  numbers[7] = kNan;
  write();
  EXPECT_THAT(refusal(), HasSubstr("scale: the answer in c.bin gives NaN at c[7] on n=1000"));
  numbers.pop_back();
  write();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("scale.cu:9:30: the answer of c on n=1000: "),
                               HasSubstr("c.bin holds 3996 bytes of data, not the 4000 of 1000 elements of float")));
  options.verify = false;
  EXPECT_FALSE(evaluate(block(32)).verified) << "nobody needs it then";
}

TEST_F(AnswerInAFile, IsOfOneSizeOfTheProblem) {
  spec.verification.problems.push_back({{{"n", 33}}, 0});
  EXPECT_THAT(refusal(), HasSubstr("the answer of c on n=33: "));
}

TEST_F(RunnerReference, WantsNoValueOfTheReferenceWhereNothingIsCompared) {
  spec.buffers[1].compared = parsed("i < 998");
  backend.kernels["reference"] = [](const Launch& launch) {  // 998 is NaN, 999 not written
    for (int i = 0; i < 998; ++i) argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    argument<float*>(launch, 1)[998] = kNan;
    return std::nullopt;
  };
  options.metrics = {"error"};
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  ASSERT_TRUE(trial.verified) << message(trial.outcome);
  EXPECT_EQ(trial.measurement()->metrics.at("error"), 0);
}

class RecordedRunnerTest : public RunnerTest {
 protected:
  /// A file of floats.
  std::string floats(const std::string& name, const std::vector<float>& values) {
    testing::write_numbers(folder / name, values);
    return (folder / name).string();
  }
  static std::vector<float> counting(float factor) {
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = factor * static_cast<float>(i);
    return values;
  }

  const testing::TemporaryFolder folder;
};

TEST_F(RecordedRunnerTest, RunsOnWhatALaunchWasGivenAndVerifiesOnOtherProblemsAsTheFileSays) {
  options.recorded.inputs["a"] = floats("a", counting(1));
  spec.verification.problems.push_back({{{"n", 7}}, 0});
  std::set<std::string> seen;
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = scaled_after([&seen](const Launch& launch) {
      const int n = argument<int>(launch, 2);
      seen.insert(std::to_string(n) + (argument<const float*>(launch, 0)[n - 1] == float(n - 1) ? " recorded" : ""));
    });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(seen, ElementsAre("1000 recorded", "7"));
}

TEST_F(RecordedRunnerTest, TakesWhatTheLaunchLeftForRightWhereThereIsNoReference) {
  spec.verification.reference.clear();
  spec.verification.problems.push_back({{{"n", 7}}, 0});
  options.recorded.inputs["a"] = floats("a", counting(1));
  options.recorded.outputs["c"] = floats("c", counting(2));
  EXPECT_TRUE(evaluate(block(32)).verified);
  options.recorded.outputs["c"] = floats("c", counting(3));
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[1] is 2, expected 3"));
}

TEST_F(RecordedRunnerTest, GivesTheKernelTheNumbersOfTheLaunch) {
  spec.scalars.push_back({"shift", "int64", {}, {{1}}});
  spec.launches[0].arguments.push_back("shift");
  options.recorded.scalars["shift"] = "9007199254740993";
  spec.verification.problems.push_back({{{"n", 7}}, 0});
  std::set<std::pair<int, std::int64_t>> seen;
  backend.kernels["scale<32>"] = scaled_after(
      [&seen](const Launch& launch) { seen.emplace(argument<int>(launch, 2), argument<std::int64_t>(launch, 3)); });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(seen, ElementsAre(std::pair(7, 1), std::pair(1000, 9007199254740993)));
}

TEST_F(RecordedRunnerTest, SaysWhichFileDoesNotFit) {
  options.recorded.inputs["a"] = floats("short", {1, 2});
  EXPECT_THAT(refusal(), HasSubstr("short holds 8 bytes"));
}

TEST(RecordedNumber, ReadsBackToTheSameBits) {
  const auto as_double = [](double value) {
    double read = 0;
    const Argument argument = recorded_number(ElementType::float64, number_text(value));
    std::memcpy(&read, argument.bytes, sizeof read);
    return read;
  };
  for (const double value : {0.1, 1.0, -3.0, 1e300, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(as_double(value), value);
  EXPECT_TRUE(std::signbit(as_double(-0.0)));
  EXPECT_TRUE(std::isnan(as_double(std::numeric_limits<double>::quiet_NaN())));
  const std::uint64_t largest = ~std::uint64_t{0};
  std::uint64_t natural = 0;
  std::memcpy(&natural, recorded_number(ElementType::uint64, number_text(largest)).bytes, sizeof natural);
  EXPECT_EQ(natural, largest);
  EXPECT_THAT(error_of([] { recorded_number(ElementType::int8, "1000"); }), HasSubstr("does not fit"));
  EXPECT_THAT(error_of([] { recorded_number(ElementType::int8, "1 2"); }), HasSubstr("not a number"));
}

}  // namespace
}  // namespace tuner
