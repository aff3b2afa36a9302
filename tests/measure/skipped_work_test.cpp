// Kernels that do nothing where they find their work done: no time of theirs is believed.

#include <algorithm>
#include <map>
#include <set>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

/// `scale<64>` takes 1000 ns when it works and 100 ns when it does nothing; the others take 1000 ns.
class SkippedWork : public RunnerTest {
 protected:
  SkippedWork() {
    backend.next_sample = [](const std::string&, std::size_t) { return Sample{1000, 0}; };
  }
  /// \p is_done: looks at the memory of a launch.
  void skip_when(std::function<bool(const Launch&)> is_done) {
    backend.kernels["scale<64>"] = [this,
                                    is_done = std::move(is_done)](const Launch& launch) -> std::optional<Outcome> {
      if (is_done(launch)) {
        ++skipped;
        return std::nullopt;
      }
      return scale_kernel<float>(launch);
    };
  }
  /// Of a search and of finals.
  std::vector<Trial> trials() {
    const auto shared = runner();
    std::vector<Trial> all{evaluate(*shared, block(64))};
    skipped_in_search = skipped;
    for (Trial& trial : remeasure(*shared))
      if (trial.configuration == block(64)) all.push_back(std::move(trial));
    return all;
  }
  int skipped = 0, skipped_in_search = 0;
};

TEST_F(SkippedWork, FindsNoOutputsOfAnEarlierRunInAnyTimedRun) {
  bool is_timed = false;
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    is_timed = expression == "scale<64>";
    return Sample{1000, 0};
  };
  skip_when([&](const Launch& launch) {
    const float first = argument<float*>(launch, 1)[0];
    EXPECT_FALSE(is_timed && first == first) << "not unwritten";
    is_timed = false;
    return false;
  });
  for (const Trial& trial : trials()) EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(SkippedWork, IsWrongInAKernelThatLeavesEarlierResultsInItsOutputs) {
  skip_when([](const Launch& launch) { return argument<float*>(launch, 1)[0] == argument<float*>(launch, 1)[0]; });
  for (const Trial& trial : trials())
    EXPECT_THAT(message(trial.outcome), StartsWith("right over unwritten outputs, but over earlier results c[0] is "));
  options.second_inputs = false;
  for (const Trial& trial : trials())
    EXPECT_THAT(message(trial.outcome), StartsWith("right over unwritten outputs, but over earlier results c[0]"));
}

TEST_F(SkippedWork, FindsItsWorkSpaceAndItsInputsAsBeforeEveryTimedRun) {
  spec.buffers[1].role = BufferRole::inout;
  spec.buffers.push_back(testing::buffer("flag", BufferRole::scratch, "int", "1"));
  for (auto* const launch : {&spec.launches[0], &spec.verification.reference[0]})
    launch->arguments = {"a", "c", "n", "flag"};
  int other_starts = 0;
  float first = 0;
  skip_when([&](const Launch& launch) {
    int& flag = argument<int*>(launch, 3)[0];
    other_starts += flag == 42;
    if (first == 0) first = argument<float*>(launch, 1)[0];
    return std::exchange(flag, 42) == 42;
  });
  for (const Trial& trial : trials()) EXPECT_TRUE(trial.verified) << message(trial.outcome);
  EXPECT_EQ(other_starts, 1) << "the second warm-up of the finals";
}

TEST_F(SkippedWork, FindsTheVariablesOfItsModuleAsAfterLoading) {
  int remembered[2] = {7, 0};
  backend.variables = {{reinterpret_cast<std::uintptr_t>(&remembered), sizeof remembered}};
  bool is_timed = false;
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    const auto is_this = [&](const Refill& one) { return one.to == backend.variables[0].address; };
    // The others are not part of the time: they show that it is also right with what it remembers.
    is_timed = expression == "scale<64>" && std::ranges::any_of(backend.requests.back().refills, is_this);
    return Sample{1000, 0};
  };
  std::set<int> found;
  skip_when([&](const Launch&) {
    if (std::exchange(is_timed, false)) found.insert(remembered[0] * 1000 + remembered[1]);
    remembered[0] = 8;
    ++remembered[1];
    return false;
  });
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  EXPECT_EQ(found, std::set<int>{7000});
}

TEST_F(SkippedWork, ReadsNoVariableThatIsZeroAfterLoading) {
  int variables[] = {7, 8};
  const auto at = [&](int i) { return reinterpret_cast<std::uintptr_t>(&variables[i]); };
  backend.variables = {{at(0), sizeof(int)}, {at(1), sizeof(int), true}};
  std::map<std::uintptr_t, bool> is_copied;
  backend.next_sample = [&](const std::string&, std::size_t) {
    for (const Refill& one : backend.requests.back().refills)
      if (one.to == at(0) || one.to == at(1)) is_copied[one.to] = one.from != 0;
    return Sample{1000, 0};
  };
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified);
  EXPECT_THAT(is_copied, ElementsAre(std::pair(at(0), true), std::pair(at(1), false)));
}

