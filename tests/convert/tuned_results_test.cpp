#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tests/stored_tuning.hpp>
#include <tuner/convert/tuned_results.hpp>

namespace tuner::convert {
namespace {

using test::key_of;
using test::trial_of;

class TunedResultsTest : public ::testing::Test {
 protected:
  TunedResults results_of(const TunedOptions& options) { return tuned_results(std::span(&database, 1), options); }
  void record(const cache::SessionKey& key, const std::vector<cache::TrialRecord>& trials) {
    test::record(database, key, trials);
  }

  cache::Database database = cache::Database::in_memory();
};

TEST_F(TunedResultsTest, AreTheBestOfEachSizeAndDevice) {
  record(key_of(4096), {trial_of("block=256", 20), trial_of("block=64", 30)});
  record(key_of(1024), {trial_of("block=64", 10)});
  record(key_of(1024, 108), {trial_of("block=128", 15)});
  const TunedResults results = results_of({.kernel = "axpy"});
  ASSERT_EQ(results.rows.size(), 3u);
  EXPECT_EQ(results.rows[0].device.sm_count, 108);
  EXPECT_EQ(results.rows[1].problem.sizes.at("n"), 1024);
  EXPECT_EQ(results.rows[2].configuration.text(), "block=256");
  EXPECT_EQ(results.rows[2].median_ns, 20);
  EXPECT_EQ(results_of({.kernel = "axpy", .device_key = key_of(1, 108).device.key}).rows.size(), 1u);
}

TEST_F(TunedResultsTest, OfAPortfolioShareConfigurationsBetweenSizes) {
  record(key_of(1024), {trial_of("block=64", 100), trial_of("block=128", 102), trial_of("block=256", 150)});
  record(key_of(4096), {trial_of("block=256", 100), trial_of("block=128", 101), trial_of("block=64", 150)});
  cache::TrialRecord wrong = trial_of("block=512", 1);
  wrong.verified = false;
  record(key_of(8192), {trial_of("block=128", 10), wrong});
  const TunedResults results = results_of({.kernel = "axpy", .portfolio = 1});
  ASSERT_EQ(results.rows.size(), 3u);
  for (const TunedSize& row : results.rows) EXPECT_EQ(row.configuration.text(), "block=128");
  EXPECT_NEAR(results.rows[0].share, 100.0 / 102, 1e-9);
  ASSERT_EQ(results.portfolios.size(), 1u);
  EXPECT_NEAR(results.portfolios[0].worst, 100.0 / 102, 1e-9);
  EXPECT_EQ(results.portfolios[0].unmeasured, 0u);
}

TEST_F(TunedResultsTest, SayAtHowManySizesNothingOfThePortfolioWasMeasured) {
  record(key_of(1024), {trial_of("block=64", 100)});
  record(key_of(2048), {trial_of("block=64", 100)});
  record(key_of(4096), {trial_of("block=256", 100)});
  const TunedResults results = results_of({.kernel = "axpy", .portfolio = 1});
  ASSERT_EQ(results.portfolios.size(), 1u);
  EXPECT_EQ(results.portfolios[0].unmeasured, 1u);
  EXPECT_EQ(results.portfolios[0].unmatched, 3u);
  EXPECT_EQ(results.portfolios[0].worst, 1);
  EXPECT_EQ(results.rows.size(), 2u);
}

TEST_F(TunedResultsTest, AreOfTheSourceThatIsAskedFor) {
  cache::SessionKey old = key_of(1024);
  old.kernel.source_hash = std::string(64, 'b');
  record(old, {trial_of("block=32", 50)});
  record(key_of(2048), {trial_of("block=64", 100)});
  const TunedResults results = results_of({.kernel = "axpy", .source_hash = std::string(64, 'b')});
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].configuration.text(), "block=32");
  EXPECT_THAT(error_of([&] { results_of({.kernel = "axpy", .source_hash = std::string(64, 'c')}); }),
              HasSubstr("for its present text"));
}

TEST_F(TunedResultsTest, LeaveOutWhatIsQuarantined) {
  const cache::SessionKey key = key_of(1024);
  record(key, {trial_of("block=64", 100), trial_of("block=128", 120)});
  record(key_of(1 << 20), {trial_of("block=128", 100)});
  database.quarantine(key.device, key.kernel, key.problem, "block=64", "it hung");
  const TunedResults results = results_of({.kernel = "axpy", .portfolio = 2});
  for (const TunedSize& row : results.rows) EXPECT_EQ(row.configuration.text(), "block=128");
}

TEST_F(TunedResultsTest, LeaveOutWhatServingWouldReject) {
  record(key_of(1024), {trial_of("block=777777", 100), trial_of("block=128", 120)});
  record(key_of(2048), {trial_of("block=128", 120), trial_of("block=777777", 100)});
  TunedOptions options{.kernel = "axpy"};
  options.objection = [](const cache::Context& about, const std::string& one) -> std::optional<std::string> {
    EXPECT_EQ(about.device.compute_capability, 90);
    return one == "block=777777" ? std::optional<std::string>("no value of block") : std::nullopt;
  };
  ASSERT_EQ(results_of(options).rows.size(), 1u);
  EXPECT_EQ(results_of(options).rows[0].problem.sizes.at("n"), 2048);
  options.portfolio = 2;
  for (const TunedSize& row : results_of(options).rows) EXPECT_EQ(row.configuration.text(), "block=128");
  options.objection = [](const cache::Context&, const std::string&) { return std::optional<std::string>("no"); };
  EXPECT_THAT(error_of([&] { results_of(options); }), HasSubstr("may be served: block="));
}

TEST_F(TunedResultsTest, LeaveACpuOutWhereThereIsAGpu) {
  cache::SessionKey cpu = key_of(1024);
  cpu.device = {"host x86", "a CPU", "host", 0, 4};
  record(cpu, {trial_of("block=32", 50)});
  EXPECT_EQ(results_of({.kernel = "axpy"}).rows.size(), 1u);
  record(key_of(1024), {trial_of("block=64", 100)});
  const TunedResults results = results_of({.kernel = "axpy"});
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].device.backend, "cuda");
}

}  // namespace
}  // namespace tuner::convert
