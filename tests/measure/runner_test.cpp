#include <tuner/measure/runner.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/core/error.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/captured_data.hpp>
#include <tuner/measure/expressions.hpp>

#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>

#include "scale_spec.hpp"

namespace tuner {
namespace {

using ::testing::AllOf;
using testing::argument;
using testing::block;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using testing::FakeBackend;
using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() : spec(testing::scale_spec()) { testing::give_kernels(backend); }

  Image compile(std::vector<std::string> expressions) {
    return std::get<Image>(backend.compiler().compile(
        compile_request(spec, complete(spec, {}), backend.device().limits, "fake", std::move(expressions), {})));
  }
  std::unique_ptr<Runner> runner(HostReference reference = {}) {
    auto result = std::make_unique<Runner>(backend, spec, ProblemSize{}, options, reference);
    const auto expressions = reference_expressions(spec, complete(spec, {}), backend.device().limits);
    if (expressions.empty() || reference) {
      result->prepare(nullptr);
    } else {
      const Image image = compile(expressions);
      result->prepare(&image);
    }
    return result;
  }
  Trial evaluate(Runner& runner, const Configuration& configuration) {
    const Image image = compile(launch_expressions(spec, complete(spec, {}), backend.device().limits, configuration));
    return runner.evaluate(configuration, image, 0);
  }
  Trial evaluate(const Configuration& configuration) { return evaluate(*runner(), configuration); }
  std::string failure(const Configuration& configuration) {
    const Trial trial = evaluate(configuration);
    EXPECT_FALSE(trial.verified);
    return std::string(kind(trial.outcome)) + ": " + std::string(message(trial.outcome));
  }

  FakeBackend backend;
  KernelSpec spec;
  MeasureOptions options;
};

TEST_F(RunnerTest, VerifiesAndMeasuresACorrectKernel) {
  backend.compiler_.resources["scale<32>"].registers = 12;
  const Trial trial = evaluate(block(32));
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_TRUE(trial.verified);
  EXPECT_EQ(trial.configuration, block(32));
  EXPECT_EQ(trial.resources->registers, 12);
  EXPECT_EQ(trial.measurement()->median_ns, 1000);
}

TEST_F(RunnerTest, NamesThePlaceAndBothValuesOfAWrongResult) {
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[7] = -5;
    return std::nullopt;
  };
  const std::string text = failure(block(32));
  EXPECT_THAT(text, HasSubstr("wrong: c[7] is -5, expected "));
  EXPECT_THAT(text, ContainsRegex(", tolerance [0-9.]+e-0[0-9] "));
  EXPECT_THAT(text, HasSubstr("(1 of 1000 elements differ) on n=1000"));
}

TEST_F(RunnerTest, NeverLetsANaNPass) {
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[999] = std::numeric_limits<float>::quiet_NaN();
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[999] is nan"));
}

TEST_F(RunnerTest, SeesAnOutputElementThatWasNotWritten) {
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    for (int i = 1; i < argument<int>(launch, 2); ++i)
      argument<float*>(launch, 1)[i] = 2 * argument<float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[0] was not written, expected "));
}

TEST_F(RunnerTest, SeesAnUnwrittenIntegerWhoseExpectedValueEqualsAPoison) {
  for (const int value : {-1, 0x5a5a5a5a}) {
    spec = testing::scale_spec("int32");
    const auto constant = [value](int from) {
      return [=](const Launch& launch) {
        for (int i = from; i < argument<int>(launch, 2); ++i) argument<int*>(launch, 1)[i] = value;
        return std::nullopt;
      };
    };
    backend.kernels = {{"reference", constant(0)}, {"scale<32>", constant(1)}, {"scale<64>", constant(0)}};
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[0] was not written"));
    EXPECT_TRUE(evaluate(block(64)).verified);
  }
}

TEST_F(RunnerTest, SeesAnUnwrittenByteWhenEveryByteIsExpectedSomewhere) {
  spec = testing::scale_spec("uint8");
  for (const int skipped : {0xff, 0x5a, 0x00}) {
    const auto count = [](int skip) {
      return [=](const Launch& launch) {
        for (int i = 0; i < argument<int>(launch, 2); ++i)
          if (i != skip) argument<std::uint8_t*>(launch, 1)[i] = std::uint8_t(i);
        return std::nullopt;
      };
    };
    backend.kernels = {{"reference", count(-1)}, {"scale<32>", count(skipped)}, {"scale<64>", count(-1)}};
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[" + std::to_string(skipped) + "]"));
    EXPECT_TRUE(evaluate(block(64)).verified);
  }
}

TEST_F(RunnerTest, NamesTheElementOutsideABufferThatWasWritten) {
  for (const int index : {1000, 1080, 2000, -1, -64}) {
    backend.kernels["scale<32>"] = [index](const Launch& launch) {
      testing::scale_kernel<float>(launch);
      argument<float*>(launch, 1)[index] = 0;
      return std::nullopt;
    };
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: writes out of bounds: c[" + std::to_string(index) +
                                              "], which has 1000 elements of float"));
  }
}

TEST_F(RunnerTest, NamesTheElementThatAFaultWasAbout) {
  for (const int index : {1500, -3}) {
    backend.kernels["scale<32>"] = [index](const Launch& launch) {
      return LaunchError{"illegal memory access",
                         reinterpret_cast<std::uintptr_t>(argument<float*>(launch, 1) + index)};
    };
    EXPECT_THAT(failure(block(32)), HasSubstr("launch: illegal memory access: c[" + std::to_string(index) + "]"));
  }
}

