#include <cmath>
#include <filesystem>

#include <zlib.h>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/scorer.hpp>

namespace tuner::replay {
namespace {

std::string refusal_of(const std::string& text) {
  return error_of([&] { parse_recorded_space(text, "spaces/made.csv"); });
}

double optimum_of(const RecordedSpace& recorded) { return Scorer(recorded).optimum(); }

const std::string csv =
    "bx,kind,fast,eval_time_s,objective\n"
    "16,a,true,0.5,2.25\n"
    "32,a,false,0.25,\n"
    "\n"
    "32,\"b,c\",true,1,1.5\n";

TEST(CsvReader, ReadsValuesCostsAndFailures) {
  const RecordedSpace recorded = parse_recorded_space(csv, "spaces/made.csv.gz");
  EXPECT_EQ(recorded.name, "made");
  ASSERT_EQ(recorded.space->size(), 3u);
  EXPECT_EQ(recorded.space->configuration(0).text(), "bx=16 fast=true kind=a");
  EXPECT_EQ(*recorded.space->configuration(2).find("kind"), Value("b,c"));
  EXPECT_EQ(recorded.rows[0].objective, 2.25);
  EXPECT_EQ(recorded.rows[1].objective, std::nullopt);
  EXPECT_EQ(recorded.rows[1].eval_seconds, 0.25);
  EXPECT_NE(recorded.rows[1].kind, OutcomeKind::ok);
  EXPECT_EQ(recorded.valid_count(), 2u);
  EXPECT_EQ(optimum_of(recorded), 1.5);
}

TEST(CsvReader, ReadsOutcomesAndWindowsLineEnds) {
  const RecordedSpace recorded =
      parse_recorded_space("a,eval_time_s,objective,outcome\r\n1,0.5,,compile\r\n2,1,3,ok\r\n", "x.csv");
  EXPECT_EQ(recorded.rows[0].kind, OutcomeKind::compile);
  EXPECT_EQ(recorded.rows[1].kind, OutcomeKind::ok);
}

TEST(CsvReader, NamesFileAndLineOfWhatItCannotRead) {
  const std::pair<std::string, std::string> table[] = {
      {"", "made.csv: the file is empty"},
      {"bx,eval_time_s\n1,2\n", "made.csv:1: there is no column 'objective'"},
      {"bx,objective\n1,2\n", "made.csv:1: there is no column 'eval_time_s'"},
      {"eval_time_s,objective\n1,2\n", "made.csv:1: there is no column with a tuning parameter"},
      {"bx,bx,eval_time_s,objective\n", "made.csv:1: column 'bx' is given twice"},
      {"bx,eval_time_s,objective\n1,2\n", "made.csv:2: 2 fields where the header names 3"},
      {"bx,eval_time_s,objective\n1,2,fast\n", "made.csv:2: column 'objective' holds 'fast', which is not a number"},
      {"bx,eval_time_s,objective\n\n1,-2,1\n", "made.csv:3: column 'eval_time_s' is negative"},
      {"bx,eval_time_s,objective\n1,2,inf\n", "made.csv:2: column 'objective' holds 'inf', which is not a number"},
      {"bx,eval_time_s,objective\n1,inf,3\n", "made.csv:2: column 'eval_time_s' holds 'inf', which is not a number"},
      {"bx,eval_time_s,objective\n1,2,nan\n", "made.csv:2: column 'objective' holds 'nan', which is not a number"},
      {"bx,eval_time_s,objective\n1,2,3\n2,2,3\n1,5,6\n", "made.csv:4: the configuration of line 2 again"},
      {"bx,eval_time_s,objective\n", "made.csv: there is no row"},
      {"bx,eval_time_s,objective,outcome\n1,2,3,odd\n", "made.csv:2: unknown outcome 'odd'"},
  };
  for (const auto& [text, message] : table) EXPECT_THAT(refusal_of(text), HasSubstr(message)) << text;
}

const std::string cache_head =
    R"({"device_name":"A100","kernel_name":"conv","problem_size":"4096","tune_params_keys":["bx","t"],)"
    "\n"
    R"("tune_params":{"bx":[16,32],"t":[1,2]},"objective":"time","cache":{)"
    "\n";
const std::string first_entry =
    R"("16,1":{"bx":16,"t":1,"time":3.87,"times":[3.8],"compile_time":900,"verification_time":0,"benchmark_time":100,"strategy_time":7,"framework_time":2})";
const std::string second_entry = R"("32,1":{"bx":32,"t":1,"time":"CompilationFailedConfig","compile_time":50})";

TEST(KernelTunerReader, ReadsACacheFile) {
  const RecordedSpace recorded =
      parse_recorded_space(cache_head + first_entry + ",\n" + second_entry + "}}", "cache.json");
  ASSERT_EQ(recorded.space->size(), 2u);
  const auto first = recorded.space->find(Configuration{{"bx", 16}, {"t", 1}});
  const auto second = recorded.space->find(Configuration{{"bx", 32}, {"t", 1}});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(recorded.rows[*first].objective, 3.87);
  EXPECT_NEAR(recorded.rows[*first].eval_seconds, 1.002, 1e-12);
  EXPECT_EQ(recorded.rows[*second].kind, OutcomeKind::compile);
  EXPECT_EQ(recorded.rows[*second].objective, std::nullopt);
}

TEST(KernelTunerReader, SuppliesClosingBracesThatAnInterruptedRunLeftOut) {
  for (const std::string end : {"", ",", ",\n", "}", "}}"}) {
    const RecordedSpace recorded =
        parse_recorded_space(cache_head + first_entry + ",\n" + second_entry + end, "cache.json");
    EXPECT_EQ(recorded.space->size(), 2u) << "with the end '" << end << "'";
  }
}

TEST(KernelTunerReader, DropsAHalfWrittenLastEntry) {
  for (std::size_t length = 1; length < second_entry.size(); ++length) {
    const RecordedSpace recorded =
        parse_recorded_space(cache_head + first_entry + ",\n" + second_entry.substr(0, length), "cache.json");
    EXPECT_EQ(recorded.space->size(), 1u) << "after " << second_entry.substr(0, length);
  }
}

TEST(KernelTunerReader, TellsTheKindsOfFailure) {
  const auto kind_of = [](const std::string& word) {
    const std::string entry = R"("1,1":{"bx":1,"t":1,"time":")" + word + R"("})";
    return parse_recorded_space(cache_head + entry + "}}", "cache.json").rows[0].kind;
  };
  EXPECT_EQ(kind_of("RuntimeFailedConfig"), OutcomeKind::launch);
  EXPECT_EQ(kind_of("CompilationFailedConfig"), OutcomeKind::compile);
  EXPECT_EQ(kind_of("InvalidConfig"), OutcomeKind::invalid);
}

TEST(KernelTunerReader, TakesTheKindOfFailureFromNewerFilesThatHaveNoTimeThen) {
  const std::string entry = R"("1,1":{"bx":1,"t":1,"__error__":"CompilationFailedConfig"})";
  EXPECT_EQ(parse_recorded_space(cache_head + entry + "}}", "cache.json").rows[0].kind, OutcomeKind::compile);
}

std::string cache_of(const std::string& objective, const std::string& entries) {
  return R"({"tune_params_keys":["bx"],)" + objective + R"("cache":{)" + entries + "}}";
}

TEST(KernelTunerReader, KeepsIntegersAboveThoseOf64BitsAsTheyAreWritten) {
  for (const char* const value : {"18446744073709551615", "9223372036854775808"}) {
    const std::string entry = "\"1\":{\"bx\":" + std::string(value) + ",\"time\":1}";
    const RecordedSpace recorded = parse_recorded_space(cache_of("", entry), "cache.json");
    EXPECT_EQ(recorded.space->configuration(0).text(), "bx=" + std::string(value));
  }
}

TEST(KernelTunerReader, MinimisesTheReciprocalOfARate) {
  const std::string entries =
      R"("1":{"bx":1,"time":2,"GFLOP/s":100},"2":{"bx":2,"time":1,"GFLOP/s":200},"4":{"bx":4,"time":"RuntimeFailedConfig"})";
  const RecordedSpace recorded = parse_recorded_space(cache_of(R"("objective":"GFLOP/s",)", entries), "cache.json");
  const auto best = recorded.space->find(Configuration{{"bx", 2}});
  EXPECT_EQ(optimum_of(recorded), recorded.rows[*best].objective);
  EXPECT_EQ(optimum_of(recorded), 1.0 / 200);
  EXPECT_EQ(recorded.unit, "1 / (GFLOP/s)");
  EXPECT_EQ(recorded.valid_count(), 2u);
}

TEST(KernelTunerReader, AsksForTheDirectionOfAnObjectiveThatItDoesNotKnow) {
  const std::string entries = R"("1":{"bx":1,"time":2,"quality":100},"2":{"bx":2,"time":1,"quality":200})";
  EXPECT_THAT(refusal_of(cache_of(R"("objective":"quality",)", entries)),
              HasSubstr("\"objective_higher_is_better\": true or false"));
  const std::string given = R"("objective":"quality","objective_higher_is_better":)";
  EXPECT_EQ(optimum_of(parse_recorded_space(cache_of(given + "true,", entries), "x")), 1.0 / 200);
  EXPECT_EQ(optimum_of(parse_recorded_space(cache_of(given + "false,", entries), "x")), 100);
}

TEST(KernelTunerReader, DoesNotTakeATimeForAnotherObjective) {
  const std::string entries = R"("1":{"bx":1,"time":2,"GB/s":100},"2":{"bx":2,"time":1})";
  EXPECT_THAT(refusal_of(cache_of(R"("objective":"GB/s",)", entries)), HasSubstr("the entry '2' has no 'GB/s'"));
}

TEST(ReadRecordedSpace, TellsT4FromAKernelTunerCacheByWhatTheFileHoldsNotByItsWords) {
  const std::string text = R"({"results":[{"configuration":{"cache":1},"measurements":[{"name":"time","value":3}]},)"
                           R"({"configuration":{"cache":2},"measurements":[{"name":"time","value":4}]}]})";
  EXPECT_EQ(optimum_of(parse_recorded_space(text, "t4.json")), 3);
}

TEST(ReadRecordedSpace, RefusesWhatIsTooLargeOrTooDeepForASpace) {
  EXPECT_THAT(refusal_of("{\"cache\":" + std::string(100000, '[')), HasSubstr("nested more than 64 levels deep"));
  std::string wide = "eval_time_s,objective";
  for (int i = 0; i < 300; ++i) wide += ",p" + std::to_string(i);
  EXPECT_THAT(refusal_of(wide + "\n1,2\n"), HasSubstr("made.csv:1: more than 256 columns"));
  std::string many = "{\"cache\":[";
  many.append((std::size_t{1} << 24) + 2, ',');
  EXPECT_THAT(refusal_of(many), HasSubstr("more than 16777216 values"));
}

TEST(KernelTunerReader, NamesLineAndColumnOfWhatMakesNoSense) {
  const auto with = [](const std::string& entry) { return cache_head + first_entry + ",\n" + entry + "}}"; };
  const std::pair<std::string, std::string> table[] = {
      {with(R"("32,1":{"bx":32,"time":1})"), "made.csv:4:8: the entry '32,1' has no value of 't'"},
      {with(R"("32,1":{"bx":32,"t":1})"), "made.csv:4:8: the entry '32,1' has no 'time'"},
      {with(R"("32,1":{"bx":1e400,"t":1,"time":1})"), "made.csv:4:14: not JSON: number overflow parsing '1e400'"},
      {with(R"("32,1":7)"), "made.csv:4:8: the entry '32,1' is not an object"},
      {with(R"("32,1":{"bx":32,"t":1,"time":[3]})"), "made.csv:4:30: 'time' is neither a number nor"},
      {with("\n \"32,1\" : { \"bx\":32,\"t\":1,\n\"time\":1,\n  \"compile_time\": \"long\"}"),
       "made.csv:7:19: 'compile_time' is not a number"},
      {with(R"("32,1":{"bx":32,"t":1,"time":-1})"), "made.csv:4:30: a time is negative"},
      {with(R"("32,1":{"bx":32,"t":1,"time":1,"compile_time":-5})"), "made.csv:4:47: 'compile_time' is negative"},
      {with(R"("32,1":{"bx":32,"t":1,"time":1,,})"), "made.csv:4:32: not JSON: syntax error"},
      {cache_head + first_entry + R"(,"32,1":{"bx":32 "t":1)", "made.csv:3:167: not JSON: syntax error"},
      {"{\"cache\": nonsense}", "made.csv:1:12: not JSON: syntax error"},
      {"{\n\"cache\": []}", "made.csv:2:10: there is no object \"cache\""},
      {"{\"cache\": {},\n \"tune_params_keys\": [\"a\", 3]}", "made.csv:2:28: 3 is not the name of a parameter"},
      {"{\"cache\": {},\n \"tune_params_keys\": [\"a\"]}", "made.csv:1:11: the cache is empty"},
      {"\xEF\xBB\xBF\n{\"cache\": {}}", "made.csv:2:1: there is no list \"tune_params_keys\""},
      {"{\"other\": 1}", "made.csv:1:1: JSON with neither"},
  };
  for (const auto& [text, message] : table) EXPECT_THAT(refusal_of(text), HasSubstr(message)) << text;
}

TEST(KernelTunerReader, PlacesAFaultInATextThatBreaksOff) {
  const std::string text = cache_head + R"("32,1":{"bx":32,"time":1},)" + "\n" + second_entry.substr(0, 3);
  EXPECT_THAT(refusal_of(text), HasSubstr("made.csv:3:8: the entry '32,1' has no value of 't'"));
}

TEST(T4Reader, ReadsResultsAsSpecifiedAndAsFoundInTheWild) {
  const std::string specified = R"({"schema_version":"1.0.0","metadata":{"timeunit":"milliseconds"},"results":[
    {"configuration":{"bx":16,"pad":true},"times":{"compilation":800,"benchmark":100,"framework":50,"search_algorithm":9,
     "validation":50,"runtimes":[3,4]},"invalidity":"correct","correctness":1,
     "measurements":[{"name":"energy","value":9},{"name":"time","value":3.5,"unit":"ms"}],"objectives":["time"]},
    {"configuration":{"bx":32,"pad":true},"times":{},"invalidity":"timeout","correctness":0,"measurements":[]}]})";
  RecordedSpace recorded = parse_recorded_space(specified, "t4.json.gz");
  ASSERT_EQ(recorded.space->size(), 2u);
  EXPECT_EQ(recorded.rows[0].objective, 3.5);
  EXPECT_NEAR(recorded.rows[0].eval_seconds, 1.0, 1e-12);
  EXPECT_EQ(recorded.rows[1].kind, OutcomeKind::timeout);

  const std::string wild = R"({"metadata":{"timeunit":"miliseconds"},"results":[
    {"configuration":{"bx":16.0},"times":{"compilation":800,"runtimes":[3,4]},"invalidity":"correct",
     "measurements":[{"name":"time","value":3.5}],"objectives":["time"]})";  // and cut off
  recorded = parse_recorded_space(wild, "t4.json");
  ASSERT_EQ(recorded.space->size(), 1u);
  EXPECT_EQ(recorded.space->configuration(0).text(), "bx=16");
  EXPECT_NEAR(recorded.rows[0].eval_seconds, 0.807, 1e-12);
}

