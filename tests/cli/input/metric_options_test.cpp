#include <tuner/cli/input/metric_options.hpp>

#include <tests/support/testing.hpp>

#include <tuner/cli/print/metrics.hpp>

namespace tuner::cli {
namespace {

TEST(MetricOptions, TakesSetsNamesAndTheChipsOwn) {
  EXPECT_THAT(read_metrics({"textbook,ipc", "dram__bytes_read.sum"}, "--metrics"),
              ElementsAre("textbook", "ipc", "dram__bytes_read.sum"));
  EXPECT_TRUE(read_metrics({}, "--metrics").empty());
}

TEST(MetricOptions, SuggestsANameForAMisspeltOne) {
  EXPECT_THAT([] { read_metrics({"achieved_ocupancy"}, "--metrics"); },
              ThrowsMessage<UsageError>(HasSubstr("--metrics: unknown metric 'achieved_ocupancy'; did you mean "
                                                  "'achieved_occupancy'?")));
  EXPECT_THAT([] { read_metrics({"textbok"}, "--metrics"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean 'textbook'?")));
  EXPECT_THAT([] { read_objectives("enery"); }, ThrowsMessage<UsageError>(HasSubstr("did you mean 'energy'?")));
  EXPECT_THAT([] { read_objectives(""); }, ThrowsMessage<UsageError>(HasSubstr("nown: time, time_hot, ")));
}

TEST(MetricOptions, LetsTheFirstOfSeveralObjectivesDirectTheSearch) {
  EXPECT_THAT(read_objectives("energy"), ElementsAre("energy"));
  EXPECT_THAT(read_objectives("time,energy"), ElementsAre("time", "energy"));
}

TEST(MetricOptions, TakesTheLargestOfSharesAndRatesUnlessToldOtherwise) {
  for (const char* const name : {"achieved_occupancy", "gld_throughput", "ipc", "l2_tex_hit_rate"})
    EXPECT_EQ(read_objectives(name).front(), "max:" + std::string(name));
  for (const char* const name : {"gld_transactions", "stall_sync", "power", "sm__warps_active.avg"})
    EXPECT_EQ(read_objectives(name).front(), name);
  EXPECT_EQ(read_objectives("max:sm__warps_active.avg").front(), "max:sm__warps_active.avg");
  EXPECT_EQ(read_objectives("min:achieved_occupancy").front(), "achieved_occupancy");
  EXPECT_EQ(read_objectives("min:time").front(), "time");
  EXPECT_THAT(read_objectives("time,ipc"), ElementsAre("time", "max:ipc"));
  EXPECT_THAT([] { read_objectives("max:time"); }, ThrowsMessage<UsageError>(HasSubstr("of times the smallest wins")));
  EXPECT_THAT([] { read_objectives("max:enery"); }, ThrowsMessage<UsageError>(HasSubstr("did you mean 'energy'?")));
}

TEST(MetricOptions, ReadsTargetsInTheUnitOfTheObjective) {
  const auto target = [](const char* text, const char* objective) {
    return parse_metric(text, "--target", {read_objectives(objective).front()});
  };
  EXPECT_DOUBLE_EQ(target("12us", "time"), 12e3);
  EXPECT_DOUBLE_EQ(target("1.5ms", "kernel_time"), 1.5e6);
  EXPECT_DOUBLE_EQ(target("80%", "achieved_occupancy"), 80);
  EXPECT_DOUBLE_EQ(target("3.2 TB/s", "dram_read_throughput"), 3.2e12);
  EXPECT_DOUBLE_EQ(target("40mJ", "energy"), 0.04);
  EXPECT_DOUBLE_EQ(target("300", "power"), 300);
  EXPECT_DOUBLE_EQ(target("2M", "gld_transactions"), 2e6);
  EXPECT_DOUBLE_EQ(target("1.5", "max:sm__warps_active.avg"), 1.5);
  EXPECT_THAT(
      [&] { target("12us", "energy"); },
      ThrowsMessage<UsageError>(HasSubstr("--target: '12us' is not a value of energy: a number with the unit J")));
  EXPECT_THAT([&] { target("12", "time"); }, ThrowsMessage<UsageError>(HasSubstr("a time with a unit")));
}

TEST(MetricOptions, ShowsValuesInTheirUnits) {
  EXPECT_EQ(format_metric("achieved_occupancy", 75.61), "75.6%");
  EXPECT_EQ(format_metric("dram_read_throughput", 1.57e12), "1.57 TB/s");
  EXPECT_EQ(format_metric("gld_transactions", 4194304), "4,194,304");
  EXPECT_EQ(format_metric("energy", 0.04324), "43.2 mJ");
  EXPECT_EQ(format_metric("energy", 0), "0 J");
  EXPECT_EQ(format_metric("edp", 3.8e-6), "3.8 uJ s");
  EXPECT_EQ(format_metric("power", 490.8), "491 W");
  EXPECT_EQ(format_metric("dram__bytes_read.sum", 1234.5), "1234.5");
}

TEST(MetricOptions, ListsWhatIsKnownOfThoseThatWereAskedFor) {
  const std::map<std::string, double> known{
      {"ipc", 2}, {"achieved_occupancy", 75.61}, {"dram__x.sum", 7}, {"clock_step_ns", 500}};
  EXPECT_THAT(metric_list({"achieved_occupancy", "gld_efficiency", "ipc", "dram__x.sum"}, known),
              ElementsAre(AllOf(HasSubstr("achieved_occupancy  75.6%  "), HasSubstr("resident warps")),
                          HasSubstr("ipc                     2  instructions a cycle"), "dram__x.sum             7"));
  EXPECT_TRUE(metric_list({"energy"}, {}).empty());
}

Trial trial(int block, double ns, double joules, bool verified = true) {
  Trial one;
  one.configuration = {{"block", block}};
  Measurement measurement;
  measurement.median_ns = ns;
  measurement.metrics["energy"] = joules;
  one.outcome = measurement;
  one.verified = verified;
  return one;
}

TEST(ParetoFront, KeepsWhatNoOtherBeatsInAll) {
  std::vector<Trial> trials{trial(1, 30, 1), trial(2, 10, 3), trial(3, 20, 2), trial(4, 25, 2), trial(5, 20, 2.5)};
  trials.push_back(trial(6, 1, 1, false));  // not verified
  trials.push_back(trial(7, 5, 9));         // fastest of all, but its energy is not known
  std::get<Measurement>(trials.back().outcome).metrics.clear();
  Trial failed;
  failed.outcome = Timeout{"hangs"};
  trials.push_back(failed);
  std::vector<std::string> found;
  for (const Trial* const one : pareto_front(trials, {"time", "energy"})) found.push_back(one->configuration.text());
  EXPECT_THAT(found, ElementsAre("block=2", "block=3", "block=1"));
}

TEST(ParetoFront, KeepsTheLargestWhereThatWins) {
  const std::vector<Trial> trials{trial(1, 1000, 0.001), trial(2, 3000, 0.002), trial(3, 2000, 0.001)};
  const std::string text = pareto_table(trials, {"time", "max:energy"});
  EXPECT_THAT(text, AllOf(HasSubstr("block=1"), HasSubstr("block=2"), Not(HasSubstr("block=3")), HasSubstr("2 mJ"),
                          HasSubstr("time and max:energy")));
}

TEST(ParetoFront, IsATableWithEachObjectiveInItsUnit) {
  const std::string text = pareto_table({trial(1, 3000, 0.001), trial(2, 1000, 0.003)}, {"time", "energy"});
  EXPECT_THAT(text, AllOf(HasSubstr("2 configurations that no other beats in all"), HasSubstr("1.00 us"),
                          HasSubstr("3 mJ"), HasSubstr("block=1")));
  EXPECT_EQ(pareto_table({}, {"time", "energy"}), "no trial knows all of time, energy\n");
}

}  // namespace
}  // namespace tuner::cli
