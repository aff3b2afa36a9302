#include <tuner/cli/print/session_result.hpp>

#include <nlohmann/json.hpp>

#include <tuner/cli/print/metrics.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

class PrintedResult : public ::testing::Test {
 protected:
  PrintedResult() {
    size.choices["T"] = "float";
    size.sizes["n"] = 1'000'000;
    device.key.backend = "cuda";
    device.ceilings.copy = 1e12;
    device.ceilings.read = 1e12;
  }

  static Trial measured(int block, double ns) {
    Trial trial;
    trial.configuration = {{"block", block}};
    Measurement measurement;
    measurement.median_ns = ns;
    measurement.low_ns = ns * 0.99;
    measurement.high_ns = ns * 1.01;
    trial.outcome = measurement;
    trial.verified = true;
    trial.resources = Resources{.registers = 32, .occupancy = 0.75};
    return trial;
  }
  /// The last of \p trials is the best.
  static SessionResult won(std::vector<Trial> trials) {
    SessionResult result;
    result.trials = std::move(trials);
    result.best = result.trials.back();
    return result;
  }
  /// Measured again, as a finalist.
  static Trial finalist(int block, double search_ns, double ns) {
    Trial trial = measured(block, ns);
    trial.search = SearchTime{search_ns, search_ns * 0.98, search_ns * 1.02};
    return trial;
  }
  static Trial failed(int block, Outcome outcome) {
    Trial trial;
    trial.configuration = {{"block", block}};
    trial.outcome = std::move(outcome);
    return trial;
  }

  KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel      scale
#pragma tuner type        T = float
#pragma tuner size        n = 1000
#pragma tuner parameter   block = 32 64 128 256
#pragma tuner inout       x[n]
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   x, n
#pragma tuner instantiate scale<T, block>
#pragma tuner reference   scaleReference<T>
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner default     block=32
)",
                                      "scale.cu");
  ProblemSize size;
  Device device;
  Subject subject{&spec, &size, &device, {}};
  Style plain{false};
};

TEST_F(PrintedResult, OrdersTheBestByTimeWithRatesAndTheCeiling) {
  const std::string table =
      best_table(subject, {measured(32, 20e3), measured(64, 10e3), failed(128, Timeout{"hangs"})}, plain);
  EXPECT_THAT(
      table, HasSubstr("1           10.0 us    +-1.0%  800 GB/s    80.0%         32                  75.0%  block=64"));
  EXPECT_LT(table.find("block=64"), table.find("block=32"));
  EXPECT_THAT(table, Not(HasSubstr("block=128")));
}

TEST_F(PrintedResult, ExplainsARateThatMemoryDoesNotGive) {
  EXPECT_THAT(speed_text(subject, 8e3),
              AllOf(HasSubstr("100.0% of this device's copy rate"), Not(HasSubstr("more than"))));
  EXPECT_THAT(speed_text(subject, 5), HasSubstr("more than memory gives: served by caches, or not measured here"));
}

TEST_F(PrintedResult, SaysWhatARateIsAFractionOf) {
  EXPECT_THAT(best_table(subject, {measured(32, 20e3)}, plain), HasSubstr("  of copy  "));
  spec.buffers[0].role = BufferRole::in;
  EXPECT_THAT(best_table(subject, {measured(32, 20e3)}, plain), HasSubstr("  of reads  "));
  const SessionResult result = won({measured(32, 20e3)});
  EXPECT_THAT(winner(subject, result, "", plain), EndsWith("40.0% of this device's read rate\n"));
  EXPECT_EQ(json_result(subject, result, "")["best"]["ceiling"], "reads");
}

TEST_F(PrintedResult, SaysThatOccupancyIsTheoreticalAndOfWhichLaunch) {
  EXPECT_THAT(best_table(subject, {measured(32, 20e3)}, plain),
              AllOf(HasSubstr("theoretical occupancy"), Not(HasSubstr("several launches"))));
  spec.launches.push_back(spec.launches[0]);
  EXPECT_THAT(best_table(subject, {measured(32, 20e3)}, plain), HasSubstr("of the one that is worst off"));
}