TEST(T4Reader, NamesTheUnitOfARate) {
  const auto unit = [](const std::string& name) {
    return parse_recorded_space(
               R"({"results":[{"configuration":{"a":1},"invalidity":"correct","measurements":[{"name":")" + name +
                   R"(","value":4}]}]})",
               "t4.json")
        .unit;
  };
  EXPECT_EQ(unit("GFLOP/s"), "1 / (GFLOP/s)") << "its reciprocal is no time, so that a target is refused";
  EXPECT_EQ(unit("time"), "ms");
}

TEST(T4Reader, NamesLineAndColumnOfWhatMakesNoSense) {
  const auto with = [](const std::string& result) {
    return "{\"results\":[\n{\"configuration\":{\"a\":\"]}\\\"\"},\"invalidity\":\"timeout\"},\n" + result + "]}";
  };
  const auto correct = [&](const std::string& members) {
    return with("{\"configuration\":{\"a\":1},\"objectives\":[\"time\"],\n\"invalidity\":\"correct\"" + members + "}");
  };
  const std::pair<std::string, std::string> table[] = {
      {"{\"metadata\":1,\n\"results\": 3}", "made.csv:2:12: there is no list \"results\""},
      {"{\"results\": []}", "made.csv:1:13: the list of results is empty"},
      {with("{}"), "made.csv:3:1: result 2: there is no object \"configuration\""},
      {with("7"), "made.csv:3:1: result 2: there is no object \"configuration\""},
      {with(R"({"configuration":[1]})"), "made.csv:3:18: result 2: there is no object \"configuration\""},
      {with(R"({"configuration":{"a":1},"invalidity":"odd"})"), "made.csv:3:39: result 2: unknown invalidity 'odd'"},
      {with(R"({"configuration":{"a":1},"correctness":"yes"})"),
       "made.csv:3:40: result 2: 'correctness' is not a number"},
      {correct(""), "made.csv:3:1: result 2: a correct result without a measurement of its objective 'time'"},
      {correct(R"(,"measurements":[{"name":"power","value":3}])"), "made.csv:4:39: result 2: a correct result without"},
      {correct(R"(,"measurements":[{"name":"time","value":"3"}])"), "made.csv:4:63: result 2: a correct result whose"},
      {correct(R"(,"measurements":[{"name":"time"}])"), "made.csv:4:40: result 2: a correct result whose"},
      {correct(R"(,"measurements":[{"name":"time","value":3}],"times":{"framework":"1"})"),
       "made.csv:4:88: result 2: 'framework' is not a number"},
      {correct(R"(,"measurements":[{"name":"time","value":-3}])"), "made.csv:4:63: result 2: a time is negative"},
      {correct(R"(,"measurements":[{"name":"time","value":3}],"times":{"framework":-1})"),
       "made.csv:4:88: result 2: 'framework' is negative"},
      {correct(R"(,"measurements":[{"name":"time","value":3}],"times":{"benchmark":-1})"),
       "made.csv:4:88: result 2: 'benchmark' is negative"},
      {correct(R"(,"measurements":[{"name":"time","value":3}],"times":{"runtimes":[1,-1]})"),
       "made.csv:4:87: result 2: a time in 'runtimes' is negative"},
      {with("{\"configuration\" {}}"), "made.csv:3:18: not JSON: syntax error"},
  };
  for (const auto& [text, message] : table) EXPECT_THAT(refusal_of(text), HasSubstr(message)) << text;
}

