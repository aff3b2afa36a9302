#pragma once
/// Verifies and measures configurations of scale_spec() with a Runner on a fake backend.

#include <filesystem>
#include <fstream>
#include <limits>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/runner.hpp>

#include <tests/support/testing.hpp>

#include <tests/support/scale_spec.hpp>

namespace tuner::testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename Number>
void write_numbers(const std::filesystem::path& file, const std::vector<Number>& numbers) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
}

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() : spec(scale_spec()) {
    give_kernels(backend);
    options.own_problems = false;  // chosen_problems_test.cpp is about them
  }

  ProblemSize size() const { return complete(spec, {}); }
  Image compile(std::vector<std::string> expressions) {
    return std::get<Image>(backend.compiler().compile(
        compile_request(spec, size(), backend.device().limits, "fake", std::move(expressions), {})));
  }
  /// A runner that knows the expected outputs.
  std::unique_ptr<Runner> runner() {
    auto result = std::make_unique<Runner>(backend, spec, ProblemSize{}, options, listener);
    const auto expressions = reference_expressions(spec, size(), backend.device().limits);
    if (expressions.empty()) {
      result->prepare(nullptr);
    } else {
      const Image image = compile(expressions);
      result->prepare(&image);
    }
    return result;
  }
  /// Why there is no runner().
  std::string refusal() {
    return error_of([this] { runner(); });
  }
  Trial evaluate(Runner& runner, const Configuration& configuration) {
    const Image image = compile(launch_expressions(spec, size(), backend.device().limits, configuration));
    return runner.evaluate(configuration, image, 0);
  }
  Trial evaluate(const Configuration& configuration) { return evaluate(*runner(), configuration); }
  std::string failure(const Configuration& configuration) {
    const Trial trial = evaluate(configuration);
    EXPECT_FALSE(trial.verified);
    return std::string(kind(trial.outcome)) + ": " + std::string(message(trial.outcome));
  }
  /// With `scale<32>` and `scale<64>` as the finalists.
  std::vector<Trial> remeasure(Runner& runner, std::uint32_t placement = 0) {
    std::vector<std::string> expressions{"scale<32>", "scale<64>"};
    for (const LaunchSpec& prepare : spec.prepare) expressions.push_back(prepare.instantiate);
    const Image image = compile(std::move(expressions));
    const Runner::Finalist finalists[] = {{block(32), &image}, {block(64), &image}};
    return runner.remeasure(finalists, std::numeric_limits<double>::infinity(), placement);
  }

  FakeBackend backend;
  KernelSpec spec;
  MeasureOptions options;
  PhaseListener listener;
};

}  // namespace tuner::testing

namespace tuner {
using testing::argument;
using testing::block;
using testing::kNan;
using testing::parsed;
using testing::RunnerTest;
using testing::scale_kernel;
using testing::scaled_after;
using testing::scaled_except;
using testing::scaled_then;
using testing::scaled_while;
}  // namespace tuner