TEST_F(PrintedResult, ShowsNoMoreRowsThanAskedFor) {
  const std::string table = best_table(subject, {measured(256, 3), measured(64, 2), measured(128, 1)}, plain, 2);
  EXPECT_THAT(table, Not(HasSubstr("block=256")));
}

TEST_F(PrintedResult, AlwaysShowsTheWinnerAndTheDefaultMarked) {
  const std::vector<Trial> trials{measured(32, 9e3), finalist(64, 1e3, 2e3), finalist(128, 1.1e3, 1.9e3),
                                  measured(256, 3e3)};
  const std::string table = best_table(subject, trials, plain, 1, {trials[1].configuration, {}});
  EXPECT_THAT(table, AllOf(ContainsRegex("2  best     1.00 us  2.00 us .*block=64\n"),
                           ContainsRegex("4  default  9.00 us .*block=32\n"), Not(HasSubstr("block=256"))));
  EXPECT_THAT(best_table(subject, trials, plain, 10, {trials[2].configuration, {trials[1].configuration}}),
              AllOf(ContainsRegex("1  best .*block=128\n"), ContainsRegex("2  tie .*block=64\n")));
  EXPECT_THAT(best_table(subject, trials, plain, 10, {trials[0].configuration, {}}), HasSubstr("  best, default  "));
}

TEST_F(PrintedResult, OrdersFinalistsByTheirFinalAndOthersByTheirSearch) {
  const std::vector<Trial> trials{finalist(32, 8e3, 8.5e3), finalist(64, 1e3, 2e3), finalist(128, 1.1e3, 1.9e3),
                                  measured(256, 1.2e3)};
  std::vector<std::string> order;
  for (const Trial* const trial : candidates(subject, trials)) order.push_back(trial->configuration.text());
  EXPECT_EQ(order, (std::vector<std::string>{"block=128", "block=64", "block=256", "block=32"}))
      << "others beat the default in the search, so its second time does not lift it above them";
  EXPECT_THAT(best_table(subject, trials, plain), ContainsRegex("#  role +search +final +interval"));
  EXPECT_THAT(best_table(subject, {measured(64, 1e3)}, plain), ContainsRegex("# +median +interval"));
}

TEST_F(PrintedResult, ComparesTimesOfTheSearchWithTimesOfTheSearch) {
  const Trial again = finalist(32, 1e3, 4e3), once = measured(64, 2e3);
  EXPECT_DOUBLE_EQ(time_ratio(once, again), 2);
  EXPECT_DOUBLE_EQ(time_ratio(finalist(64, 1e3, 6e3), again), 1.5);
  EXPECT_THAT(best_by({{subject, {again, once}, {}}}, "block").text(), ContainsRegex("64 +2.00 us .* 0.50  block=64"));
}

TEST_F(PrintedResult, ShowsAConfigurationOnceWithItsLatestMeasurement) {
  const std::string table = best_table(subject, {measured(32, 1e3), measured(64, 2e3), measured(32, 3e3)}, plain);
  EXPECT_THAT(table, HasSubstr("2  default  3.00 us"));
  EXPECT_THAT(table, Not(HasSubstr("3  ")));
}

TEST_F(PrintedResult, ShowsMetricsThatWereAskedForAsColumns) {
  Trial finalist = measured(32, 1e3), other = measured(64, 2e3);
  std::get<Measurement>(finalist.outcome).metrics = {
      {"gld_efficiency", 87.5}, {"clock_step_ns", 500}, {"placements", 3}};
  subject.metrics = {"gld_efficiency", "stall_sync"};
  const std::string table = best_table(subject, {finalist, other}, plain);
  EXPECT_THAT(table, AllOf(HasSubstr("gld_efficiency  configuration"), HasSubstr("87.5%  block=32")));
  EXPECT_THAT(table, Not(HasSubstr("stall_sync"))) << "a column that is empty in every row is left out";
  EXPECT_THAT(table, AllOf(Not(HasSubstr("clock_step_ns")), Not(HasSubstr("placements"))));
}

