// Buffers: their fills, guards and work space, and the elements that are compared.

#include <cmath>

#include <tests/support/temporary_folder.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/bound_arguments.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

class RunnerBuffers : public RunnerTest {};

TEST_F(RunnerBuffers, NamesTheElementOutsideABufferThatWasWritten) {
  for (const int index : {1000, 1080, 2000, -1, -64}) {
    backend.kernels["scale<32>"] = scaled_except(index, 0);
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: writes out of bounds: c[" + std::to_string(index) +
                                              "], which has 1000 elements of float"));
  }
}

TEST_F(RunnerBuffers, NamesTheElementThatAFaultWasAbout) {
  for (const int index : {1500, -3}) {
    backend.kernels["scale<32>"] = [index](const Launch& launch) {
      return LaunchError{"illegal memory access",
                         reinterpret_cast<std::uintptr_t>(argument<float*>(launch, 1) + index)};
    };
    EXPECT_THAT(failure(block(32)), HasSubstr("launch: illegal memory access: c[" + std::to_string(index) + "]"));
  }
}

TEST_F(RunnerBuffers, SeesAWriteToAnInputAndRepairsItForTheNext) {
  backend.kernels["scale<32>"] = scaled_then([](const Launch& launch) { argument<float*>(launch, 0)[3] = 42; });
  const auto shared = runner();
  EXPECT_THAT(message(evaluate(*shared, block(32)).outcome), HasSubstr("writes to its input a"));
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerBuffers, RepairsAnInputThatAConfigurationWroteToBeforeItFailed) {
  const Outcome failures[] = {LaunchError{"illegal memory access"}, Timeout{"did not end"}};
  for (const Outcome& failure : failures) {
    backend.kernels["scale<32>"] = [&](const Launch& launch) {
      argument<float*>(launch, 0)[3] = 42;
      argument<float*>(launch, 0)[-1] = 42;
      return failure;
    };
    const auto shared = runner();
    EXPECT_EQ(kind(evaluate(*shared, block(32)).outcome), kind(failure));
    EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  }
}

TEST_F(RunnerBuffers, JudgesAgainWhereAnEarlierConfigurationDamagedAnotherProblemsInputs) {
  spec.verification.problems.push_back({{{"n", 33}}, 0});
  std::set<float*> inputs;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) {
    inputs.insert(argument<float*>(launch, 0));
    for (float* other : inputs)
      if (other != argument<float*>(launch, 0)) other[0] = 42;
  });
  const auto shared = runner();
  evaluate(*shared, block(32));
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerBuffers, RunsAConfigurationAfterOneThatHadNoRoomForItsWorkSpace) {
  spec.buffers.push_back(testing::buffer("partials", BufferRole::scratch, "float", "block * block * 1024"));
  spec.launches[0].arguments.push_back("partials");
  const auto shared = runner();
  backend.room = std::size_t{64} << 20;
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  const Trial large = evaluate(*shared, block(256));
  EXPECT_EQ(kind(large.outcome), "launch");
  EXPECT_TRUE(is_machine_fault(large.outcome));
  EXPECT_TRUE(is_machine_fault(evaluate(*shared, block(256)).outcome));
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
}

TEST_F(RunnerBuffers, IsNotFooledByAKernelThatOverwritesTheExpectedOutput) {
  float* expected = nullptr;
  backend.kernels["reference"] = scaled_after([&](const Launch& l) { expected = argument<float*>(l, 1); });
  backend.kernels["scale<32>"] = scaled_then([&](const Launch& launch) {
    argument<float*>(launch, 1)[5] = 1;
    expected[5] = 1;
    expected[6] = 1;
  });
  const auto shared = runner();
  EXPECT_EQ(kind(evaluate(*shared, block(32)).outcome), "wrong");
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerBuffers, ChecksThatZeroedWorkSpaceIsZeroAgain) {
  spec.buffers.push_back(testing::buffer("ticket", BufferRole::zeroed, "int32", "block"));
  spec.launches[0].arguments.push_back("ticket");
  backend.kernels["scale<32>"] = scaled_then([](const Launch& launch) { argument<int*>(launch, 3)[31] += 1; });
  backend.kernels["scale<64>"] = scaled_after([](const Launch& launch) {
    for (int i = 0; i < 64; ++i) EXPECT_EQ(argument<int*>(launch, 3)[i], 0);
  });
  EXPECT_THAT(failure(block(32)), HasSubstr("does not leave ticket zero"));
  EXPECT_TRUE(evaluate(block(64)).verified);
}

