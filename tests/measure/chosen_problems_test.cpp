// Verification on problems that tuner chooses, and comparisons that prove little.

#include <cmath>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

class ChosenProblems : public RunnerTest {
 protected:
  ChosenProblems() { options.own_problems = true; }

  /// c = a * factor + offset.
  void add_scalar(const std::string& name, const std::string& type, double value) {
    ScalarSpec scalar;
    scalar.name = name;
    scalar.type = type;
    scalar.values = {ScalarValue{value}};
    spec.scalars.push_back(scalar);
    for (LaunchSpec* launch : {&spec.launches[0], &spec.verification.reference[0]}) launch->arguments.push_back(name);
  }
};

TEST_F(ChosenProblems, AreVerifiedBesideTheTunedOneAndWithPointersOffTheirAlignment) {
  std::set<int> sizes;
  bool misaligned = false;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) {
    sizes.insert(argument<int>(launch, 2));
    misaligned = misaligned || argument<std::uintptr_t>(launch, 0) % 8 != 0;
  });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(sizes, ElementsAre(1, 743, 999, 1000, 1002, 2004));
  EXPECT_TRUE(misaligned);
}

TEST_F(ChosenProblems, FindAKernelThatIsRightForMultiplesOnlyAndSayWhatToWrite) {
  backend.kernels["scale<32>"] = [](const Launch& launch) -> std::optional<Outcome> {
    for (int i = 0; i < argument<int>(launch, 2) / 8 * 8; ++i)
      argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), AllOf(HasSubstr("wrong: c[992] was not written"), HasSubstr("on n=999; tuner chose"),
                                        HasSubstr("constraint multiples: n % 32 == 0")));
  spec.space = SearchSpace(spec.space.parameters(), {{"multiples", parsed("n % 8 == 0")}});
  EXPECT_TRUE(evaluate(block(32)).verified);
}

TEST_F(ChosenProblems, FindAKernelThatNeedsAlignedPointersAndSayWhatToWrite) {
  backend.kernels["scale<32>"] = [](const Launch& launch) -> std::optional<Outcome> {
    if (argument<std::uintptr_t>(launch, 0) % 16 != 0) return LaunchError{"misaligned address"};
    return scale_kernel<float>(launch);
  };
  EXPECT_THAT(failure(block(32)), AllOf(HasSubstr("launch: misaligned address on n=1000 offset=1; tuner chose"),
                                        HasSubstr("#pragma tuner aligned 16")));
  spec.alignment = 16;
  EXPECT_TRUE(evaluate(block(32)).verified);
}

TEST_F(ChosenProblems, FindAKernelThatLooksAtOnePointerAndLoadsFromOthers) {
  backend.kernels["scale<32>"] = [](const Launch& launch) -> std::optional<Outcome> {
    const auto is_aligned = [&](std::size_t i) { return argument<std::uintptr_t>(launch, i) % 16 == 0; };
    if (is_aligned(0) && !is_aligned(1)) return LaunchError{"misaligned address"};
    return scale_kernel<float>(launch);
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("misaligned address on n=1000 offset=1 of c"));
  spec.buffers.insert(spec.buffers.begin() + 1, testing::buffer("partials", BufferRole::scratch, "float", "n"));
  EXPECT_THAT(failure(block(32)), HasSubstr("misaligned address on n=1000 offset=1 of c"));
}

TEST_F(ChosenProblems, AreNotAddedToThoseOfTheKernelFile) {
  spec.verification.problems.push_back({{{"n", 33}}, 0});
  std::set<int> sizes;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& l) { sizes.insert(argument<int>(l, 2)); });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(sizes, ElementsAre(33, 1000));
}

TEST_F(ChosenProblems, AreNearerToTheTunedOneForAConfigurationThatIsInvalidOnAllOthers) {
  spec.space = SearchSpace(spec.space.parameters(), {{"whole", parsed("n % block == 8")}});
  std::set<int> sizes;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& l) { sizes.insert(argument<int>(l, 2)); });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(sizes, ElementsAre(968, 1000, 1032));
}

TEST_F(ChosenProblems, TakeNoMoreMemoryTheMoreConfigurationsHaveTheirOwn) {
  spec.space = SearchSpace({{"block", {31, 32, 62, 124, 248, 496}}}, {{"whole", parsed("n % block == 8")}});
  std::vector<std::size_t> bytes;
  const auto shared = runner();
  for (const int threads : {31, 32, 62, 124, 248, 496}) {
    backend.kernels["scale<" + std::to_string(threads) + '>'] = scale_kernel<float>;
    EXPECT_TRUE(evaluate(*shared, block(threads)).verified) << threads;
    bytes.push_back(*backend.in_use);
  }
  EXPECT_LT(bytes.back(), bytes[1] + bytes[0] / 2);
}

