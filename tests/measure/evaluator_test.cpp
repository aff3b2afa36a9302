#include <tuner/measure/in_process_evaluator.hpp>

#include <future>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/core/error.hpp>

#include "scale_spec.hpp"

namespace tuner {
namespace {

using testing::block;
using testing::FakeBackend;

class InProcessEvaluatorTest : public ::testing::Test {
 protected:
  InProcessEvaluatorTest() : spec(testing::scale_spec()) {
    testing::give_kernels(backend);
    options.compile_threads = 2;
    options.batch = 4;
  }
  std::map<Configuration, Trial> evaluate_all(Evaluator& evaluator) {
    for (const int size : {32, 64, 128, 256}) evaluator.submit(block(size), 0);
    std::map<Configuration, Trial> trials;
    while (evaluator.in_flight() > 0) {
      Trial trial = evaluator.next();
      trials.emplace(trial.configuration, trial);
    }
    return trials;
  }

  static Event next_event(Evaluator& evaluator) {
    for (;;)
      if (auto event = evaluator.next_event(std::chrono::seconds(1))) return *event;
  }

  FakeBackend backend;
  KernelSpec spec;
  InProcessOptions options;
};

TEST_F(InProcessEvaluatorTest, AnswersEverySubmittedConfigurationOnce) {
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  EXPECT_GE(evaluator.capacity(), 4u);
  const auto trials = evaluate_all(evaluator);
  ASSERT_EQ(trials.size(), 4u);
  for (const auto& [configuration, trial] : trials) EXPECT_TRUE(trial.verified) << configuration.text();
}

TEST_F(InProcessEvaluatorTest, TellsWhenAConfigurationIsCompiledBeforeItRuns) {
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  evaluator.submit(block(64), 0);
  const Event first = next_event(evaluator);
  ASSERT_TRUE(std::holds_alternative<Compiled>(first));
  EXPECT_EQ(std::get<Compiled>(first).configuration, block(64));
  EXPECT_EQ(evaluator.in_flight(), 1u);
  EXPECT_TRUE(std::holds_alternative<Trial>(next_event(evaluator)));
  EXPECT_EQ(evaluator.in_flight(), 0u);
}

TEST_F(InProcessEvaluatorTest, DoesNotRunWhatWasWithdrawn) {
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  evaluator.submit(block(64), 0);
  next_event(evaluator);
  const Configuration both[] = {block(32), block(64)};
  evaluator.withdraw(both);
  const Event event = next_event(evaluator);
  ASSERT_TRUE(std::holds_alternative<Withdrawn>(event));
  EXPECT_EQ(std::get<Withdrawn>(event).configuration, block(64));
  EXPECT_EQ(evaluator.in_flight(), 0u);
}

TEST_F(InProcessEvaluatorTest, WaitsForNoCompilerWhenItIsToldNotTo) {
  std::promise<void> go;
  backend.compiler_.before = [wait = go.get_future().share()](const CompileRequest& request) {
    while (wait.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready && !*request.stop) continue;
  };
  {
    InProcessEvaluator evaluator(backend, spec, {}, {}, options);
    for (const int size : {32, 64}) evaluator.submit(block(size), 0);
    EXPECT_FALSE(evaluator.next_event(std::chrono::milliseconds(1)));
    const Configuration both[] = {block(32), block(64)};
    evaluator.withdraw(both);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(std::holds_alternative<Withdrawn>(next_event(evaluator)));
    EXPECT_EQ(evaluator.in_flight(), 0u);
  }  // the destructor returns although the compiler is still blocked
  backend.compiler_.before = nullptr;
}

TEST_F(InProcessEvaluatorTest, GivesACompileErrorOnlyToTheGuiltyConfigurationOfABatch) {
  options.compile_threads = 1;
  backend.compiler_.refused["scale<128>"] = 1;
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  auto trials = evaluate_all(evaluator);
  EXPECT_EQ(kind(trials.at(block(128)).outcome), "compile");
  EXPECT_EQ(std::get<CompileError>(trials.at(block(128)).outcome).log, "error: scale<128>");
  for (const int size : {32, 64, 256}) EXPECT_TRUE(trials.at(block(size)).verified) << size;
}

TEST_F(InProcessEvaluatorTest, CompilesNothingWhenTheStoreHasEverything) {
  std::map<std::vector<std::string>, Image> stored;
  std::mutex mutex;
  options.images.get = [&](const CompileRequest& request, std::string_view identity) -> std::optional<Image> {
    EXPECT_EQ(identity, "fake 1");
    const std::lock_guard lock(mutex);
    const auto at = stored.find(request.expressions);
    return at == stored.end() ? std::nullopt : std::optional(at->second);
  };
  options.images.put = [&](const CompileRequest& request, std::string_view, const Image& image) {
    const std::lock_guard lock(mutex);
    stored[request.expressions] = image;
  };
  {
    InProcessEvaluator evaluator(backend, spec, {}, {}, options);
    evaluate_all(evaluator);
  }
  EXPECT_EQ(stored.size(), 5u) << "four configurations and the reference";
  backend.compiler_.requests.clear();
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  for (const auto& [configuration, trial] : evaluate_all(evaluator)) EXPECT_TRUE(trial.verified);
  EXPECT_TRUE(backend.compiler_.requests.empty());
}

TEST_F(InProcessEvaluatorTest, AnswersInvalidConfigurationsWithoutCompilingThem) {
  {
    InProcessEvaluator evaluator(backend, spec, {}, {}, options);
    evaluator.submit(block(31), 0);
    EXPECT_EQ(kind(evaluator.next().outcome), "invalid");
  }
  for (const CompileRequest& request : backend.compiler_.requests)  // the reference, perhaps
    EXPECT_THAT(request.expressions, ::testing::Each(::testing::Not(::testing::HasSubstr("31"))));
}

TEST_F(InProcessEvaluatorTest, FailsTheRestOnceTheDeviceIsPoisoned) {
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  backend.usable_ = false;
  evaluator.submit(block(32), 0);
  EXPECT_EQ(kind(evaluator.next().outcome), "launch");
}

TEST_F(InProcessEvaluatorTest, ThrowsWhenTheReferenceDoesNotCompile) {
  backend.compiler_.refused["reference"] = 1;
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  evaluator.submit(block(32), 0);
  EXPECT_THROW(evaluator.next(), Error);
}

TEST_F(InProcessEvaluatorTest, AbandonsWhatIsWorseThanATrialThatFinishedAfterItWasSubmitted) {
  options.compile_threads = 1;
  options.batch = 1;
  backend.next_sample = [](const std::string& expression, std::size_t i) {
    return Sample{(expression == "scale<32>" ? 1e6 : 3e6) + double(i), 0};
  };
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  auto trials = evaluate_all(evaluator);  // all were submitted before a best was known
  EXPECT_FALSE(trials.at(block(32)).measurement()->abandoned);
  EXPECT_TRUE(trials.at(block(64)).measurement()->abandoned);
}

TEST_F(InProcessEvaluatorTest, MeasuresFinalistsAgain) {
  InProcessEvaluator evaluator(backend, spec, {}, {}, options);
  evaluate_all(evaluator);
  const Configuration finalists[] = {block(64), block(32)};
  const auto trials = evaluator.remeasure(finalists);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].configuration, block(64));
  EXPECT_NE(trials[1].measurement(), nullptr);
}

}  // namespace
}  // namespace tuner