TEST_F(RunnerBuffers, GivesWorkSpaceItsSizeForEachConfigurationAndGuardsIt) {
  spec.buffers.push_back(testing::buffer("partials", BufferRole::scratch, "float", "block"));
  spec.launches[0].arguments.push_back("partials");
  for (const int size : {32, 256, 64}) {
    backend.kernels["scale<" + std::to_string(size) + ">"] = scaled_after([size](const Launch& launch) {
      EXPECT_TRUE(std::isnan(argument<float*>(launch, 3)[size - 1])) << "work space starts poisoned";
      for (int i = 0; i <= (size == 64 ? 64 : size - 1); ++i) argument<float*>(launch, 3)[i] = 0;
    });
  }
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_TRUE(evaluate(*shared, block(256)).verified);
  EXPECT_THAT(message(evaluate(*shared, block(64)).outcome),
              HasSubstr("writes out of bounds: partials[64], which has 64 elements"));
}

TEST_F(RunnerBuffers, VerifiesOnEveryFurtherProblemWithShiftedBuffers) {
  spec.verification.problems = {{{{"n", 7}}, 1}};
  std::set<int> sizes;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) {
    sizes.insert(argument<int>(launch, 2));
    EXPECT_EQ(argument<std::uintptr_t>(launch, 0) % 256, argument<int>(launch, 2) == 7 ? 4u : 0u);
  });
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(sizes, ElementsAre(7, 1000));

  backend.kernels["scale<64>"] = scaled_then([](const Launch& launch) {
    if (argument<int>(launch, 2) == 7) argument<float*>(launch, 1)[6] = 0;
  });
  EXPECT_THAT(failure(block(64)), HasSubstr("on n=7 offset=1"));
}

/// Elements \p from to 999 are -5.
testing::FakeKernel spoiled(int from, int step = 1) {
  return scaled_then([from, step](const Launch& launch) {
    for (int i = from; i < 1000; i += step) argument<float*>(launch, 1)[i] = -5;
  });
}

TEST_F(RunnerBuffers, ComparesOnlyWhatIsAskedFor) {
  spec.buffers[1].compared = parsed("i < n - 100 and i > 0");
  backend.kernels["scale<32>"] = spoiled(900);
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.kernels["scale<32>"] = spoiled(899);
  EXPECT_THAT(failure(block(32)), Holds("c[899] is -5, expected ", "(1 of 899 compared elements differ)"));
  backend.kernels["scale<32>"] = scaled_except(1000, 0);
  EXPECT_THAT(failure(block(32)), HasSubstr("writes out of bounds: c[1000]"));
}

TEST_F(RunnerBuffers, ComparesElementsThatLieScattered) {
  spec.buffers[1].compared = parsed("i % 2 == 0");
  backend.kernels["scale<32>"] = spoiled(1, 2);
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.kernels["scale<32>"] = spoiled(998, 2);
  EXPECT_THAT(failure(block(32)), Holds("c[998] is -5, expected ", "(1 of 500 compared elements differ)"));
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    for (int i = 0; i < 1000; ++i)
      if (i != 500) argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("c[500] was not written"));
}

TEST_F(RunnerBuffers, RefusesToCompareNothing) {
  spec.buffers[1].compared = parsed("i >= n");
  EXPECT_THAT(refusal(), HasSubstr("no element of c is compared on n=1000: 'i >= n' holds for none of 1000"));
  spec.buffers[1].compared = parsed("n / i > 3");
  EXPECT_THAT(refusal(), HasSubstr("division by zero"));
}

TEST_F(RunnerBuffers, HasOneSetOfInputsWhereASeedMakesNoOther) {
  for (BufferSpec& buffer : spec.buffers) buffer.fill = FillSpec{{Fill::Kind::iota}};
  spec.verification.problems.clear();
  const std::size_t before = backend.runs;
  runner();
  EXPECT_EQ(backend.runs, before + 1) << "the reference";
}