TEST_F(RunnerTest, NamesTheElementThatTheReferenceWritesOutsideABuffer) {
  backend.kernels["reference"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[1031] = 0;
    return std::nullopt;
  };
  EXPECT_THAT(
      testing::error_of([&] { runner(); }),
      HasSubstr("scale: the reference writes out of bounds: c[1031], which has 1000 elements of float on n=1000"));
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightForItsFirstRunsOnly) {
  for (const std::size_t good : {1, 2}) {  // the first verification, and the warm-up
    std::size_t runs = 0;
    backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
      return runs++ < good ? testing::scale_kernel<float>(launch) : std::nullopt;
    };
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: right at first, but after its timed runs c[0] was not written"));
  }
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightInOneOrderOfItsThreadsOnly) {
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    return backend.order.kind == ThreadOrder::Kind::forward ? testing::scale_kernel<float>(launch) : std::nullopt;
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.has_order = true;
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: with its threads and blocks in reverse order"));
  EXPECT_EQ(backend.order.kind, ThreadOrder::Kind::forward) << "later runs are in order";
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightOnlyWhileItsThreadsDoNotSwitch) {
  backend.has_order = true;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    return backend.order.kind != ThreadOrder::Kind::interleaved ? testing::scale_kernel<float>(launch) : std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: with its threads switching at memory accesses"));
  EXPECT_EQ(backend.order.kind, ThreadOrder::Kind::forward) << "later runs are in order";
}

TEST_F(RunnerTest, LetsThreadsSwitchOnlyInWhatMayBeNamedBest) {
  backend.has_order = true;
  std::size_t compiles = 0;
  backend.compiler_.before = [&](const CompileRequest& request) { compiles += request.interleaved ? 1 : 0; };
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>"});
  EXPECT_TRUE(shared->evaluate(block(32), image, 0).verified);
  EXPECT_EQ(compiles, 1u) << "the first";
  EXPECT_TRUE(shared->evaluate(block(64), image, 500).verified);
  EXPECT_EQ(compiles, 1u) << "slower than the best";
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  for (const Trial& trial : shared->remeasure(finalists)) EXPECT_TRUE(trial.verified);
  EXPECT_EQ(compiles, 2u) << "a finalist that was not looked at before";
}

TEST_F(RunnerTest, BelievesWhatCannotBeCompiledOrDoesNotEndWhileThreadsSwitch) {
  backend.has_order = true;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    if (backend.order.kind == ThreadOrder::Kind::interleaved) return Timeout{"slow"};
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  const auto shared = runner();
  const Image image = compile({"scale<64>"});
  backend.compiler_.refused["scale<64>"] = 1;
  EXPECT_TRUE(shared->evaluate(block(64), image, 0).verified);
}

TEST_F(RunnerTest, DoesNotBelieveAFinalistThatStopsWritingWhileItIsMeasuredAgain) {
  const auto shared = runner();
  bool writes = true;
  backend.kernels["scale<64>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    return writes ? testing::scale_kernel<float>(launch) : std::nullopt;
  };
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    if (expression == "scale<64>") writes = false;
    return Sample{1000, 0};
  };
  const Image image = compile({"scale<32>", "scale<64>"});
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  const auto trials = shared->remeasure(finalists);
  EXPECT_TRUE(trials[0].verified);
  EXPECT_EQ(kind(trials[1].outcome), "wrong");
  EXPECT_FALSE(trials[1].verified);
}

TEST_F(RunnerTest, SeesAWriteToAnInputAndRepairsItForTheNext) {
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 0)[3] = 42;
    return std::nullopt;
  };
  const auto shared = runner();
  EXPECT_THAT(message(evaluate(*shared, block(32)).outcome), HasSubstr("writes to its input a"));
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerTest, RepairsAnInputThatAConfigurationWroteToBeforeItFailed) {
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

TEST_F(RunnerTest, RepairsAnInputThatAFinalistWroteToBeforeItFailed) {
  int runs = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    if (++runs < 3) return testing::scale_kernel<float>(launch);
    argument<float*>(launch, 0)[3] = 42;
    return LaunchError{"illegal memory access"};
  };
  const auto shared = runner();
  bool saw_damage = false;
  backend.kernels["scale<64>"] = [&](const Launch& launch) {
    saw_damage = saw_damage || argument<float*>(launch, 0)[3] == 42;
    return testing::scale_kernel<float>(launch);
  };
  const Image image = compile({"scale<32>", "scale<64>"});
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  const auto trials = shared->remeasure(finalists);
  EXPECT_EQ(kind(trials[0].outcome), "launch");
  EXPECT_TRUE(trials[1].verified);
  EXPECT_FALSE(saw_damage);
}

TEST_F(RunnerTest, JudgesAgainWhereAnEarlierConfigurationDamagedAnotherProblemsInputs) {
  spec.verify.push_back({{{"n", 33}}, 0});
  std::set<float*> inputs;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    inputs.insert(argument<float*>(launch, 0));
    for (float* other : inputs)
      if (other != argument<float*>(launch, 0)) other[0] = 42;
    return testing::scale_kernel<float>(launch);
  };
  const auto shared = runner();
  evaluate(*shared, block(32));
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerTest, StillRefusesAKernelThatIsWrongOnceOnly) {
  int runs = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    if (++runs == 1) argument<float*>(launch, 1)[5] = 1;
    return std::nullopt;
  };
  EXPECT_EQ(kind(evaluate(block(32)).outcome), "wrong");
}

