// A list of problems: `tune --problems FILE`. tune_run_test.cpp has lists on several devices.

#include <csignal>

#include <cache/query/browse.hpp>

#include <tests/cli/commands/program.hpp>
#include <tests/support/wait_until.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner::cli {
namespace {

class ProblemsProgram : public ProgramTest {
 protected:
  ProblemsProgram() { compile_anew(); }

  /// Three problems on two lines.
  std::string list() {
    small_kernel();
    return file("night.txt",
                "# before tomorrow\n--kernel ./scale.cu --type float,int\n\n"
                "--kernel ./scale.cu --size n=77 --trials 2  # a short one\n");
  }
};

TEST_F(ProblemsProgram, TunesOneAfterTheOtherAndEndsWithALineForEach) {
  const Finished run = tune({"--problems", list(), "--trials", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* text :
       {"problem   1 of 3: scale T=float n=1000\n", "problem   3 of 3: scale T=float n=77\n", "problems  3 of 3 done"})
    EXPECT_THAT(run.err, HasSubstr(text));
  const std::string end = run.out.substr(run.out.rfind("  #  kernel"));
  EXPECT_THAT(end, Holds("1  scale   T=float n=1000", "2  scale   T=int n=1000", "block="));

  const json problems = document("--problems night.txt --trials 1 --json")["problems"];
  ASSERT_EQ(problems.size(), 3u);
  for (const json& one : problems) EXPECT_TRUE(one["results"][0]["from_cache"]);
}

TEST_F(ProblemsProgram, CountsNoAnswerThatWasNeverMeasuredAsKnown) {
  small_kernel();
  set("TUNER_EFFORT", "none");
  const Finished served = tune({"--problems", file("all.txt", "--kernel ./scale.cu --type float,int\n")});
  ASSERT_EQ(served.code, 0) << served.err;
  EXPECT_THAT(served.err, AllOf(HasSubstr("problems  2 of 2 done\n"), Not(HasSubstr("known before"))));
}

TEST_F(ProblemsProgram, ReadsStandardInputAndLimitsOfALine) {
  file("night.txt", "--kernel ./scale.cu\n--kernel ./scale.cu --size n=77 --trials 2\n");
  const Finished run = shell("\"$TUNE\" --problems - --json --quiet --trials 1 < night.txt");
  ASSERT_EQ(run.code, 0) << run.err;
  const json problems = json::parse(run.out)["problems"];
  EXPECT_EQ(problems[0]["results"][0]["trials"].size(), 1u);
  EXPECT_EQ(problems[1]["results"][0]["trials"].size(), 2u);
}

TEST_F(ProblemsProgram, TunesNothingWhenALineIsWrong) {
  const Finished run = tune({"--problems", file("bad.txt", "--kernel ./scale.cu\n--kernel ./scale.cu --type flaot\n")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("bad.txt:2: unknown type for T 'flaot'; did you mean 'float'?"));
  EXPECT_THAT(run.err, Not(HasSubstr("problem   ")));
  EXPECT_EQ(tune({"--problems", list(), "--size", "n=4"}).code, 2);
  EXPECT_THAT(call("--problems missing.txt").err, HasSubstr("list of problems 'missing.txt': there is no such file"));
  EXPECT_THAT(call("--problems .").err, HasSubstr("it is a folder"));
}

TEST_F(ProblemsProgram, ContinuesAnInterruptedList) {
  const std::string path = list();
  Started run = start({"--problems", path, "--trials", "2"});
  testing::wait_until([&] { return !run.running() || run.err().find("problem   2 of 3") != std::string::npos; });
  run.signal_group(SIGINT);
  const Finished interrupted = run.finish();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("continues from here"));
  const json problems = document("--problems night.txt --trials 2 --json")["problems"];
  EXPECT_TRUE(problems[0]["results"][0]["from_cache"]);
  EXPECT_FALSE(problems[2]["results"][0]["from_cache"]);
}

class Missed : public ProgramTest {
 protected:
  cache::MissRecord miss(const std::string& file, std::int64_t n, std::int64_t calls) {
    if (device_.empty()) device_ = json::parse(tune({"devices", "--json"}).out)["devices"].back()["key"];
    cache::MissRecord record;
    record.kernel = {"scale", std::string(64, '0'), "time"};
    record.problem = {"T=float", {{"n", n}}};
    record.sizes_from = {{"n", n}};
    record.device_key = device_;
    record.file = file;
    record.served = "default";
    record.calls = calls;
    record.each_ns = 2000;
    record.first_ms = record.last_ms = 1'790'000'000'000;
    return record;
  }
  void remember(const std::vector<cache::MissRecord>& misses) {
    cache::Database database = cache::Database::open_user(cache() / "wisdom.db", {.strict = true});
    cache::remember_misses(database, misses);
  }
  json listed() { return json::parse(tune({"show", "--missed", "--json"}).out)["missed"]; }

  std::string device_;
};

TEST_F(Missed, SaysThatThereIsNothing) {
  EXPECT_THAT(out_of("show --missed"), HasSubstr("nothing is missed"));
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(call("show --missed --kernel reduce").code, 0);
  expect_failures(2, "unknown kernel", {"show --missed --kernel redcue"});
  expect_failures(2, "available: none", {"show --missed --device H200", "show --missed --device cpu"});
  EXPECT_THAT(err_of("--missed"), HasSubstr("nothing is listed"));
}

TEST_F(Missed, ListsWhatTookTheMostTimeFirst) {
  cache::MissRecord own = miss("", 77, 1);
  own.kernel.name = "inside";
  own.each_ns = 0;
  remember({miss("reduce", 500, 10), own, miss("/a/scale.cu", 1000, 2000)});
  const Finished run = call("show --missed");
  EXPECT_EQ(run.code, 0);
  EXPECT_LT(run.out.find("n=1000"), run.out.find("n=500"));
  EXPECT_LT(run.out.find("n=500"), run.out.find("n=77"));
  for (const char* text : {"2,000", "2.00 us", "4.00 ms", "/a/scale.cu", "its program", "3 problems in"})
    EXPECT_THAT(run.out, HasSubstr(text));
  const json all = listed();
  EXPECT_EQ(all[0]["spent_ns"], 4'000'000);
  EXPECT_EQ(all[0]["sizes"]["n"], 1000);
  EXPECT_TRUE(all[2]["each_ns"].is_null());
  EXPECT_THAT(call("db").out, HasSubstr("3 problems"));
  EXPECT_THAT(call("show --missed --kernel inside").out, HasSubstr("1 problem in"));
  EXPECT_THAT(call("db clear missed --kernel scale").out, HasSubstr("2 problems forgotten"));
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(Missed, OfAnotherDatabaseRunsNoKernelFileThatItNamesUnlessItIsNamedHereToo) {
  const std::string kernel = small_kernel();
  remember({miss(kernel, 500, 100)});
  const std::string theirs = (folder() / "theirs.db").string();
  std::filesystem::copy_file(cache() / "wisdom.db", theirs);
  const Finished refused = tune({"--missed", "--device", "host", "--trials", "2", "--db", theirs});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("which would be compiled and run here: if you trust it, add --kernel " + kernel));
  EXPECT_EQ(tune({"--missed", "--device", "host", "--trials", "2", "--db", theirs, "--kernel", kernel}).code, 0);
}

TEST_F(Missed, IsTunedAndVanishesAndWhatFailsStays) {
  const std::string kernel = small_kernel();
  cache::MissRecord own = miss("", 77, 50'000);
  own.kernel.name = "inside";
  remember({miss(kernel, 500, 100), miss(kernel, 1000, 2000), miss((folder() / "gone.cu").string(), 64, 9), own});
  const Finished run = call("--missed --trials 2");
  EXPECT_EQ(run.code, 1);
  for (const char* text : {"1 of 4: inside", "described in the program", "2 of 4: scale T=float n=1000, 2,000 calls",
                           "3 of 4: scale T=float n=500", "gone.cu", "2 of 4 done"})
    EXPECT_THAT(run.err, HasSubstr(text));
  const json left = listed();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0]["kernel"], "inside");
  EXPECT_EQ(left[1]["sizes"]["n"], 64);
  EXPECT_THAT(call("show scale.cu --why --size n=500").out, HasSubstr("exactly this problem"));
}

TEST_F(Missed, GivesOneDocument) {
  const std::string kernel = small_kernel();
  remember({miss(kernel, 500, 100), miss(kernel, 1000, 2000)});
  const json space = document("--missed --dry-run --json --quiet");
  EXPECT_EQ(space["missed"].size(), 2u);
  EXPECT_EQ(listed().size(), 2u) << "nothing was tuned";
  const json results = document("--missed --trials 1 --json --quiet");
  ASSERT_EQ(results["missed"].size(), 2u);
  EXPECT_EQ(results["missed"][0]["results"][0]["problem"]["sizes"]["n"], 1000);
  EXPECT_TRUE(listed().empty());
}

TEST_F(Missed, IsAboutThisDeviceAndAboutTime) {
  cache::MissRecord elsewhere = miss(small_kernel(), 500, 100);
  elsewhere.device_key = "cuda cc=9.0 sm=132";
  remember({elsewhere});
  EXPECT_THAT(call("--missed").err, HasSubstr("nothing is listed"));
  EXPECT_EQ(listed().size(), 1u);
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--size", "n=5"},
                                                {"--type", "float"},
                                                {"--as", "hot"},
                                                {"--objective", "energy"},
                                                {"--vary", "block"}}) {
    std::vector<std::string> arguments{"--missed"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 2) << other[0];
    EXPECT_THAT(run.err, HasSubstr("--missed")) << other[0];
  }
}