class Files : public ::testing::Test {
 protected:
  std::filesystem::path write_gzip(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(Files, AreReadPlainAndCompressed) {
  const auto plain = folder_.write("made.csv", csv);
  EXPECT_EQ(read_recorded_spaces(plain).at(0).space->size(), 3u);
  EXPECT_EQ(read_recorded_spaces(plain).at(0).name, "made");
  EXPECT_EQ(read_recorded_spaces(write_gzip("zipped.csv.gz", csv)).at(0).space->size(), 3u);
}

TEST_F(Files, ThatAreMissingOrCutOffAreErrorsThatNameThem) {
  EXPECT_THAT(error_of([&] { read_recorded_spaces(folder_ / "absent.csv"); }),
              HasSubstr("absent.csv cannot be read: No such file"));
  std::string long_text = csv;
  for (int i = 64; i < 5000; ++i)
    long_text += std::to_string(i) + ",a,true," + std::to_string(i * 7919 % 1000) + ",1\n";
  const auto cut = write_gzip("cut.csv.gz", long_text);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  EXPECT_THROW(read_recorded_spaces(cut), RecordedSpaceError);
}

TEST(MakeRecordedSpace, KeepsTheLastTrialOfAConfigurationAndNeverAnInfiniteObjective) {
  const std::vector<RecordedTrial> trials{{{5.0, 1, OutcomeKind::ok}, {{"a", 1}}},
                                          {{HUGE_VAL, 1, OutcomeKind::ok}, {{"a", 2}}},
                                          {{4.0, 1, OutcomeKind::wrong}, {{"a", 3}}},
                                          {{3.0, 2, OutcomeKind::ok}, {{"a", 1}}}};
  const RecordedSpace recorded = make_recorded_space("mine", trials, "ns");
  ASSERT_EQ(recorded.space->size(), 3u);
  EXPECT_EQ(recorded.rows[0].objective, 3.0);
  EXPECT_EQ(recorded.rows[0].eval_seconds, 2.0);
  EXPECT_FALSE(recorded.rows[1].objective);
  EXPECT_FALSE(recorded.rows[2].objective);
  EXPECT_EQ(recorded.rows[2].kind, OutcomeKind::wrong);
  EXPECT_THROW(make_recorded_space("none", {}), RecordedSpaceError);
  const std::vector<RecordedTrial> unequal{{{5.0, 1, OutcomeKind::ok}, {{"a", 1}}},
                                           {{5.0, 1, OutcomeKind::ok}, {{"b", 1}}}};
  EXPECT_THROW(make_recorded_space("unequal", unequal), RecordedSpaceError);
}

}  // namespace
}  // namespace tuner::replay