TEST_F(RunnerTest, RunsAConfigurationAfterOneThatHadNoRoomForItsWorkSpace) {
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

TEST_F(RunnerTest, IsNotFooledByAKernelThatOverwritesTheExpectedOutput) {
  std::set<float*> outputs;
  float* expected = nullptr;
  backend.kernels["reference"] = [&](const Launch& launch) {
    expected = argument<float*>(launch, 1);
    return testing::scale_kernel<float>(launch);
  };
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[5] = 1;
    expected[5] = 1;
    expected[6] = 1;
    return std::nullopt;
  };
  const auto shared = runner();
  EXPECT_EQ(kind(evaluate(*shared, block(32)).outcome), "wrong");
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
}

TEST_F(RunnerTest, ChecksThatZeroedWorkSpaceIsZeroAgain) {
  spec.buffers.push_back(testing::buffer("ticket", BufferRole::zeroed, "int32", "block"));
  for (LaunchSpec* launch : {&spec.launches[0]}) launch->arguments.push_back("ticket");
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<int*>(launch, 3)[31] += 1;
    return std::nullopt;
  };
  backend.kernels["scale<64>"] = [](const Launch& launch) {
    for (int i = 0; i < 64; ++i) EXPECT_EQ(argument<int*>(launch, 3)[i], 0);
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("does not leave ticket zero"));
  EXPECT_TRUE(evaluate(block(64)).verified);
}

TEST_F(RunnerTest, GivesWorkSpaceItsSizeForEachConfigurationAndGuardsIt) {
  spec.buffers.push_back(testing::buffer("partials", BufferRole::scratch, "float", "block"));
  spec.launches[0].arguments.push_back("partials");
  for (const int size : {32, 256, 64}) {
    backend.kernels["scale<" + std::to_string(size) + ">"] = [size](const Launch& launch) {
      EXPECT_TRUE(std::isnan(argument<float*>(launch, 3)[size - 1])) << "work space starts poisoned";
      for (int i = 0; i <= (size == 64 ? 64 : size - 1); ++i) argument<float*>(launch, 3)[i] = 0;
      return testing::scale_kernel<float>(launch);
    };
  }
  const auto shared = runner();
  options.warm_up = 0;
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_TRUE(evaluate(*shared, block(256)).verified);
  EXPECT_THAT(message(evaluate(*shared, block(64)).outcome),
              HasSubstr("writes out of bounds: partials[64], which has 64 elements"));
}

TEST_F(RunnerTest, VerifiesOnEveryFurtherProblemWithShiftedBuffers) {
  spec.verify = {{{{"n", 7}}, 1}};
  std::set<int> sizes;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    sizes.insert(argument<int>(launch, 2));
    EXPECT_EQ(argument<std::uintptr_t>(launch, 0) % 256, argument<int>(launch, 2) == 7 ? 4u : 0u);
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(sizes, ElementsAre(7, 1000));

  backend.kernels["scale<64>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    if (argument<int>(launch, 2) == 7) argument<float*>(launch, 1)[6] = 0;
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(64)), HasSubstr("on n=7 offset=1"));
}

TEST_F(RunnerTest, NeverLaunchesACooperativeGridThatIsNotResidentAtOnce) {
  spec.launches[0].cooperative = testing::parsed("block == 64");
  backend.compiler_.resources["scale<32>"].blocks_per_sm = 3;
  backend.compiler_.resources["scale<64>"] = {.registers = 40, .static_shared_bytes = 100, .blocks_per_sm = 7};
  options.second_inputs = false;
  const std::size_t before = backend.runs;
  EXPECT_EQ(failure(block(64)),
            "invalid: scale<64>, with 40 registers a thread and 100 bytes of shared memory: a cooperative grid of 16 "
            "blocks of 64 threads is not resident at once: 7 on each of 2 multiprocessors are 14");
  EXPECT_EQ(backend.runs, before + 1) << "the reference's run alone";
  backend.compiler_.resources["scale<64>"].blocks_per_sm = 8;
  bool cooperative = false;
  backend.kernels["scale<64>"] = [&](const Launch& launch) {
    cooperative = launch.shape.cooperative;
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified);
  EXPECT_TRUE(cooperative);
  EXPECT_TRUE(evaluate(*runner(), block(32)).verified) << "32 blocks that need not meet";
}