class TogetherProgram : public ProblemsProgram {
 protected:
  TogetherProgram() {
    small_kernel();
    file("sizes.txt", "--size n=1000\n--size n=4000\n--size n=16000  # lines without a kernel\n");
  }
};

TEST_F(TogetherProgram, FindsOneRuleForAllSizesAndAnswersWithItTheNextTime) {
  const std::string line = "scale.cu --problems sizes.txt --together --trials 4 ";
  const Finished run = call(line);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("kernel    scale T=float"), HasSubstr("search    n=")));
  EXPECT_THAT(run.out, Holds("n=1000", "n=4000", "n=16000", "rule", "else", "here", "trials"));

  const json known = document(line + "--json --quiet")["together"][0];
  EXPECT_TRUE(known.value("from_cache", false)) << known.dump();
  ASSERT_EQ(known["sizes"].size(), 3u);
  EXPECT_LE(known["rule"].size(), 4u);
  for (const json& size : known["sizes"]) {
    EXPECT_TRUE(size["is_stored"]);
    EXPECT_GT(size["median_ns"], 0);
    EXPECT_GE(size["regret"], 0);
    const std::string problem = size["problem"].get<std::string>();
    const json served = document("show scale.cu --why --size " + problem + " --json")["answers"][0];
    EXPECT_EQ(served.value("served", ""), size["configuration"]) << served.dump();
    EXPECT_EQ(served.value("rule", ""), known["rule_text"]);
  }
}

