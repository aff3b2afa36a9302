#include <tuner/core/device/metric.hpp>

#include <tuner/core/result/objective.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(Metric, IsKnownByOneNameOnlyWithAMeaning) {
  std::set<std::string_view> names;
  for (const NamedMetric& metric : named_metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.meaning.empty()) << metric.name;
    EXPECT_EQ(find_metric(metric.name), &metric);
    EXPECT_EQ(find_metric_set(metric.name), nullptr) << "a set and a metric share " << metric.name;
    for (const MetricTerm& term : metric.terms)
      EXPECT_NE(term.counters.find("__"), std::string_view::npos) << term.counters;
  }
  EXPECT_EQ(find_metric("dram__bytes_read.sum"), nullptr);
}

TEST(Metric, SaysWhereItComesFrom) {
  for (const char* const name : {"energy", "power", "edp"}) EXPECT_EQ(source_of(name), MetricSource::sensor) << name;
  for (const char* const name : {"ipc", "time", "dram__bytes_read.sum"})
    EXPECT_EQ(source_of(name), MetricSource::counters) << name;
  EXPECT_EQ(source_of("error"), MetricSource::outputs);
  for (const NamedMetric& metric : named_metrics())
    EXPECT_EQ(metric.terms.empty(), metric.source != MetricSource::counters) << metric.name;
}

TEST(Objective, MinimisesTheReciprocalOfWhatIsLargestAtItsBest) {
  Measurement measurement;
  measurement.median_ns = 1000;
  measurement.metrics = {{"ipc", 4}, {"idle", 0}};
  EXPECT_EQ(Objective{"time"}(measurement), 1000);
  EXPECT_EQ(Objective{"ipc"}(measurement), 4);
  EXPECT_EQ(Objective{"max:ipc"}(measurement), 0.25);
  EXPECT_EQ(Objective{"max:ipc"}.value(measurement), 4);
  EXPECT_EQ(Objective{"max:ipc"}.metric(), "ipc");
  EXPECT_GT(Objective{"max:idle"}(measurement), 1e6);
  EXPECT_FALSE(Objective{"max:none"}(measurement));
}

TEST(MetricSet, HoldsMetricsThatAreCounted) {
  for (const MetricSet& set : metric_sets()) {
    for (const std::string_view name : set.metrics) {
      const bool is_chips_own = name.find("__") != std::string_view::npos;  // CuptiHost tests look for those on chips
      ASSERT_TRUE(is_chips_own || find_metric(name) != nullptr) << name;
      EXPECT_EQ(source_of(name), MetricSource::counters) << name;
    }
  }
  EXPECT_THAT(find_metric_set("textbook")->metrics, SizeIs(9));
}

TEST(MetricSet, IsReplacedByItsMetricsEachOnce) {
  const std::vector<std::string> names{"ipc", "roofline", "dram_read_bytes", "ipc"};
  EXPECT_THAT(expand_metrics(names), ElementsAre("ipc", "kernel_time", "dram_read_bytes", "dram_write_bytes",
                                                 "flop_count_hp", "flop_count_sp", "flop_count_dp"));
}

}  // namespace
}  // namespace tuner