TEST_F(RunnerTest, ReportsAFaultAsALaunchErrorAndAHangAsATimeout) {
  backend.kernels["scale<32>"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  backend.kernels["scale<64>"] = [](const Launch&) { return Timeout{"endless"}; };
  EXPECT_EQ(failure(block(32)), "launch: illegal address");
  EXPECT_EQ(failure(block(64)), "timeout: endless");
}

TEST_F(RunnerTest, NeverLaunchesWhatCannotRun) {
  EXPECT_THAT(failure(block(33)), HasSubstr("invalid: "));
  backend.compiler_.resources["scale<256>"].registers = 255;
  backend.device_.limits.registers_per_block = 32768;
  options.second_inputs = false;
  const std::size_t before = backend.runs;
  EXPECT_EQ(failure(block(256)),
            "invalid: scale<256>: 255 registers a thread in blocks of 256 threads are 65536, more than the 32768 of a "
            "block");
  backend.compiler_.resources["scale<64>"].static_shared_bytes = 50000;
  EXPECT_THAT(failure(block(64)), HasSubstr("invalid: scale<64>: 50000 bytes of shared memory"));
  EXPECT_EQ(backend.runs, before + 2) << "only the two references ran";
}

TEST_F(RunnerTest, TakesAFunctionForAReference) {
  spec.reference.clear();
  const auto reference = [](const ProblemSize& size, std::map<std::string, HostBuffer>& buffers) {
    for (std::int64_t i = 0; i < size.sizes.at("n"); ++i)
      buffers.at("c").as<float>()[i] = 2 * buffers.at("a").as<float>()[i];
  };
  const auto shared = runner(reference);
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  backend.kernels["scale<64>"] = [](const Launch&) { return std::nullopt; };
  EXPECT_EQ(kind(evaluate(*shared, block(64)).outcome), "wrong");
}

TEST_F(RunnerTest, MeasuresWithoutAReferenceButNeverCallsItVerified) {
  spec.reference.clear();
  const Trial trial = evaluate(block(32));
  EXPECT_NE(trial.measurement(), nullptr);
  EXPECT_FALSE(trial.verified);
}

TEST_F(RunnerTest, RefusesAReferenceThatFails) {
  backend.kernels["reference"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  EXPECT_EQ(testing::error_of([&] { runner(); }), "scale.cu: the reference failed on n=1000: illegal address");
}

TEST_F(RunnerTest, SaysWhatAReferenceDoesNotWrite) {
  for (const char* type : {"float32", "int32", "uint8"}) {
    spec = testing::scale_spec(type);
    backend.kernels["reference"] = [](const Launch&) { return std::nullopt; };
    EXPECT_THAT(testing::error_of([&] { runner(); }),
                HasSubstr("scale: the reference does not write c[0] and 999 more elements on n=1000, or adds to what "
                          "was there. Is the grid large enough, and `c` as long as "
                          "`n` and of the type "));
  }
  spec = testing::scale_spec("int32");
  backend.kernels["reference"] = [](const Launch& launch) {
    for (int i = 0; i < 1000; ++i)  // also what no other element may be mistaken for
      if (i != 998) argument<int*>(launch, 1)[i] = i % 2 == 0 ? -1 : 0x5a5a5a5a;
    return std::nullopt;
  };
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              HasSubstr("scale: the reference does not write c[998] on n=1000, or adds"));
}

TEST_F(RunnerTest, NeverVerifiesWhatAddsToAnOutputAsItsReferenceDoes) {
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
    EXPECT_THAT(std::string(message(trial.outcome)), HasSubstr("added to what was there")) << type;
  }
}

TEST_F(RunnerTest, SaysWhereAReferenceGivesNaN) {
  backend.kernels["reference"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    for (const int i : {7, 9}) argument<float*>(launch, 1)[i] = std::numeric_limits<float>::quiet_NaN();
    return std::nullopt;
  };
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              HasSubstr("scale: the reference gives NaN at c[7] and 1 more element on n=1000. Is c of the type float"));
}

class DefaultAsReference : public RunnerTest {
 protected:
  DefaultAsReference() {
    spec.reference.clear();
    spec.default_is_reference = true;
    backend.kernels.erase("reference");
  }
};

TEST_F(DefaultAsReference, VerifiesWhatAgreesWithTheDefaultConfiguration) {
  const auto all = runner();
  EXPECT_TRUE(evaluate(*all, block(32)).verified) << "the default itself";
  EXPECT_TRUE(evaluate(*all, block(64)).verified);
  backend.kernels["scale<128>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[7] = -5;
    return std::nullopt;
  };
  const Trial trial = evaluate(*all, block(128));
  EXPECT_FALSE(trial.verified);
  EXPECT_THAT(std::string(message(trial.outcome)), HasSubstr("c[7] is -5, expected "));
}

TEST_F(DefaultAsReference, RunsOnTheSecondInputsAndOnEveryProblemToo) {
  spec.verify.push_back({{{"n", 33}}, 1});
  const auto all = runner();
  std::set<int> sizes;
  backend.kernels["scale<64>"] = [&](const Launch& launch) {
    sizes.insert(argument<int>(launch, 2));
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(*all, block(64)).verified);
  EXPECT_THAT(sizes, ElementsAre(33, 1000));
}

TEST_F(DefaultAsReference, IsRefusedWhenItFailsWritesNothingOrGivesNaN) {
  const std::string who = "the default configuration, which is the reference, ";
  backend.kernels["scale<32>"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  EXPECT_EQ(testing::error_of([&] { runner(); }), "scale.cu: " + who + "failed on n=1000: illegal address");
  backend.kernels["scale<32>"] = [](const Launch&) { return std::nullopt; };
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("scale: " + who + "does not write c[0] and 999 more"));
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[7] = std::numeric_limits<float>::quiet_NaN();
    return std::nullopt;
  };
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("scale: " + who + "gives NaN at c[7] on n=1000"));
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[1000] = 0;
    return std::nullopt;
  };
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("scale: " + who + "writes out of bounds: c[1000]"));
}

TEST_F(DefaultAsReference, LeavesWorkSpaceAsTheConfigurationNeedsItWhenItRunsAgain) {
  spec.buffers.push_back(testing::buffer("s", BufferRole::scratch, "float", "block"));
  spec.launches[0].arguments = {"a", "c", "n", "s", "block"};
  float* expected = nullptr;
  const auto scaled = [](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 4); ++i) argument<float*>(launch, 3)[i] = 1;
    return testing::scale_kernel<float>(launch);
  };
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
    spec.file = (folder / "scale.cu").string();
    spec.reference.clear();
    backend.kernels.erase("reference");
    spec.buffers[0].fill = Fill{Fill::Kind::iota};
    spec.buffers[1].answer = AnswerFile{"c.bin", {"scale.cu", 9, 30}};
    for (int i = 0; i < 1000; ++i) numbers.push_back(float(2 * i));
    write();
  }
  void write() const {
    std::ofstream(folder / "c.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * 4));
  }

  const testing::TemporaryFolder folder;
  std::vector<float> numbers;
};

