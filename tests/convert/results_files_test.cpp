// Results that other programs wrote, and those that a database has.

#include <nlohmann/json.hpp>

#include <tests/support/stored_tuning.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/convert/tuned_results.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/scorer.hpp>

namespace tuner::convert {
namespace {

using nlohmann::json;
using test::key_of;
using test::trial_of;

cache::TrialRecord failed(const std::string& configuration, const std::string& kind) {
  cache::TrialRecord trial = trial_of(configuration, 0);
  trial.kind = kind;
  trial.message = "why";
  trial.verified = false;
  trial.samples_ns.clear();
  return trial;
}

/// One measured trial, and one failure of each kind.
std::vector<cache::TrialRecord> all_kinds() {
  std::vector<cache::TrialRecord> trials{trial_of("block=64 fast=true kind=a", 2e6)};
  int block = 0;
  for (const char* kind : {"compile", "launch", "timeout", "wrong", "invalid"})
    trials.push_back(failed("block=" + std::to_string(++block) + " fast=false kind=a", kind));
  return trials;
}

class StoredResults : public ::testing::Test {
 protected:
  void add(const cache::SessionKey& key, const std::vector<cache::TrialRecord>& trials) {
    test::record(database_, key, trials);
  }
  TunedResults results_of(const TunedOptions& options) { return tuned_results(std::span(&database_, 1), options); }
  std::vector<RecordedTuning> tunings(const TuningFilter& filter = {}) {
    return recorded_tunings(std::span(&database_, 1), filter);
  }

  cache::Database database_ = cache::Database::in_memory();
};

using ResultsFiles = StoredResults;
using TunedResultsTest = StoredResults;

TEST_F(ResultsFiles, HaveNumbersWithAPointAsNumbers) {
  add(key_of(1024), {trial_of("step=0.50", 2e6), trial_of("step=1.0", 3e6)});
  const json t4 = json::parse(t4_text(tunings().front()));
  EXPECT_EQ(t4["results"][0]["configuration"]["step"], json(0.5));
  const json cache = json::parse(kernel_tuner_cache_text(tunings().front(), {}));
  EXPECT_EQ(cache["tune_params"]["step"], json({0.5, 1.0}));
  EXPECT_EQ(cache["cache"]["0.5"]["step"], json(0.5));
  EXPECT_TRUE(cache["cache"].contains("1.0"));
}

TEST_F(ResultsFiles, AreOfTheSourceThatIsAskedFor) {
  cache::SessionKey old = key_of(1024);
  old.kernel.source_hash = std::string(64, 'b');
  add(old, {trial_of("block=64", 2e6), trial_of("block=128", 3e6)});
  add(key_of(1024), {trial_of("block=32", 2e6)});
  const std::vector<RecordedTuning> found = tunings({.kernel = "axpy", .source_hash = std::string(64, 'a')});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].trials.size(), 1u);
  EXPECT_THAT(error_of([&] { tunings({.kernel = "axpy", .source_hash = std::string(64, 'c')}); }),
              HasSubstr("for its present text"));
}

TEST_F(ResultsFiles, T4HasWhatTheSchemaRequires) {
  add(key_of(1024), all_kinds());
  const std::string text = t4_text(tunings().front());
  EXPECT_THAT(text, StartsWith(kResultsMark));
  const json file = json::parse(text);
  EXPECT_EQ(file["schema_version"], "1.0.0");
  EXPECT_EQ(file["metadata"]["timeunit"], "milliseconds");
  ASSERT_EQ(file["results"].size(), 6u);
  std::vector<std::string> why;
  for (const json& result : file["results"]) {
    why.push_back(result["invalidity"]);
    EXPECT_TRUE(result["timestamp"].is_string());
    EXPECT_TRUE(result["configuration"].is_object());
    EXPECT_TRUE(result["correctness"].is_number());
    EXPECT_TRUE(result["times"]["runtimes"].is_array());
    for (const char* part : {"compilation", "benchmark", "framework", "search_algorithm", "validation"})
      EXPECT_TRUE(result["times"][part].is_number()) << part;
    EXPECT_EQ(result["objectives"], json({"time"}));
  }
  EXPECT_THAT(why, ElementsAre("correct", "compile", "runtime", "timeout", "correctness", "constraints"));
  const json& first = file["results"][0];
  EXPECT_EQ(first["configuration"], json({{"block", 64}, {"fast", true}, {"kind", "a"}}));
  EXPECT_EQ(first["measurements"][0], json({{"name", "time"}, {"value", 2.0}, {"unit", "ms"}}));
  EXPECT_EQ(first["times"]["compilation"], 250.0);
  EXPECT_EQ(first["times"]["runtimes"], json({2.0, 2.0}));
  EXPECT_EQ(first["timestamp"], "2026-09-21 14:13:20.000+00:00");
}