TEST_F(SkippedWork, LeavesTheVariablesIfTheDriverRefusesToReadOne) {
  int variables[] = {7, 8};
  for (const int& one : variables) backend.variables.push_back({reinterpret_cast<std::uintptr_t>(&one), sizeof one});
  backend.refuses = [&](DevicePointer from, std::size_t) { return from == backend.variables[1].address; };
  std::size_t most = 0;
  backend.next_sample = [&](const std::string&, std::size_t) {
    most = std::max(most, backend.requests.back().refills.size());
    return Sample{1000, 0};
  };
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified);
  EXPECT_EQ(most, 1u) << "its output";
}

TEST_F(SkippedWork, IsFoundInLaterRunsThatFindWhatEarlierOnesLeftInTheVariables) {
  int runs = 0;
  backend.variables = {{reinterpret_cast<std::uintptr_t>(&runs), sizeof runs}};
  skip_when([&](const Launch&) { return ++runs > 4; });
  const auto shared = runner();
  const Trial trial = evaluate(*shared, block(64));
  EXPECT_THAT(message(trial.outcome), StartsWith("right at first, but in a timed run c[0]"));
  EXPECT_FALSE(trial.verified);
}

TEST_F(SkippedWork, IsFoundInAFinalistThatSkipsItWhereItsVariablesSaySo) {
  int runs = 0;
  bool is_final = false;
  backend.variables = {{reinterpret_cast<std::uintptr_t>(&runs), sizeof runs}};
  skip_when([&](const Launch&) { return is_final && ++runs > 4; });
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  is_final = true;
  EXPECT_THAT(message(remeasure(*shared)[1].outcome), StartsWith("right at first, but in a timed run c[0]"));
}

TEST_F(SkippedWork, IsFoundInATimedRunOfAKernelThatCountsItsLaunches) {
  for (const int period : {2, 3, 5}) {
    int launches = 0;
    skip_when([&](const Launch&) { return ++launches > 4 && launches % period != 0; });
    const std::string seen(message(trials().front().outcome));
    EXPECT_THAT(seen, StartsWith("right at first, but in a timed run c[0] was not written")) << period;
  }
}

TEST_F(SkippedWork, IsFoundInATimedRunOfAFinalistThatWorksInEverySecondLaunch) {
  const auto shared = runner();
  int launches = 0;
  skip_when([&](const Launch&) { return ++launches % 2 == 1 && launches > 2; });
  EXPECT_THAT(message(remeasure(*shared)[1].outcome), StartsWith("right at first, but in a timed run c[0]"));
}

TEST_F(SkippedWork, IsRestoredFromFillsWhereCopiesOfInputsFindNoRoom) {
  spec.buffers[1].role = BufferRole::inout;
  std::set<float> starts;
  bool is_timed = false;
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    is_timed = expression == "scale<64>";
    return Sample{1000, 0};
  };
  skip_when([&](const Launch& launch) {
    if (std::exchange(is_timed, false)) starts.insert(argument<float*>(launch, 1)[0]);
    return false;
  });
  options.guard_bytes = 4096;
  const auto shared = runner();
  backend.room = 0;  // for no further buffer
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  EXPECT_EQ(starts.size(), 1u) << "the same each time";
  EXPECT_TRUE(std::ranges::all_of(backend.requests, [](const SampleRequest& one) { return one.samples == 1; }));
}

TEST_F(SkippedWork, IsFoundAfterUntimedLaunchesCompletedTheResult) {
  LaunchSpec finish = spec.launches.front();
  finish.instantiate = "finish";
  finish.untimed = parsed("block == 64");
  spec.launches.push_back(finish);
  backend.kernels["finish"] = [](const Launch& launch) -> std::optional<Outcome> {
    argument<float*>(launch, 1)[0] = 2 * argument<float*>(launch, 0)[0];
    return std::nullopt;
  };
  int launches = 0;
  skip_when([&](const Launch&) { return ++launches > 4; });
  EXPECT_THAT(message(evaluate(block(64)).outcome), StartsWith("right at first, but in a timed run c[1]"));
}

TEST_F(SkippedWork, IsDoneAndTimedInEveryRunOfAGraph) {
  options.use = Use::graph;
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    const SampleRequest& request = backend.requests.back();
    const bool skips = expression == "scale<64>" && request.batch > 1 && !request.refills_each_run;
    return Sample{skips ? 1000.0 : 9000.0, 0};
  };
  for (const Trial& trial : trials()) {
    ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
    EXPECT_EQ(trial.measurement()->median_ns, 9000);
  }
}

TEST_F(SkippedWork, HasNoEnergy) {
  options.metrics = {"energy"};
  options.metrics_for_all = true;
  const auto shared = runner();
  backend.next_sample = [&](const std::string&, std::size_t) {
    const SampleRequest& request = backend.requests.back();
    return Sample{request.batch == 1 || request.refills_each_run ? 9000.0 : 1000.0, 0};
  };
  const Trial trial = evaluate(*shared, block(64));
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_EQ(trial.measurement()->metrics.count("energy"), 0u);
  EXPECT_THAT(trial.measurement()->no_metrics, HasSubstr("less time when an earlier run has done their work"));
}

}  // namespace
}  // namespace tuner