TEST_F(AnswerInAFile, IsWhatConfigurationsAreComparedWith) {
  spec.verify.push_back({{}, 1});
  const auto all = runner();
  EXPECT_TRUE(evaluate(*all, block(32)).verified);
  backend.kernels["scale<64>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[7] = -5;
    return std::nullopt;
  };
  EXPECT_THAT(std::string(message(evaluate(*all, block(64)).outcome)), HasSubstr("c[7] is -5, expected 14"));
}

TEST_F(AnswerInAFile, IsRefusedWithItsPlaceWhereItDoesNotFitOrIsNaN) {
  numbers[7] = std::numeric_limits<float>::quiet_NaN();
  write();
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              HasSubstr("scale: the answer in c.bin gives NaN at c[7] on n=1000"));
  numbers.pop_back();
  write();
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              AllOf(HasSubstr("scale.cu:9:30: the answer of c on n=1000: "),
                    HasSubstr("c.bin holds 3996 bytes of data, not the 4000 of 1000 elements of float")));
  options.verify = false;
  EXPECT_FALSE(evaluate(block(32)).verified) << "nobody needs it then";
}

TEST_F(AnswerInAFile, IsOfOneSizeOfTheProblem) {
  spec.verify.push_back({{{"n", 33}}, 0});
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("the answer of c on n=33: "));
}

/// Elements \p from to 999 are -5.
testing::FakeKernel spoiled(int from, int step = 1) {
  return [from, step](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    for (int i = from; i < 1000; i += step) argument<float*>(launch, 1)[i] = -5;
    return std::nullopt;
  };
}

TEST_F(RunnerTest, ComparesOnlyWhatIsAskedFor) {
  spec.buffers[1].compared = testing::parsed("i < n - 100 and i > 0");
  backend.kernels["scale<32>"] = spoiled(900);
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.kernels["scale<32>"] = spoiled(899);
  EXPECT_THAT(failure(block(32)), HasSubstr("c[899] is -5, expected "));
  EXPECT_THAT(failure(block(32)), HasSubstr("(1 of 899 compared elements differ)"));
}

TEST_F(RunnerTest, ComparesElementsThatLieScattered) {
  spec.buffers[1].compared = testing::parsed("i % 2 == 0");
  backend.kernels["scale<32>"] = spoiled(1, 2);
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.kernels["scale<32>"] = spoiled(998, 2);
  EXPECT_THAT(failure(block(32)), HasSubstr("c[998] is -5, expected "));
  EXPECT_THAT(failure(block(32)), HasSubstr("(1 of 500 compared elements differ)"));
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    for (int i = 0; i < 1000; ++i)
      if (i != 500) argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("c[500] was not written"));
}

TEST_F(RunnerTest, WantsNoValueOfTheReferenceWhereNothingIsCompared) {
  spec.buffers[1].compared = testing::parsed("i < 998");
  backend.kernels["reference"] = [](const Launch& launch) {  // 998 is NaN, 999 not written
    for (int i = 0; i < 998; ++i) argument<float*>(launch, 1)[i] = 2 * argument<const float*>(launch, 0)[i];
    argument<float*>(launch, 1)[998] = std::numeric_limits<float>::quiet_NaN();
    return std::nullopt;
  };
  options.metrics = {"error"};
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  ASSERT_TRUE(trial.verified) << message(trial.outcome);
  EXPECT_EQ(trial.measurement()->metrics.at("error"), 0);
}

TEST_F(RunnerTest, StillSeesWritesBehindWhatIsNotCompared) {
  spec.buffers[1].compared = testing::parsed("i < 10");
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[1000] = 0;
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("writes out of bounds: c[1000]"));
}

TEST_F(RunnerTest, RefusesToCompareNothing) {
  spec.buffers[1].compared = testing::parsed("i >= n");
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              HasSubstr("no element of c is compared on n=1000: 'i >= n' holds for none of 1000"));
  spec.buffers[1].compared = testing::parsed("n / i > 3");
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("division by zero"));
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatGivesWhatAnEarlierRunComputed) {
  std::vector<float> known;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    auto* const c = argument<float*>(launch, 1);
    if (known.empty()) known.assign(c, c + 1000);
    std::copy(known.begin(), known.end(), c);
    return std::nullopt;
  };
  spec.verify.clear();
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: right for the inputs it was timed with, but with others c[0] is "));
  EXPECT_TRUE(evaluate(block(64)).verified);
}

TEST_F(RunnerTest, HasOneSetOfInputsWhereASeedMakesNoOther) {
  for (BufferSpec& buffer : spec.buffers) buffer.fill = Fill{Fill::Kind::iota};
  spec.verify.clear();
  const std::size_t before = backend.runs;
  runner();
  EXPECT_EQ(backend.runs, before + 1) << "the reference";
}

TEST_F(RunnerTest, FillsWithWhatIsComputedOrStandsInAFile) {
  const testing::TemporaryFolder folder;
  spec = testing::scale_spec("int32");
  spec.file = (folder / "scale.cu").string();
  std::vector<int> seen;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    const int* const a = argument<const int*>(launch, 0);
    seen.assign(a, a + 1000);
    return testing::scale_kernel<int>(launch);
  };
  backend.kernels["reference"] = testing::scale_kernel<int>;
  const auto filled = [&](ComputedFill fill) {
    spec.buffers.front().computed_fill = std::move(fill);
    EXPECT_TRUE(evaluate(block(32)).verified);
    return seen;
  };
  ComputedFill fill;
  fill.element = testing::parsed("n - 3 * i");
  EXPECT_EQ(filled(fill)[999], 1000 - 3 * 999);
  fill = {};
  fill.numbers.low = 995;
  fill.high = testing::parsed("n");
  const std::vector<int> drawn = filled(fill);
  EXPECT_EQ(*std::min_element(drawn.begin(), drawn.end()), 995);
  EXPECT_EQ(*std::max_element(drawn.begin(), drawn.end()), 999);
  std::vector<int> numbers(1000, 7);
  numbers[13] = 14;
  std::ofstream(folder / "a.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(int)));
  fill = {};
  fill.path = "a.bin";
  EXPECT_EQ(filled(fill), numbers);
}