TEST_F(PrintedResult, NamesTheFrontOfATradeOff) {
  SessionResult result;
  result.trials = {measured(32, 1e3), measured(64, 2e3), measured(128, 3e3)};
  for (std::size_t i = 0; i < 3; ++i)
    std::get<Measurement>(result.trials[i].outcome).metrics["energy"] = i == 1 ? 1 : 2;
  EXPECT_FALSE(json_result(subject, result, "").contains("front"));
  subject.trade_off = {"time", "energy"};
  EXPECT_THAT(pareto_table(result.trials, subject.trade_off), HasSubstr("2 configurations"));
  EXPECT_EQ(json_result(subject, result, "")["front"]["configurations"],
            (nlohmann::ordered_json{"block=32", "block=64"}));
}

TEST_F(PrintedResult, NeverListsWhatWasNotVerified) {
  Trial unverified = measured(32, 1);
  unverified.verified = false;
  EXPECT_EQ(best_table(subject, {unverified}, plain), "");
}

TEST_F(PrintedResult, CountsFailuresByKindWithTheirMostFrequentReason) {
  const std::string text =
      failure_summary({measured(32, 1), failed(64, Invalid{"too big"}), failed(64, Invalid{"too big"}),
                       failed(64, Invalid{"odd"}), failed(128, WrongResult{"y[0] is 1, not 2\nmore"})},
                      plain);
  EXPECT_THAT(text, Holds("failed    4 of 5 trials", "1 wrong    y[0] is 1, not 2\n", "3 invalid  too big\n"));
  EXPECT_EQ(failure_summary({measured(32, 1)}, plain), "");
}

TEST_F(PrintedResult, EndsWithTheNumberThatMatters) {
  const SessionResult result = won({measured(32, 20e3), measured(64, 10e3)});
  const std::string memory = "10.0 us  800 GB/s  80.0% of this device's copy rate";
  EXPECT_THAT(winner(subject, result, "/cache/wisdom.db", plain),
              AllOf(HasSubstr("best  block=64\n"), EndsWith(memory + '\n')));
  spec.work.flops = Expression::parse("n", {});
  EXPECT_THAT(winner(subject, result, "", plain), EndsWith(memory + "  100 GFLOP/s\n"));
  EXPECT_THAT(
      best_table(subject, {*result.best}, plain),
      HasSubstr("1  10.0 us    +-1.0%  800 GB/s    80.0%  100 GFLOP/s         32                  75.0%  block=64"));
  spec.work.bytes.reset();
  EXPECT_THAT(winner(subject, result, "", plain), EndsWith("10.0 us  100 GFLOP/s\n"));
}

TEST_F(PrintedResult, SaysInOneLineWhetherTuningIsWorthItHere) {
  SessionResult result = won({measured(32, 12e3), measured(64, 10e3)});
  const auto line = [&] {
    const std::string text = winner(subject, result, "", plain);
    const std::size_t at = text.find("default   ");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line(), "");
  result.effort = Effort::quick;
  result.default_over_best = TimeRatio{1.6, 1.5, 1.7};
  EXPECT_EQ(line(), "default   the best takes 0.625 of the default's time (95% interval 0.588 to 0.667)");
  EXPECT_EQ(json_result(subject, result, "")["default"]["worth_tuning"], true);
  result.default_over_best = TimeRatio{1.004, 1.001, 1.007};
  EXPECT_EQ(line(),
            "default   the default is within 0.4% of the best (95% interval 0.1 to 0.7%): tuning is not worth it here");
  const Json compared = json_result(subject, result, "")["default"];
  EXPECT_EQ(compared["time_over_best"], 1.004);
  EXPECT_EQ(compared["low"], 1.001);
  EXPECT_EQ(compared["high"], 1.007);
  EXPECT_EQ(compared["worth_tuning"], false);
  result.effort = Effort::none;
  EXPECT_THAT(line(), Not(HasSubstr("worth"))) << "hardly anything was tried";
  EXPECT_FALSE(json_result(subject, result, "")["default"].contains("worth_tuning"));
  result = won({measured(64, 10e3), measured(32, 10e3)});
  result.effort = Effort::normal;
  result.default_over_best = TimeRatio{0.998, 0.98, 1.03};
  EXPECT_EQ(line(), "default   the default is within 0.0% of the fastest (95% interval 0.0 to 3.0%)");
  EXPECT_FALSE(json_result(subject, result, "")["default"].contains("worth_tuning")) << "the interval holds both";
}