TEST_F(ResultsFiles, T4HasTheResourcesOfEachConfigurationIfTheyAreKnown) {
  cache::TrialRecord known = trial_of("block=32", 2e6);
  known.resources = {.registers = 40, .spill_bytes = 8, .occupancy = 0.5};
  add(key_of(1024), {known, trial_of("block=64", 3e6)});
  const json results = json::parse(t4_text(tunings().front()))["results"];
  EXPECT_EQ(results[0]["measurements"], json({{{"name", "time"}, {"value", 2.0}, {"unit", "ms"}},
                                              {{"name", "registers"}, {"value", 40}, {"unit", ""}},
                                              {{"name", "spill_bytes"}, {"value", 8}, {"unit", "bytes"}},
                                              {{"name", "occupancy"}, {"value", 0.5}, {"unit", ""}}}));
  EXPECT_EQ(results[1]["measurements"].size(), 1u);
}

TEST_F(ResultsFiles, BothFilesOfOneTuningAreReadBackAsTheSameRecording) {
  add(key_of(1024), all_kinds());
  const RecordedTuning tuning = tunings().front();
  for (const std::string& text : {t4_text(tuning), kernel_tuner_cache_text(tuning, {})}) {
    const replay::RecordedSpace recorded = replay::parse_recorded_space(text, "file.json");
    EXPECT_EQ(recorded.rows.size(), 6u);
    EXPECT_EQ(recorded.valid_count(), 1u);
    EXPECT_DOUBLE_EQ(replay::Scorer(recorded).optimum(), 2.0);
    for (const replay::RecordedRow& row : recorded.rows) EXPECT_NEAR(row.eval_seconds, 0.875, 1e-12);
  }
}

TEST_F(ResultsFiles, AKernelTunerCacheHasPythonsKeysInTheOrderOfTheParameters) {
  add(key_of(1024), all_kinds());
  const std::string text = kernel_tuner_cache_text(tunings().front(), {"kind", "block"});
  EXPECT_TRUE(text.ends_with("}\n}")) << "or Kernel Tuner takes it for interrupted";
  const json file = json::parse(text);
  EXPECT_EQ(file["tune_params_keys"], json({"kind", "block", "fast"}));
  EXPECT_EQ(file["tune_params"]["block"], json({1, 2, 3, 4, 5, 64}));
  EXPECT_EQ(file["problem_size"], 1024);
  EXPECT_EQ(file["device_name"], "GPU of 132");
  EXPECT_EQ(file["kernel_name"], "axpy");
  const json& good = file["cache"]["a,64,True"];
  EXPECT_EQ(good["time"], 2.0);
  EXPECT_EQ(good["fast"], true);
  EXPECT_EQ(good["compile_time"], 250.0);
  EXPECT_EQ(file["cache"]["a,1,False"]["__error__"], "CompilationFailedConfig");
  EXPECT_EQ(file["cache"]["a,3,False"]["time"], "RuntimeFailedConfig");
  EXPECT_EQ(file["cache"]["a,5,False"]["time"], "InvalidConfig");
}

TEST_F(ResultsFiles, AnObjectiveThatIsNoTimeKeepsItsNameAndDirection) {
  cache::SessionKey key = key_of(1024);
  key.kernel.objective = "max:gflops";
  cache::TrialRecord trial = trial_of("block=64", 2e6);
  trial.metrics = {{"gflops", 900}, {"energy", 0.5}};
  add(key, {trial});
  const json cached = json::parse(kernel_tuner_cache_text(tunings().front(), {}));
  EXPECT_EQ(cached["objective"], "gflops");
  EXPECT_EQ(cached["objective_higher_is_better"], true);
  EXPECT_EQ(cached["cache"]["64"]["gflops"], 900.0);
  EXPECT_EQ(cached["cache"]["64"]["time"], 2.0);
  const json t4 = json::parse(t4_text(tunings().front()));
  EXPECT_EQ(t4["results"][0]["measurements"][0]["name"], "gflops");
  EXPECT_EQ(t4["results"][0]["measurements"][1]["name"], "energy");
}