/// An element that has a number with a point, which no expression but this may have.
ComputedFill real_fill(const std::string& element) {
  return parse_kernel_file(
             "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner type T = float int\n"
             "#pragma tuner parameter p = 1\n#pragma tuner in a[n]\n#pragma tuner fill a = expression " +
                 element +
                 "\n#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments a\n"
                 "#pragma tuner instantiate k\n",
             "k.cu")
      .buffers.front()
      .computed_fill.value();
}

TEST_F(RunnerTest, FillsFloatingElementsWithNumbersThatHaveAPoint) {
  float seen = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    seen = argument<const float*>(launch, 0)[3];
    return testing::scale_kernel<float>(launch);
  };
  spec.buffers.front().computed_fill = real_fill("1 + i * 0.1");
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_EQ(seen, 1.3f);
  spec.buffers.front().computed_fill = real_fill("1.0 / (n - 1000)");
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("k.cu:6:35: element 0 is inf"));
  spec = testing::scale_spec("int");
  spec.buffers.front().computed_fill = real_fill("i * 0.5");
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("elements of int are filled with integers alone"));
}

TEST_F(RunnerTest, NamesThePlaceOfAScalarThatItsTypeCannotHold) {
  spec.scalars = {{"factor", "half", 70000, {"scale.cu", 7, 9}}};
  spec.reference[0].arguments.push_back("factor");
  EXPECT_THAT(testing::error_of([&] { runner(); }),
              HasSubstr("scale.cu:7:9: factor = 70000.000000 does not fit the type half"));
}

TEST_F(RunnerTest, SaysWhyAnInputCannotBeMade) {
  spec = testing::scale_spec("uint8");
  ComputedFill& fill = spec.buffers.front().computed_fill.emplace();
  fill.location = {"scale.cu", 9, 24};
  fill.path = "none.npy";
  EXPECT_THAT(
      testing::error_of([&] { runner(); }),
      HasSubstr("scale.cu:9:24: the fill of a on n=1000: cannot read data file 'none.npy': there is no such file"));
  fill.path = "";
  fill.element = testing::parsed("i");
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("element 256 is 256, which does not fit the type uint8"));
  fill.element = testing::parsed("10 / (3 - i)");
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("division by zero"));
}

TEST_F(RunnerTest, SeesWhatIsCopiedFromBehindAnInput) {
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[1000] = argument<float*>(launch, 0)[1000];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: writes out of bounds: c[1000], which has 1000 elements of float"));
}