TEST_F(ChosenProblems, EndTheTuningWhenTheReferenceIsWrongOnThem) {
  backend.kernels["reference"] = [](const Launch& launch) -> std::optional<Outcome> {
    if (argument<int>(launch, 2) != 999) return scale_kernel<float>(launch);
    return std::nullopt;
  };
  EXPECT_THAT(refusal(), AllOf(HasSubstr("the reference does not write c[0]"), HasSubstr("on n=999"),
                               HasSubstr("constraint multiples")));
}

TEST_F(ChosenProblems, AreLeftOutWithARemarkWhereTheReferenceGivesNan) {
  backend.kernels["reference"] = scaled_then([](const Launch& launch) {
    if (argument<int>(launch, 2) == 1) argument<float*>(launch, 1)[0] = kNan;
  });
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_THAT(shared->remarks(), Contains(HasSubstr("nothing was verified on n=1, which tuner chose: scale: the")));
}

TEST_F(ChosenProblems, EndTheTuningWhenTheReferenceHasNoAnswerForAnyOfAKind) {
  backend.kernels["reference"] = scaled_then([](const Launch& launch) {
    if (argument<int>(launch, 2) != 1000) argument<float*>(launch, 1)[0] = kNan;
  });
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no other value of size n can be verified"), HasSubstr("gives NaN"),
                               HasSubstr("`constraint`")));
  add_scalar("factor", "float", 2);
  backend.kernels["reference"] = scaled_then([](const Launch& launch) {
    if (argument<float>(launch, 3) != 2) argument<float*>(launch, 1)[0] = kNan;
  });
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no other value of a scalar can be verified"), HasSubstr("`only`")));
  spec.scalars[0].only = true;
  backend.kernels["scale<32>"] = scaled_after([](const Launch&) {});
  EXPECT_TRUE(evaluate(block(32)).verified);
}

TEST_F(ChosenProblems, AreMissedWithARemarkWhereCodeIsCompiledForTheSize) {
  spec.launches[0].computed_texts.push_back({"n", parsed("n")});
  EXPECT_THAT(runner()->remarks(), Contains(HasSubstr("results are for n=1000 alone")));
}

testing::FakeKernel scaled_by_number(bool counts) {
  return [counts](const Launch& launch) -> std::optional<Outcome> {
    for (int i = 0; i < argument<int>(launch, 2); ++i)
      argument<float*>(launch, 1)[i] =
          argument<const float*>(launch, 0)[i] * (counts ? argument<float>(launch, 3) : 2.0f);
    return std::nullopt;
  };
}

TEST_F(ChosenProblems, HaveOtherValuesOfFloatingScalarsAlsoBesideVerifyLines) {
  add_scalar("factor", "float", 2);
  spec.verification.problems.push_back({{{"n", 33}}, 0});
  backend.kernels["reference"] = backend.kernels["scale<32>"] = scaled_by_number(true);
  backend.kernels["scale<64>"] = scaled_by_number(false);
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(failure(block(64)), AllOf(HasSubstr("on n=33 factor="), HasSubstr("`only` after the value")));
  spec.scalars[0].only = true;
  EXPECT_TRUE(evaluate(block(64)).verified);
}

TEST_F(ChosenProblems, HaveTheScalarsThatAVerifyLineNames) {
  add_scalar("factor", "float", 2);
  spec.verification.problems.push_back({{{"n", 33}}, 0, {{"factor", 7}}});
  backend.kernels["reference"] = backend.kernels["scale<32>"] = scaled_by_number(true);
  backend.kernels["scale<64>"] = scaled_by_number(false);
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(failure(block(64)), HasSubstr("on n=33 factor=7"));
}

TEST_F(ChosenProblems, AllowForTermsThatCancelWithAScalarOfTunersChoice) {
  add_scalar("factor", "float", 2);
  const auto sum = [](float error) {
    return [error](const Launch& launch) -> std::optional<Outcome> {
      const auto factor = argument<float>(launch, 3);
      for (int i = 0; i < argument<int>(launch, 2); ++i) {
        const float a = argument<const float*>(launch, 0)[i];
        argument<float*>(launch, 1)[i] = (i % 2 == 0 ? 1.0f : 0.0f) + (factor == -1 ? error : 0) + a * (factor + 1);
      }
      return std::nullopt;
    };
  };
  backend.kernels["reference"] = sum(0);
  backend.kernels["scale<32>"] = sum(1e-7f);
  backend.kernels["scale<64>"] = sum(1e-4f);
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(failure(block(64)), HasSubstr("factor=-1"));
}