TEST_F(TogetherProgram, IsExplainedWithItsRegretBetweenTheSizes) {
  ASSERT_EQ(call("scale.cu --problems sizes.txt --together --trials 4").code, 0);
  const std::string line = "show scale.cu --why --size n=5000";
  EXPECT_THAT(call(line).out, HasSubstr(", of sizes tuned together"));
  EXPECT_EQ(document(line + " --json")["answers"][0]["tier"], "rule");
  EXPECT_THAT(call("show scale.cu --why --size n=32000").out, Not(HasSubstr("tuned together")))
      << "it is outside of the range";
}

TEST_F(TogetherProgram, IsExplainedByTheBranchThatACallOfTheSizeClassUses) {
  ASSERT_EQ(call("scale.cu --trials 1").code, 0);
  ASSERT_EQ(call("db export one.jsonl").code, 0);
  std::istringstream lines(contents(folder() / "one.jsonl"));
  std::string device, result;
  ASSERT_TRUE(std::getline(lines, device) && std::getline(lines, result));
  std::string text = device + '\n';
  for (const auto& [sizes, configuration] :
       {std::pair("n=1000", "block=32 unroll=1"), {"n=16000", "block=64 unroll=1"}}) {
    json record = json::parse(result);
    record["sizes"] = sizes;
    record["configuration"] = configuration;
    record["rule"] = "n=1000..16000; n<5000: block=32 unroll=1; else: block=64 unroll=1; between 0.01 0 0.02 0.03 5";
    text += record.dump() + '\n';
  }
  ASSERT_EQ(call("db import " + file("rule.jsonl", text) + " --db rule.db").code, 0);
  for (const auto& [size, served, branch] :
       {std::tuple("n=5100", "block=32 unroll=1", "n<5000"), {"n=5200", "block=64 unroll=1", "else"}}) {
    const std::string line = std::string("show scale.cu --why --db rule.db --size ") + size;
    EXPECT_EQ(document(line + " --json")["answers"][0]["served"], served) << size;
    EXPECT_THAT(call(line).out, AllOf(HasSubstr(std::string(branch) + ", of sizes tuned together"),
                                      HasSubstr('(' + std::string(branch) + ')')));
  }
}

TEST_F(TogetherProgram, HasARuleForEachKindOfElements) {
  const json rules = document("scale.cu --type float,int --size \"n=500;n=1000\" --together --trials 2 --json --quiet");
  ASSERT_EQ(rules["together"].size(), 2u);
  EXPECT_EQ(rules["together"][0]["choices"], "T=float");
  EXPECT_EQ(rules["together"][1]["choices"], "T=int");
}

TEST_F(TogetherProgram, RefusesWhatDoesNotGoWithOneRule) {
  file("fixed.cu", R"(
#pragma tuner kernel    fixed
#pragma tuner parameter block = 32 64
#pragma tuner out       y[8] : float
#pragma tuner block     block
#pragma tuner grid      1
#pragma tuner arguments y
#pragma tuner reference default
#pragma tuner default   block=32
extern "C" __global__ void fixed(float* y) { if (threadIdx.x < 8) y[threadIdx.x] = 1; }
)");
  for (const auto& [line, why] : std::vector<std::pair<const char*, const char*>>{
           {"scale.cu --problems sizes.txt", "--problems and --kernel do not go together"},
           {"--problems sizes.txt --together", "sizes.txt:1: which kernel"},
           {"scale.cu --together --fix block=32", "--together and --fix do not go together"},
           {"scale.cu --together --objective energy", "--together is about times"},
           {"fixed.cu --together", "kernel 'fixed' has no sizes: tune it without --together"},
           {"scale.cu --together --effort none", "--together has no effect"}}) {
    const Finished run = call(line);
    EXPECT_EQ(run.code, 2) << line;
    EXPECT_THAT(run.err, HasSubstr(why)) << line;
  }
}

}  // namespace
}  // namespace tuner::cli