TEST_F(RunnerBuffers, FillsWithWhatIsComputedOrStandsInAFile) {
  const testing::TemporaryFolder folder;
  spec = testing::scale_spec("int32");
  spec.program.file = (folder / "scale.cu").string();
  std::vector<int> seen;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    const int* const a = argument<const int*>(launch, 0);
    seen.assign(a, a + 1000);
    return scale_kernel<int>(launch);
  };
  backend.kernels["reference"] = scale_kernel<int>;
  const auto filled = [&](FillSpec fill) {
    spec.buffers.front().fill = std::move(fill);
    EXPECT_TRUE(evaluate(block(32)).verified);
    return seen;
  };
  FillSpec fill;
  fill.element = parsed("n - 3 * i");
  EXPECT_EQ(filled(fill)[999], 1000 - 3 * 999);
  fill = {};
  fill.numbers.low = 995;
  fill.high = parsed("n");
  const std::vector<int> drawn = filled(fill);
  EXPECT_EQ(*std::min_element(drawn.begin(), drawn.end()), 995);
  EXPECT_EQ(*std::max_element(drawn.begin(), drawn.end()), 999);
  std::vector<int> numbers(1000, 7);
  numbers[13] = 14;
  testing::write_numbers(folder / "a.bin", numbers);
  fill = {};
  fill.path = "a.bin";
  EXPECT_EQ(filled(fill), numbers);
}

/// A fill with a real number, which only expressions of fills may contain.
FillSpec real_fill(const std::string& element) {
  return parse_kernel_file(
             "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner type T = float int\n"
             "#pragma tuner parameter p = 1\n#pragma tuner in a[n]\n#pragma tuner fill a = expression " +
                 element +
                 "\n#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments a\n"
                 "#pragma tuner instantiate k\n",
             "k.cu")
      .buffers.front()
      .fill.value();
}

TEST_F(RunnerBuffers, FillsFloatingElementsWithNumbersThatHaveAPoint) {
  float seen = 0;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch& l) { seen = argument<const float*>(l, 0)[3]; });
  spec.buffers.front().fill = real_fill("1 + i * 0.1");
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_EQ(seen, 1.3f);
  spec.buffers.front().fill = real_fill("1.0 / (n - 1000)");
  EXPECT_THAT(refusal(), HasSubstr("k.cu:6:35: element 0 is inf"));
  spec = testing::scale_spec("int");
  spec.buffers.front().fill = real_fill("i * 0.5");
  EXPECT_THAT(refusal(), HasSubstr("elements of int are filled with integers alone"));
}

TEST_F(RunnerBuffers, NamesThePlaceOfAScalarThatItsTypeCannotHold) {
  spec.scalars = {{"factor", "half", {}, {{70000}}, {"scale.cu", 7, 9}}};
  spec.verification.reference[0].arguments.push_back("factor");
  EXPECT_THAT(refusal(), HasSubstr("scale.cu:7:9: factor = 70000.000000 does not fit the type half"));
}

TEST_F(RunnerBuffers, SaysWhyAnInputCannotBeMade) {
  spec = testing::scale_spec("uint8");
  FillSpec& fill = spec.buffers.front().fill.emplace();
  fill.location = {"scale.cu", 9, 24};
  fill.path = "none.npy";
  EXPECT_THAT(
      refusal(),
      HasSubstr("scale.cu:9:24: the fill of a on n=1000: cannot read data file 'none.npy': there is no such file"));
  fill.path = "";
  fill.element = parsed("i");
  EXPECT_THAT(refusal(), HasSubstr("element 256 is 256, which does not fit the type uint8"));
  fill.element = parsed("10 / (3 - i)");
  EXPECT_THAT(refusal(), HasSubstr("division by zero"));
}

TEST_F(RunnerBuffers, SeesWhatIsCopiedFromBehindAnInput) {
  backend.kernels["scale<32>"] =
      scaled_then([](const Launch& launch) { argument<float*>(launch, 1)[1000] = argument<float*>(launch, 0)[1000]; });
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: writes out of bounds: c[1000], which has 1000 elements of float"));
}