TEST_F(ResultsFiles, AreOfTheProblemsThatAreAskedFor) {
  add(key_of(1024), {trial_of("block=64", 1e6)});
  add(key_of(1024, 132, "T=double"), {trial_of("block=64", 1e6)});
  EXPECT_EQ(tunings({.choices = {{"T", "double"}}}).size(), 1u);
  EXPECT_EQ(tunings({.sizes = {{"n", 1024}}}).size(), 2u);
  EXPECT_THAT(error_of([&] { tunings({.sizes = {{"n", 7}}}); }), HasSubstr("for that problem"));
}

TEST_F(TunedResultsTest, AreTheBestOfEachSizeAndDevice) {
  add(key_of(4096), {trial_of("block=256", 20), trial_of("block=64", 30)});
  add(key_of(1024), {trial_of("block=64", 10)});
  add(key_of(1024, 108), {trial_of("block=128", 15)});
  const TunedResults results = results_of({.kernel = "axpy"});
  ASSERT_EQ(results.rows.size(), 3u);
  EXPECT_EQ(results.rows[0].device.sm_count, 108);
  EXPECT_EQ(results.rows[1].problem.sizes.at("n"), 1024);
  EXPECT_EQ(results.rows[2].configuration.text(), "block=256");
  EXPECT_EQ(results.rows[2].median_ns, 20);
  EXPECT_EQ(results_of({.kernel = "axpy", .device_key = key_of(1, 108).device.key}).rows.size(), 1u);
}

TEST_F(TunedResultsTest, AreOfTheSourceThatIsAskedFor) {
  cache::SessionKey old = key_of(1024);
  old.kernel.source_hash = std::string(64, 'b');
  add(old, {trial_of("block=32", 50)});
  add(key_of(2048), {trial_of("block=64", 100)});
  const TunedResults results = results_of({.kernel = "axpy", .source_hash = std::string(64, 'b')});
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].configuration.text(), "block=32");
  EXPECT_THAT(error_of([&] { results_of({.kernel = "axpy", .source_hash = std::string(64, 'c')}); }),
              HasSubstr("for its present text"));
}

TEST_F(TunedResultsTest, LeaveOutWhatIsQuarantined) {
  const cache::SessionKey key = key_of(1024);
  add(key, {trial_of("block=64", 100), trial_of("block=128", 120)});
  add(key_of(1 << 20), {trial_of("block=128", 100)});
  database_.quarantine(key.device, key.kernel, key.problem, "block=64", "it hung");
  const TunedResults results = results_of({.kernel = "axpy"});
  ASSERT_EQ(results.rows.size(), 1u);
  for (const TunedSize& row : results.rows) EXPECT_EQ(row.configuration.text(), "block=128");
}

TEST_F(TunedResultsTest, LeaveOutWhatServingWouldReject) {
  add(key_of(1024), {trial_of("block=777777", 100), trial_of("block=128", 120)});
  add(key_of(2048), {trial_of("block=128", 120), trial_of("block=777777", 100)});
  TunedOptions options{.kernel = "axpy"};
  options.objection = [](const cache::Context& about, const std::string& one) -> std::optional<std::string> {
    EXPECT_EQ(about.device.compute_capability, 90);
    return one == "block=777777" ? std::optional<std::string>("no value of block") : std::nullopt;
  };
  ASSERT_EQ(results_of(options).rows.size(), 1u);
  EXPECT_EQ(results_of(options).rows[0].problem.sizes.at("n"), 2048);
  options.objection = [](const cache::Context&, const std::string&) { return std::optional<std::string>("no"); };
  EXPECT_THAT(error_of([&] { results_of(options); }), HasSubstr("may be served: block="));
}

TEST_F(TunedResultsTest, LeaveACpuOutWhereThereIsAGpu) {
  cache::SessionKey cpu = key_of(1024);
  cpu.device = {"host x86", "a CPU", "host", 0, 4};
  add(cpu, {trial_of("block=32", 50)});
  EXPECT_EQ(results_of({.kernel = "axpy"}).rows.size(), 1u);
  add(key_of(1024), {trial_of("block=64", 100)});
  const TunedResults results = results_of({.kernel = "axpy"});
  ASSERT_EQ(results.rows.size(), 1u);
  EXPECT_EQ(results.rows[0].device.backend, "cuda");
}

}  // namespace
}  // namespace tuner::convert