TEST_F(RunnerTest, FillsInputsBeforeEveryVerificationOfInOutBuffers) {
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

TEST_F(RunnerTest, AnnouncesThePhasesWithTheirLimits) {
  const auto shared = runner();
  std::vector<Phase> phases;
  shared->set_phase_listener([&](Phase phase, double limit) {
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
    EXPECT_GE(limit, 2);
  });
  evaluate(*shared, block(32));
  EXPECT_THAT(phases, ElementsAre(Phase::load, Phase::verify, Phase::measure, Phase::verify));
}

TEST_F(RunnerTest, TellsABackendHowManyLaunchesFromTheDeviceMayWaitAndGivesThemTime) {
  spec.device_launches = testing::parsed("block * 1000");
  backend.device_.limits.compute_capability = 90;
  std::set<std::int64_t> pending;
  for (const char* name : {"scale<32>", "scale<64>"}) {
    backend.kernels[name] = [&](const Launch& launch) {
      pending.insert(launch.device_launches);
      return testing::scale_kernel<float>(launch);
    };
  }
  const auto shared = runner();
  double longest = 0;
  shared->set_phase_listener([&](Phase phase, double limit) {
    if (phase == Phase::measure) longest = std::max(longest, limit);
  });
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  EXPECT_GE(longest, 64) << "a millisecond each";
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_THAT(pending, ElementsAre(32000, 64000));
}

TEST_F(RunnerTest, MakesAnUntimedLaunchForTheResultAndNeverInTheTime) {
  LaunchSpec finish = spec.launches.front();
  finish.instantiate = "finish";
  finish.untimed = testing::parsed("block == 64");
  spec.launches.push_back(finish);
  std::string kernels;
  for (const std::string name : {"scale<32>", "scale<64>", "finish"}) {
    backend.kernels[name] = [&, name](const Launch& launch) {
      kernels += name.front();
      if (name != "finish") return std::optional<Outcome>();
      return testing::scale_kernel<float>(launch);
    };
  }
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    kernels += '[' + expression + ']';
    return Sample{1000, 0};
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(kernels, HasSubstr("sf[")) << "timed whole";
  kernels.clear();
  EXPECT_TRUE(evaluate(block(64)).verified) << "what the second launch writes is compared";
  EXPECT_THAT(kernels, ::testing::StartsWith("sfs[scale<64>]")) << "warmed up and timed by itself";
  EXPECT_THAT(kernels, ::testing::EndsWith("sf")) << "verified again after its timed runs";
}

/// A kernel that adds to its output, which is cleared before every run.
class PreparedRunner : public RunnerTest {
 protected:
  PreparedRunner() {
    spec.buffers[1].role = BufferRole::inout;
    LaunchSpec prepare;
    prepare.instantiate = "zero";
    prepare.grid[0] = testing::parsed("ceil_div(n, 256)");
    prepare.block[0] = testing::parsed("256");
    prepare.arguments = {"c", "n"};
    spec.prepare = {prepare};
    backend.kernels["zero"] = [this](const Launch& launch) {
      order += 'z';
      std::fill_n(argument<float*>(launch, 0), argument<int>(launch, 1), 0.0f);
      return std::optional<Outcome>();
    };
    for (const std::string name : {"scale<32>", "scale<64>", "reference"}) {
      backend.kernels[name] = [this, name](const Launch& launch) {
        order += name.front();
        for (int i = 0; i < argument<int>(launch, 2); ++i)
          argument<float*>(launch, 1)[i] += 2 * argument<float*>(launch, 0)[i];
        return std::optional<Outcome>();
      };
    }
    backend.next_sample = [this](const std::string& expression, std::size_t) {
      order += '[' + expression + ']';
      return Sample{1000, 0};
    };
  }
  std::string order;  // of launches and samples
};

TEST_F(PreparedRunner, LaunchesWhatPreparesBeforeEveryRunAndNeverInItsTime) {
  const Trial trial = evaluate(block(32));
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
  EXPECT_THAT(order, ::testing::StartsWith("zrzr")) << "for both sets of inputs";
  EXPECT_THAT(order, HasSubstr("zszsz[scale<32>]z[scale<32>]"));
  EXPECT_THAT(order, ::testing::EndsWith("]zs")) << "verified again";
}

TEST_F(PreparedRunner, TakesSingleRunsAsSamplesOfHotCaches) {
  options.cold = false;
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>", "zero"});
  EXPECT_NE(shared->evaluate(block(32), image, 0).measurement(), nullptr);
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  for (const Trial& trial : shared->remeasure(finalists)) EXPECT_TRUE(trial.verified) << message(trial.outcome);
  for (const SampleRequest& request : backend.requests) EXPECT_EQ(request.batch, 1u);
  EXPECT_THAT(order, HasSubstr("z[scale<64>]z[scale<64>]"));
}

TEST_F(PreparedRunner, PreparesEachPassThatIsCountedAndMeasuresNoEnergy) {
  options.metrics = {"ipc", "energy"};
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_THAT(order, ::testing::EndsWith("zszs")) << "two passes";
  EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  EXPECT_EQ(trial.measurement()->no_metrics,
            "energy is measured over runs without a gap, and here a 'prepare' launch comes before each run");
}

TEST_F(PreparedRunner, StartsTheDefaultConfigurationLikewiseWhereItIsTheReference) {
  spec.reference.clear();
  spec.default_is_reference = true;
  const Trial trial = evaluate(block(64));
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(PreparedRunner, SaysThatWhatPreparesFailed) {
  const auto shared = runner();
  backend.kernels["zero"] = [](const Launch&) { return LaunchError{"no zeros left"}; };
  EXPECT_EQ(message(evaluate(*shared, block(32)).outcome), "no zeros left");
}

TEST_F(RunnerTest, InterleavesFinalistsAndPairsTheirSamplesByRound) {
  std::vector<std::string> order;
  backend.next_sample = [&](const std::string& expression, std::size_t i) {
    order.push_back(expression);
    return Sample{1000 + double(i), 0};
  };
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>"});
  options.finalist_rounds = 4;
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  const auto trials = shared->remeasure(finalists);
  ASSERT_EQ(trials.size(), 2u);
  for (const Trial& trial : trials) {
    ASSERT_NE(trial.measurement(), nullptr);
    EXPECT_TRUE(trial.verified);
    EXPECT_EQ(trial.measurement()->samples_ns.size(), shared->options().finalist_rounds * 2);
  }
  EXPECT_NEAR(trials[0].measurement()->median_ns, trials[1].measurement()->median_ns, 4)
      << "drift must meet both alike";
  EXPECT_NE(order[1], order[2]);
}

TEST_F(RunnerTest, LeavesAFinalistThatFailsOutAndMeasuresTheRest) {
  const auto shared = runner();
  backend.kernels["scale<64>"] = [](const Launch&) { return LaunchError{"fault"}; };
  const Image image = compile({"scale<32>", "scale<64>"});
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  const auto trials = shared->remeasure(finalists);
  EXPECT_NE(trials[0].measurement(), nullptr);
  EXPECT_EQ(kind(trials[1].outcome), "launch");
}

TEST_F(RunnerTest, CollectsMetricsOfEveryConfigurationOnlyWhenAsked) {
  options.metrics = {"ipc", "energy", "edp"};
  EXPECT_EQ(evaluate(block(32)).measurement()->metrics.count("ipc"), 0u);
  EXPECT_TRUE(backend.counted.empty());
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  EXPECT_EQ(trial.measurement()->metrics.at("energy"), 0.5);
  EXPECT_DOUBLE_EQ(trial.measurement()->metrics.at("edp"), 0.5 * trial.measurement()->median_ns * 1e-9);
  EXPECT_EQ(trial.measurement()->metrics.count("power"), 0u) << "nobody asked for it";
  EXPECT_EQ(backend.energy_windows, std::vector<double>{1});
}

TEST_F(RunnerTest, CollectsMetricsOfFinalistsBehindEverythingThatIsTimed) {
  options.metrics = {"ipc"};
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>"});
  const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
  for (const Trial& trial : shared->remeasure(finalists)) EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  ASSERT_EQ(backend.counted.size(), 2u);
  EXPECT_EQ(backend.counted[1].expression, "scale<64>");
  for (const auto& counted : backend.counted) {
    EXPECT_EQ(counted.samples_before, backend.taken) << "something was timed after it";
    EXPECT_TRUE(counted.cold);
  }
}

TEST_F(RunnerTest, TellsHowFarAConfigurationIsFromTheReference) {
  backend.kernels["scale<64>"] = [](const Launch& launch) {
    auto failure = testing::scale_kernel<float>(launch);
    argument<float*>(launch, 1)[0] *= 1 + 1e-6F;
    return failure;
  };
  options.metrics = {"error"};
  options.metrics_for_all = true;
  const auto shared = runner();
  EXPECT_EQ(evaluate(*shared, block(32)).measurement()->metrics.at("error"), 0);
  const double error = evaluate(*shared, block(64)).measurement()->metrics.at("error");
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 2e-6) << "relative to the largest of all elements";

  spec.reference.clear();
  const Trial trial = evaluate(block(32));
  EXPECT_EQ(trial.measurement()->metrics.count("error"), 0u);
  EXPECT_EQ(trial.measurement()->no_metrics, "without a reference nothing has an error");
}

TEST_F(RunnerTest, GoesOnWithoutCountersAndAsksForThemOnce) {
  backend.why_no_counters = "not permitted";
  options.metrics = {"ipc", "energy"};
  options.metrics_for_all = true;
  const auto shared = runner();
  for (const int size : {32, 64}) {
    const Trial trial = evaluate(*shared, block(size));
    ASSERT_NE(trial.measurement(), nullptr);
    EXPECT_EQ(trial.measurement()->no_metrics, "not permitted");
    EXPECT_EQ(trial.measurement()->metrics.at("energy"), 0.5) << "that one is there";
  }
  EXPECT_EQ(backend.counted.size(), 1u);
}

class CapturedRunnerTest : public RunnerTest {
 protected:
  /// A file of floats.
  std::string floats(const std::string& name, std::vector<float> values) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(4 * values.size()));
    return path;
  }
  static std::vector<float> counting(float factor) {
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = factor * static_cast<float>(i);
    return values;
  }

  const tuner::testing::TemporaryFolder folder;
};

