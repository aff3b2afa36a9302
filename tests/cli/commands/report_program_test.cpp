// `tune report` and `tune compare`: files in, files and exit codes out.

#include <tests/cli/commands/program.hpp>
#include <tests/support/page_data.hpp>

namespace tuner::cli {
namespace {

class ReportProgram : public ProgramTest {
 protected:
  /// Wisdom text with one result; \p device_name: "" for the usual one.
  std::string wisdom(const std::string& name, double median_ns, const std::string& sizes = "n=1024",
                     const std::string& device_name = "Card A") {
    const json header{
        {"tuner_wisdom", 1},
        {"device",
         {{"key", "cuda cc=9.0 sm=132 name=" + device_name},
          {"name", device_name},
          {"backend", "cuda"},
          {"compute_capability", 90},
          {"sm_count", 132},
          {"l2_bytes", 1 << 20},
          {"memory_bus_bits", 512},
          {"max_shared_bytes", 1 << 16},
          {"registers_per_sm", 65536},
          {"properties", json::object()}}},
        {"environment", {{"driver", "13.0"}, {"compiler", "nvrtc 13.0"}, {"tuner", "0.1.0"}, {"os", "x"}}}};
    const json line{{"kernel", "reduce"},
                    {"source", std::string(64, 'a')},
                    {"objective", "time"},
                    {"choices", "T=float"},
                    {"sizes", sizes},
                    {"configuration", "block=256"},
                    {"median_ns", median_ns},
                    {"low_ns", median_ns * 0.999},
                    {"high_ns", median_ns * 1.001},
                    {"noise", 0.001},
                    {"samples", 30},
                    {"measured", "2026-01-31T12:00:00.000Z"}};
    return file(name, header.dump() + "\n" + line.dump() + "\n");
  }
};

TEST_F(ReportProgram, WritesOneFileOfWhatWasTuned) {
  measure_ceilings();
  ASSERT_EQ(call("scale.cu --quiet --db mine.db").code, 0);
  expect_failures(0, "report.html written: 1 result", {"report --db mine.db --kernel scale.cu -o report.html"});
  const std::string page = contents(folder() / "report.html");
  EXPECT_THAT(page, StartsWith("<!doctype html><!-- tuner report -->"));
  const std::string data = testing::data_text_of(page);
  EXPECT_THAT(data, Holds("\"bytes\":8000", "copy_bytes_per_s", "\"verdict\":{\"limit\":\""));
  EXPECT_EQ(call("report --db mine.db -o report.html").code, 0) << "its own file is written again";
  EXPECT_THAT(call("report --db mine.db -o -").out, StartsWith("<!doctype html>"));
}

TEST_F(ReportProgram, WritesThePageOfATuningAtItsEnd) {
  ASSERT_EQ(call("scale.cu --quiet --report tuned.html").code, 0);
  EXPECT_THAT(testing::data_text_of(contents(folder() / "tuned.html")), Holds("\"tier\"", "\"finalists\":[{"));
  EXPECT_EQ(call("scale.cu --report known.html").code, 0) << "answered from the cache";
  EXPECT_THAT(testing::data_text_of(contents(folder() / "known.html")), HasSubstr("\"finalists\":[{"));
  file("notes.html", "mine");
  EXPECT_EQ(call("scale.cu --report notes.html").code, 1);
  EXPECT_EQ(contents(folder() / "notes.html"), "mine");
}

TEST_F(ReportProgram, KnowsTheTrafficAndTheDefaultOfABuiltInKernelThatIsTuned) {
  ASSERT_EQ(call("reduce --size n=4096 --trials 1 --quiet --report built_in.html").code, 0);
  EXPECT_THAT(testing::data_text_of(contents(folder() / "built_in.html")), Holds("\"bytes\":", "\"default\":\""));
}

TEST_F(ReportProgram, WritesOverNothingThatIsNotAReport) {
  wisdom("a.wisdom", 1000);
  ASSERT_EQ(call("db import --db a.db a.wisdom").code, 0);
  file("notes.html", "<!doctype html><p>mine");
  expect_failures(1, "did not write", {"report --db a.db -o notes.html"});
  EXPECT_EQ(contents(folder() / "notes.html"), "<!doctype html><p>mine");
  EXPECT_EQ(call("report --db a.db -o notes.html --force").code, 0);
  EXPECT_EQ(call("report --db a.db -o a.db --force").code, 1);
}

TEST_F(ReportProgram, SaysWhatItCannotReport) {
  EXPECT_EQ(call("report").code, 2);
  EXPECT_EQ(call("report --db none.db -o x.html").code, 1);
  wisdom("a.wisdom", 1000);
  ASSERT_EQ(call("db import --db a.db a.wisdom").code, 0);
  EXPECT_THAT(call("report --db a.db --kernel serialSum -o x.html").err, HasSubstr("no results of 'serialSum'"));
  expect_failures(2, "'Card A'", {"report --db a.db --device H100 -o x.html"});
  EXPECT_EQ(call("report --db a.db --device card -o x.html").code, 0);
}

TEST_F(ReportProgram, ComparesTextsAndDatabases) {
  wisdom("a.wisdom", 1000);
  wisdom("slower.wisdom", 1100);
  ASSERT_EQ(call("db import --db a.db a.wisdom").code, 0);
  const Finished slower = call("compare a.db slower.wisdom");
  EXPECT_EQ(slower.code, 3);
  EXPECT_THAT(slower.out, Holds("1.100  1.098 to 1.102", "1 slower"));
  const Finished faster = call("compare slower.wisdom a.db");
  EXPECT_EQ(faster.code, 0);
  EXPECT_THAT(faster.out, HasSubstr("1 faster, 0 slower"));
  EXPECT_THAT(call("compare a.db a.wisdom").out, Holds("allow no more than 1%", "1 same, 0 slower"));
  EXPECT_EQ(call("compare a.db slower.wisdom --margin 20%").code, 0);
  const json compared = json::parse(call("compare a.db slower.wisdom --json").out);
  EXPECT_EQ(compared["results"][0]["change"], "slower");
  EXPECT_EQ(compared["counts"]["slower"], 1);
  EXPECT_EQ(compared["counts"]["undecided"], 0);
  EXPECT_THAT(compared["results"][0]["why"].get<std::string>(), HasSubstr("allow no less than 1%"));
}

TEST_F(ReportProgram, MeasuresBothConfigurationsAgainOnRequest) {
  ASSERT_EQ(call("scale.cu --quiet --trials 1 --db a.db").code, 0);
  std::string text = out_of("db export --db a.db -");
  const std::string configuration = "\"configuration\":\"";
  const std::size_t begin = text.find(configuration) + configuration.size(), end = text.find('"', begin);
  const std::string other =
      text.substr(begin, end - begin) == "block=32 unroll=2" ? "block=64 unroll=1" : "block=32 unroll=2";
  file("b.wisdom", text.replace(begin, end - begin, other));
  const json compared = json::parse(call("compare a.db b.wisdom --kernel scale.cu --measure --budget 1s --json").out);
  const json result = compared["results"].at(0);
  EXPECT_THAT(result["why"].get<std::string>(), HasSubstr("placements"));
  EXPECT_TRUE(result["measured"]["placements"].is_number());
  EXPECT_THAT(out_of("compare a.db a.db --kernel scale.cu --measure"), HasSubstr("the same source and configuration"));
  wisdom("a.wisdom", 1000);
  EXPECT_THAT(call("compare a.wisdom a.wisdom --measure").err, HasSubstr("not measured again: reduce"));
  EXPECT_EQ(call("compare a.wisdom a.wisdom --budget 3s").code, 2);
}

TEST_F(ReportProgram, ComparesTwoDevicesOfOneDatabase) {
  wisdom("a.wisdom", 1000);
  wisdom("b.wisdom", 500, "n=1024", "Card B");
  ASSERT_EQ(call("db import --db both.db a.wisdom b.wisdom").code, 0);
  EXPECT_THAT(out_of("compare --devices 'card a,card b' both.db"), HasSubstr("1 faster"));
  EXPECT_EQ(call("compare --devices 'Card B,Card A' both.db").code, 3);
  EXPECT_EQ(call("compare --devices 'card,Card A' both.db").code, 2) << "which card?";
}

TEST_F(ReportProgram, RefusesToCompareWhatIsNoResult) {
  wisdom("a.wisdom", 1000);
  file("notes.txt", "nothing of the kind\n");
  EXPECT_EQ(call("compare a.wisdom").code, 2);
  EXPECT_EQ(call("compare a.wisdom none.db").code, 1);
  EXPECT_THAT(call("compare a.wisdom notes.txt").err, HasSubstr("notes.txt"));
  EXPECT_EQ(call("compare a.wisdom notes.txt").code, 1);
  EXPECT_EQ(call("compare a.wisdom a.wisdom --margin much").code, 2);
}

}  // namespace
}  // namespace tuner::cli