TEST_F(PrintedResult, SaysWhyTheFirstRowIsNotTheBest) {
  const auto text = [&](const SessionResult& result) { return winner(subject, result, "", plain); };
  SessionResult result = won({finalist(32, 10e3, 10e3), finalist(64, 10e3, 20e3)});
  EXPECT_THAT(text(result), HasSubstr("a row above the best did not keep its lead"));
  EXPECT_THAT(winner(subject, result, "", plain, false), Not(HasSubstr("a row above"))) << "there are no rows";
  result.ties = {result.trials[0].configuration};
  EXPECT_THAT(text(result), Not(HasSubstr("a row above the best")));
  EXPECT_THAT(text(won({finalist(64, 15e3, 20e3), measured(32, 16e3), finalist(128, 15e3, 10e3)})),
              Not(HasSubstr("a row above the best")));
  result = won({measured(32, 10e3), measured(64, 20e3)});
  result.trials[0].verified = false;
  EXPECT_THAT(text(result), Not(HasSubstr("a row above the best"))) << "it is no row";
}

TEST_F(PrintedResult, SaysHowMuchOfAShortTimeIsAnEmptyLaunch) {
  device.peaks.launch_ns = 3000;
  EXPECT_THAT(speed_text(subject, 4610),
              StartsWith("4.61 us, of which 3.00 us are a launch that does nothing  1.74 TB/s"));
  EXPECT_EQ(json_rates(subject, 4610)["floor_ns"], 3000);
  EXPECT_THAT(speed_text(subject, 15e3), StartsWith("15.0 us  533 GB/s")) << "from five floors on it matters little";
  EXPECT_FALSE(json_rates(subject, 15e3).contains("floor_ns"));
  subject.objective = Objective::time_of(Use::graph);
  EXPECT_THAT(speed_text(subject, 4610), StartsWith("4.61 us  1.74 TB/s")) << "a node of a graph starts faster";
}

TEST_F(PrintedResult, LeadsWithTheArithmeticRateWhereMemoryIsNotTheLimit) {
  spec.work.flops = Expression::parse("400 * n", {});
  const SessionResult result = won({measured(64, 100e3)});
  EXPECT_THAT(winner(subject, result, "", plain),
              EndsWith("100 us  4.00 TFLOP/s  (80.0 GB/s, 8.0% of this device's copy rate)\n"));
  const Json best = json_result(subject, result, "")["best"];
  EXPECT_DOUBLE_EQ(best["flops_per_s"], 4e12);
  EXPECT_DOUBLE_EQ(best["bytes_per_s"], 80e9);

  StoredAnswer stored;
  stored.match.best = cache::BestRecord{};
  stored.match.best->configuration = "block=64";
  stored.match.best->median_ns = 100e3;
  Answer known = known_answer(subject, stored, plain);
  EXPECT_THAT(known.text(), HasSubstr("100 us  4.00 TFLOP/s  (80.0 GB/s"));
  EXPECT_DOUBLE_EQ(known.document()["best"]["flops_per_s"], 4e12);
}

TEST_F(PrintedResult, ColoursOnlyWhenAskedTo) {
  const SessionResult result = won({measured(32, 20e3)});
  EXPECT_THAT(winner(subject, result, "", plain), Not(HasSubstr("\x1b")));
  EXPECT_THAT(winner(subject, result, "", Style(true)), HasSubstr("\x1b[1;32m"));
}

TEST_F(PrintedResult, JsonHoldsEveryTrialAndTheBest) {
  const SessionResult result = won({failed(64, CompileError{"no", "log \xff"}), measured(32, 20e3)});
  const Json json = json_result(subject, result, "db");
  EXPECT_EQ(json["trials"].size(), 2u);
  EXPECT_EQ(json["best"]["configuration"]["block"], 32);
  EXPECT_EQ(json["outcomes"]["compile"], 1);
  EXPECT_DOUBLE_EQ(json["best"]["ceiling_fraction"], 0.4);
}

}  // namespace
}  // namespace tuner::cli