TEST_F(ChosenProblems, UseTheScalarOfAProblem) {
  add_scalar("factor", "int32", 2);
  int seen = 0;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) { seen = argument<int>(launch, 3); });
  Runner one(backend, spec, ProblemSize{{}, {{"factor", "5"}}}, options);
  const Image image = compile({"reference", "scale<32>"});
  one.prepare(&image);
  EXPECT_TRUE(one.evaluate(block(32), image, 0).verified);
  EXPECT_EQ(seen, 5);
}

TEST_F(ChosenProblems, UseAnyFloatingScalarOfAProblem) {
  add_scalar("least", "float64", 2);
  spec.scalars.back().only = true;
  double seen = 0;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) { seen = argument<double>(launch, 3); });
  const Image image = compile({"reference", "scale<32>"});
  for (const auto& [text, number] : std::map<std::string, double>{
           {"0.5", 0.5}, {"-0", -0.0}, {"1e-310", 1e-310}, {"-inf", -HUGE_VAL}, {"9007199254740993", 0x1p53}}) {
    Runner one(backend, spec, ProblemSize{{}, {{"least", text}}}, options);
    one.prepare(&image);
    EXPECT_TRUE(one.evaluate(block(32), image, 0).verified);
    EXPECT_EQ(seen, number) << text;
    EXPECT_EQ(std::signbit(seen), std::signbit(number)) << text;
  }
}

class WeakComparisons : public RunnerTest {};

TEST_F(WeakComparisons, AreRemarkedWhereZerosPassTheTolerance) {
  spec.verification.tolerance = Tolerance{0, 10};
  spec.verification.problems.push_back({{{"n", 33}}, 0});
  EXPECT_THAT(runner()->remarks(), ElementsAre(AllOf(HasSubstr("the comparison of c proves little on n=1000, n=33"),
                                                     HasSubstr("writes zeros"), HasSubstr("tolerance"))));
}

TEST_F(WeakComparisons, AreRemarkedWhereEveryResultIsZero) {
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = scaled_then([](const Launch& launch) {
      for (int i = 0; i < argument<int>(launch, 2); ++i) argument<float*>(launch, 1)[i] = 0;
    });
  EXPECT_THAT(runner()->remarks(), ElementsAre(HasSubstr("every expected number is 0")));
}

TEST_F(WeakComparisons, AreRemarkedWhereAllResultsAreEqual) {
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = scaled_then([](const Launch& launch) {
      for (int i = 0; i < argument<int>(launch, 2); ++i) argument<float*>(launch, 1)[i] = 1;
    });
  EXPECT_THAT(runner()->remarks(), ElementsAre(AllOf(HasSubstr("a kernel that writes one value everywhere"),
                                                     HasSubstr("all expected elements are equal"))));
}

TEST_F(WeakComparisons, AreRemarkedWhereResultsDifferByLessThanTheTolerance) {
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = scaled_then([](const Launch& launch) {
      for (int i = 0; i < argument<int>(launch, 2); ++i) argument<float*>(launch, 1)[i] = 1 + 1e-8f * float(i);
    });
  spec.verification.tolerance = Tolerance{1e-4, 0};
  EXPECT_THAT(runner()->remarks(), ElementsAre(AllOf(HasSubstr("a kernel that writes one value everywhere"),
                                                     HasSubstr("the tolerance is larger than every difference"))));
}

TEST_F(WeakComparisons, AreRemarkedWhereAnOutputIsLeftAsItWasOrIsACopy) {
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = [](const Launch& launch) -> std::optional<Outcome> {
      std::copy_n(argument<const float*>(launch, 0), argument<int>(launch, 2), argument<float*>(launch, 1));
      return std::nullopt;
    };
  EXPECT_THAT(runner()->remarks(), ElementsAre(HasSubstr("a copy of a would count as right")));
  spec.buffers[1].role = BufferRole::inout;
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = [](const Launch&) -> std::optional<Outcome> { return std::nullopt; };
  EXPECT_THAT(runner()->remarks(), ElementsAre(HasSubstr("a kernel that does nothing would count as right")));
}

TEST_F(WeakComparisons, AreNotRemarkedOfAStrongOneNorOfSmallProblems) {
  spec.verification.problems.push_back({{{"n", 0}}, 0});
  EXPECT_THAT(runner()->remarks(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace tuner