TEST_F(RunnerBuffers, FillsInputsBeforeEveryVerificationOfInOutBuffers) {
  spec.buffers[1].role = BufferRole::inout;
  const auto add = [](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 2); ++i) argument<float*>(launch, 1)[i] += argument<float*>(launch, 0)[i];
    return std::nullopt;
  };
  for (auto& [name, kernel] : backend.kernels) kernel = add;
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerBuffers, CopiesTheContentsOfAFileAgainOnlyAfterAChange) {
  const testing::TemporaryFolder folder;
  spec.program.file = (folder / "scale.cu").string();
  testing::write_numbers(folder / "a.bin", std::vector<float>(1000, 7));
  FillSpec fill;
  fill.path = "a.bin";
  spec.buffers.front().fill = fill;
  spec.buffers.front().role = BufferRole::inout;
  bool changes = false;
  for (auto& [name, kernel] : backend.kernels)
    kernel = scaled_then([&](const Launch& launch) {
      if (changes) argument<float*>(launch, 0)[999] = 0;
    });
  const auto shared = runner();
  const auto copies = [&] {
    backend.uploads.clear();
    EXPECT_TRUE(evaluate(*shared, block(32)).verified);
    return std::count(backend.uploads.begin(), backend.uploads.end(), 1000 * sizeof(float));
  };
  EXPECT_EQ(copies(), 1) << "from which each timed run takes its own";
  EXPECT_EQ(copies(), 0);
  changes = true;
  EXPECT_FALSE(evaluate(*shared, block(32)).verified) << "the reference changed nothing";
  changes = false;
  EXPECT_EQ(copies(), 1);
}

TEST_F(RunnerBuffers, OfNumbersAsLongAsPointersAreForPointersToPointers) {
  const auto problem = [&](const std::string& type, int components, const std::string& taken) {
    spec = testing::scale_spec(type);
    spec.buffers[0].components = components;
    const auto bound = bind_arguments(spec, spec.launches[0], size(), block(32));
    return wrong_type(spec, spec.launches[0], "scale", bound, {taken, "void*", "int"}).value_or("fine");
  };
  for (const char* const taken : {"Shape**", "float* const*", "float const** __restrict__"}) {
    EXPECT_EQ(problem("uint64", 1, taken), "fine") << taken;
    EXPECT_EQ(problem("int64", 1, taken), "fine") << taken;
    EXPECT_EQ(problem("uint32", 2, taken), "fine") << "uint2";
    EXPECT_EQ(problem("uint8", 24, taken), "fine") << "a struct";
    for (const char* const type : {"float", "double", "int"})
      EXPECT_THAT(problem(type, 1, taken), HasSubstr("'a' is declared as a buffer of " + std::string(type)));
  }
}

TEST_F(RunnerBuffers, AreComparedWithTheNamesOfAnImageThatNothingHasLoaded) {
  const auto problem = [&](const std::string& symbol) {
    const Image image{{}, {{"scale<32>", symbol, {}}}, {}};
    return wrong_type(spec, size(), backend.device().limits, block(32), image).value_or("fine");
  };
  EXPECT_EQ(problem("_Z5scaleILi32EEvPKfPfi"), "fine");
  EXPECT_EQ(problem("scale"), "fine") << "extern C: nothing is known";
  EXPECT_THAT(problem("_Z5scaleILi32EEvPKfPf"), HasSubstr("scale<32> takes 2 arguments, not 3"));
  EXPECT_THAT(problem("_Z5scaleILi32EEvPKfPdi"), HasSubstr("parameter 2 of scale<32> is double*"));
}

TEST_F(RunnerBuffers, WithoutATypeAreNotOfTheTypeOfTheNextInTheirLine) {
  spec.buffers[0].typed_neighbour = "b";
  const auto bound = bind_arguments(spec, spec.launches[0], size(), block(32));
  EXPECT_THAT(wrong_type(spec, spec.launches[0], "scale", bound, {"int*", "float*", "int"}).value_or("fine"),
              HasSubstr("is int* (a type after ':' is that of one buffer, here of 'b' alone)"));
}

}  // namespace
}  // namespace tuner