TEST_F(CapturedRunnerTest, RunsOnWhatALaunchWasGivenAndVerifiesOnOtherProblemsAsTheFileSays) {
  options.captured.inputs["a"] = floats("a", counting(1));
  spec.verify.push_back({{{"n", 7}}, 0});
  std::set<std::string> seen;
  for (const char* name : {"reference", "scale<32>"})
    backend.kernels[name] = [&seen](const Launch& launch) {
      const int n = argument<int>(launch, 2);
      seen.insert(std::to_string(n) + (argument<const float*>(launch, 0)[n - 1] == float(n - 1) ? " captured" : ""));
      return testing::scale_kernel<float>(launch);
    };
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(seen, ElementsAre("1000 captured", "7"));
}

TEST_F(CapturedRunnerTest, TakesWhatTheLaunchLeftForRightWhereThereIsNoReference) {
  spec.reference.clear();
  spec.verify.push_back({{{"n", 7}}, 0});
  options.captured.inputs["a"] = floats("a", counting(1));
  options.captured.outputs["c"] = floats("c", counting(2));
  EXPECT_TRUE(evaluate(block(32)).verified);
  options.captured.outputs["c"] = floats("c", counting(3));
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[1] is 2, expected 3"));
}

TEST_F(CapturedRunnerTest, GivesTheKernelTheNumbersOfTheLaunch) {
  spec.scalars.push_back({"shift", "int64", 1});
  spec.launches[0].arguments.push_back("shift");
  options.captured.scalars["shift"] = "9007199254740993";
  spec.verify.push_back({{{"n", 7}}, 0});
  std::set<std::pair<int, std::int64_t>> seen;
  backend.kernels["scale<32>"] = [&seen](const Launch& launch) {
    seen.emplace(argument<int>(launch, 2), argument<std::int64_t>(launch, 3));
    return testing::scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(seen, ElementsAre(std::pair(7, 1), std::pair(1000, 9007199254740993)));
}

TEST_F(CapturedRunnerTest, SaysWhichFileDoesNotFit) {
  options.captured.inputs["a"] = floats("short", {1, 2});
  EXPECT_THAT(testing::error_of([&] { runner(); }), HasSubstr("short holds 8 bytes"));
}

TEST(CapturedNumber, ReadsBackToTheSameBits) {
  const auto as_double = [](double value) {
    double read = 0;
    const Argument argument = captured_number(ElementType::float64, number_text(value));
    std::memcpy(&read, argument.bytes, sizeof read);
    return read;
  };
  for (const double value : {0.1, 1.0, -3.0, 1e300, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(as_double(value), value);
  EXPECT_TRUE(std::signbit(as_double(-0.0)));
  EXPECT_TRUE(std::isnan(as_double(std::numeric_limits<double>::quiet_NaN())));
  const std::uint64_t largest = ~std::uint64_t{0};
  std::uint64_t natural = 0;
  std::memcpy(&natural, captured_number(ElementType::uint64, number_text(largest)).bytes, sizeof natural);
  EXPECT_EQ(natural, largest);
  EXPECT_THAT(testing::error_of([] { captured_number(ElementType::int8, "1000"); }), HasSubstr("does not fit"));
  EXPECT_THAT(testing::error_of([] { captured_number(ElementType::int8, "1 2"); }), HasSubstr("no number"));
}

}  // namespace
}  // namespace tuner
