// The main job end to end: tune, remember, answer from the cache, go on after an interruption.

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>

#include <tuner/worker/isolated_evaluator.hpp>

#include <tests/cli/commands/program.hpp>
#include <tests/support/wait_until.hpp>

namespace tuner::cli {
namespace {

using testing::wait_until;

class MainJob : public ProgramTest {
 protected:
  MainJob() { compile_anew(); }

  /// Writes a kernel whose every configuration takes so long that a run can be caught in the middle.
  std::string slow_kernel() {
    std::string text = contents(small_kernel());
    const std::string from = "unroll = 1 2 4";
    text.replace(text.find(from), from.size(), "unroll = 1 2 3 4 5 6 7 8");
    return file("slow.cu", text);
  }

  /// That another process can see.
  std::int64_t stored_trials() {
    auto database = cache::Database::open_shipped(cache() / "wisdom.db");
    return database ? cache::statistics(*database).trials : 0;
  }
};

TEST_F(MainJob, TunesAndNamesTheWinnerLast) {
  const Finished run = call("scale.cu");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Holds("device    ", "9 combinations, 8 valid"));
  EXPECT_THAT(run.out, ContainsRegex("#  role +search +final +interval"));
  EXPECT_THAT(run.out, ContainsRegex("\n +[0-9]+  best")) << "the winner is a row";
  const auto best = run.out.rfind("\nbest  block=");
  ASSERT_NE(best, std::string::npos) << run.out;
  EXPECT_GT(best, run.out.find("search"));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b"))) << "no colours into a file";
}

TEST_F(MainJob, ASecondRunAnswersFromTheCacheAndForceMeasuresAgain) {
  ASSERT_EQ(call("scale.cu").code, 0);
  EXPECT_THAT(out_of("scale.cu"),
              AllOf(Holds("answered from", "tried 8 of 8 configurations", "(--force"), Not(HasSubstr("searches on"))));
  EXPECT_EQ(document("scale.cu --force --json")["results"][0]["trials"].size(), 8u);
}

TEST_F(MainJob, MeasuresOneConfigurationForASizeOfZero) {
  const auto empty = document("scale.cu --size n=0 --json")["results"][0];
  EXPECT_EQ(empty["tried"], 1);
  EXPECT_EQ(empty["effort"], "thorough") << "the others would do nothing, too";
  EXPECT_TRUE(document("scale.cu --size n=0 --json")["results"][0]["from_cache"]);
}

TEST_F(MainJob, StoresItsEffortAndContinuesAResultOfLess) {
  EXPECT_THAT(out_of("scale.cu --effort none"),
              Holds("nothing was measured", "served  block=", "the kernel's default"));
  const auto few = document("scale.cu --trials 3 --json")["results"][0];
  EXPECT_THAT(out_of("scale.cu --trials 3"),
              Holds("tried 3 of 8 configurations", "a larger --budget or --trials searches on"));
  const auto none = document("scale.cu --effort none --json")["results"][0];
  EXPECT_TRUE(none["from_cache"]);
  EXPECT_EQ(none["best"]["effort"], few["effort"]) << "it depends on the time that they took";
  const auto thorough = document("scale.cu --effort thorough --json")["results"][0];
  EXPECT_EQ(thorough["resumed"], 3u);
  EXPECT_EQ(thorough["tried"], 8u);
  EXPECT_EQ(thorough["effort"], "thorough");
  EXPECT_THAT(out_of("scale.cu --effort quick"), HasSubstr("answered from"));
  EXPECT_THAT(out_of("show"), HasSubstr("thorough"));
  EXPECT_THAT(out_of("show --why --kernel scale.cu"), HasSubstr("effort    thorough"));
}

TEST_F(MainJob, MeasuresNothingWhereTheEnvironmentSaysSo) {
  set("TUNER_EFFORT", "none");
  const auto served = document("scale.cu --json")["results"][0];
  EXPECT_TRUE(served["best"].is_null());
  EXPECT_TRUE(served["served"]["configuration"].is_object());
  const std::string why = "with TUNER_EFFORT=none, which measures nothing";
  for (const std::string option : {"--force", "--unverified", "--by block", "--metrics ipc", "--csv -"})
    EXPECT_THAT(call("scale.cu " + option).err,
                HasSubstr(option.substr(0, option.find(' ')) + " has no effect " + why));
  file("list.txt", "scale.cu\n");
  EXPECT_THAT(call("--problems list.txt --force").err, HasSubstr("list.txt:1: --force has no effect " + why));
  EXPECT_EQ(document("scale.cu --trials 1 --json")["results"][0]["tried"], 1) << "a limit says otherwise";
}

TEST_F(MainJob, MakesTablesOfAKnownAnswerWithoutAnotherSearch) {
  ASSERT_EQ(call("scale.cu --trials 4").code, 0);
  for (const char* tables : {"--rows 3", "--by block", "--csv rows.csv"})
    EXPECT_THAT(out_of(std::string("scale.cu --trials 4 ") + tables), Holds("answered from", "interval")) << tables;
  const std::string rows = contents(folder() / "rows.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 5);
}

TEST_F(MainJob, MeasuresAnewWithOtherOptionsOfTheHostCompiler) {
  ASSERT_EQ(call("scale.cu --trials 1").code, 0);
  ASSERT_THAT(out_of("scale.cu --trials 1"), HasSubstr("answered from"));
  set("CXX", "c++ -O0");
  const Finished run = call("scale.cu --trials 1");
  EXPECT_THAT(run.out, Not(HasSubstr("answered from")));
  EXPECT_THAT(run.err, HasSubstr(" -O0"));
}

TEST_F(MainJob, HoldsAKnownAnswerAgainstTheStoredCeilingsInsteadOfMeasuringThem) {
  measure_ceilings();
  ASSERT_EQ(call("scale.cu").code, 0);
  const json known = document("scale.cu --json");
  EXPECT_TRUE(known["results"][0]["from_cache"]);
  EXPECT_GT(known["results"][0]["best"]["ceiling_fraction"], 0);
  const double ceiling = known["device"]["copy_ceiling_bytes_per_s"];
  EXPECT_EQ(ceiling, std::stod(fmt::format("{:.2e}", ceiling))) << "stored in three digits";
}

TEST_F(MainJob, JsonIsOneDocumentOnStdoutWithEverything) {
  const json all = document("scale.cu --json --size 'n=1k;n=500' --type int --trials 8");
  EXPECT_EQ(all["kernel"], "scale");
  EXPECT_EQ(all["device"]["backend"], "host");
  ASSERT_EQ(all["results"].size(), 2u);
  const json& first = all["results"][0];
  EXPECT_EQ(first["problem"]["sizes"]["n"], 1024);
  EXPECT_EQ(first["problem"]["choices"]["T"], "int");
  EXPECT_EQ(first["space"]["valid"], 8);
  EXPECT_EQ(first["trials"].size(), 8u);
  EXPECT_EQ(first["outcomes"]["ok"], 8);
  EXPECT_TRUE(first["best"]["verified"]);
  EXPECT_GT(first["best"]["median_ns"], 0);
  EXPECT_GT(first["best"]["samples_ns"].size(), 0u);
  EXPECT_FALSE(first["from_cache"]);
}

TEST_F(MainJob, ALogIsAppendedToAndOtherFilesAreNot) {
  const std::string kernel = small_kernel();
  ASSERT_EQ(call("scale.cu --log trials.jsonl --trials 2").code, 0);
  ASSERT_EQ(call("scale.cu --log trials.jsonl --trials 2 --size n=900").code, 0);
  const std::string log = contents(folder() / "trials.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4);
  EXPECT_EQ(json::parse(log.substr(0, log.find('\n')))["kernel"], "scale");

  file("notes.txt", "my notes\n");
  const std::string database = contents(cache() / "wisdom.db");
  for (const std::string path : {"notes.txt", "cache/wisdom.db", "/dev/null", "cache"}) {
    const Finished run = tune({"--kernel", kernel, "--log", path, "--trials", "2", "--size", "n=800"});
    EXPECT_EQ(run.code, 1) << path;
    EXPECT_THAT(run.err, HasSubstr("--log " + path + ": it is a")) << path;
    EXPECT_THAT(run.err, HasSubstr("nothing was changed")) << path;
  }
  EXPECT_EQ(contents(folder() / "notes.txt"), "my notes\n");
  EXPECT_EQ(contents(cache() / "wisdom.db"), database);
}

TEST_F(MainJob, ALogThatCannotBeWrittenIsAFailureThatIsSaid) {
  const Finished run = call("scale.cu --log /dev/full --force --trials 2");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("--log /dev/full: cannot be written: No space left"));
  EXPECT_THAT(run.out, HasSubstr("best  block="));
}

TEST_F(MainJob, QuietPrintsOnlyTheResult) {
  const Finished run = call("scale.cu --quiet");
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("best  block="));
}

TEST_F(MainJob, ADryRunPrintsTheSpaceAndTouchesNothing) {
  const Finished run = call("scale.cu --dry-run");
  EXPECT_EQ(run.code, 0);
  for (const char* part : {"block", "32 64 128", "small", "block * unroll <= 256", "9 combinations, 8 valid"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
}

/// Takes minutes to enumerate.
std::string late_kernel(std::string text) {
  const std::string from = "#pragma tuner constraint  small: block * unroll <= 256\n";
  std::string late;  // pruned only when the last parameter is known: minutes of enumerating
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    late += std::string("#pragma tuner parameter   ") + name + " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  late += "#pragma tuner constraint  late: (a * 7 + b * 11 + c * 13 + d * 17 + e * 19 + f * 23) % 1009 == 5\n";
  text.replace(text.find(from), from.size(), late);
  const std::string none = "block=32 unroll=1";
  text.replace(text.find(none), none.size(), "block=32 unroll=1 a=1 b=1 c=1 d=1 e=1 f=1");
  text.erase(text.find("#pragma tuner default"), text.find("template") - text.find("#pragma tuner default"));
  return text;
}

TEST_F(MainJob, ADryRunEndsAtTheFirstInterrupt) {
  Started run = start({"--kernel", file("late.cu", late_kernel(contents(small_kernel()))), "--dry-run"});
  wait_until([&] { return !run.running() || run.err().find("device    ") != std::string::npos; });
  run.signal_group(SIGINT);
  EXPECT_EQ(run.finish().code, 128 + SIGINT);
}

TEST_F(MainJob, ADryRunEndsWithItsBudgetAndSaysHowFarItCame) {
  const std::string kernel = file("late.cu", late_kernel(contents(small_kernel())));
  const Finished run = tune({"--kernel", kernel, "--dry-run", "--budget", "0.01s"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("not all looked at: "));
  const Finished as_json = tune({"--kernel", kernel, "--dry-run", "--budget", "0.01s", "--json"});
  EXPECT_TRUE(json::parse(as_json.out)["spaces"][0]["valid"].is_null());
}

TEST_F(MainJob, ContinuesWithWhatItHasAfterAnInterruption) {
  const std::string kernel = slow_kernel();
  Started run = start({"--kernel", kernel, "--size", "n=400k", "--verbose"});
  wait_until([&] { return !run.running() || run.err().find("  block=") != std::string::npos; });
  ASSERT_TRUE(run.running()) << "it ended before it could be interrupted: " << run.err();
  run.signal_group(SIGINT);  // as a terminal does: to the children too
  const Finished interrupted = run.finish();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("continues from here"));
  EXPECT_THAT(interrupted.out, HasSubstr("best  block="));

  const Finished again = tune({"--kernel", kernel, "--size", "n=400k", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  const json result = json::parse(again.out)["results"][0];
  EXPECT_FALSE(result["from_cache"]);
  EXPECT_GT(result["resumed"], 0);
  EXPECT_EQ(result["outcomes"]["compile"], 0) << "an interrupted compiler is no compile error";
  EXPECT_EQ(result["outcomes"]["launch"], 0);
}

TEST_F(MainJob, ASecondInterruptEndsAtOnce) {
  Started run = start({"--kernel", slow_kernel(), "--size", "n=400k", "--verbose"});
  const auto wait_for = [&](const char* text) {
    wait_until([&] { return !run.running() || run.err().find(text) != std::string::npos; });
  };
  wait_for("  block=");
  run.signal_group(SIGINT);
  wait_for("once more stops at once");
  run.signal_group(SIGINT);
  const Finished finished = run.finish();
  EXPECT_EQ(finished.code, 130);
  EXPECT_EQ(call("db check").code, 0);
}

TEST_F(MainJob, AHangUpThatIsIgnoredFromOutsideStaysIgnored) {  // nohup
  Started run = start_shell("trap '' HUP; exec \"$TUNE\" --verbose --trials 4 --kernel " + small_kernel());
  wait_until([&] { return !run.running() || run.err().find("  block=") != std::string::npos; });
  run.signal_group(SIGHUP);
  const Finished finished = run.finish();
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("stopping")));
}

TEST_F(MainJob, WhereWorkersCannotBeStartedAnyMoreItSaysThatWhatWasMeasuredIsKept) {
  const auto gone = folder() / "gone", pids = folder() / "pids";
  const std::string worker =
      file("worker", fmt::format("#!/bin/sh\n[ -e {0} ] && exit 1\necho $$ >> {1}\nexec {2} \"$@\"\n", gone.string(),
                                 pids.string(), find_worker_program().string()));
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  set("TUNER_WORKER", worker);
  const std::string kernel = slow_kernel();
  Started run = start({"--kernel", kernel, "--size", "n=400k", "--verbose"});
  ASSERT_TRUE(wait_until([&] { return !run.running() || stored_trials() > 0; }));
  ASSERT_TRUE(run.running()) << "it ended before its workers could be killed: " << run.err();
  std::ofstream(gone).flush();
  std::ifstream started(pids);
  for (pid_t pid = 0; started >> pid;)
    if (contents(fmt::format("/proc/{}/comm", pid)) == "tuner-worker\n") ::kill(pid, SIGKILL);
  const Finished broken = run.finish();
  EXPECT_EQ(broken.code, 1) << broken.err;
  EXPECT_THAT(broken.err, Holds("cannot start", "the measurements are stored; the same command continues from here\n"));
}

TEST_F(MainJob, WhereNothingCompilesNothingIsSaidToBeKept) {
  std::string text = contents(small_kernel());
  text.insert(text.find('{', text.find("void scale(")) + 1, " nonsense;");
  EXPECT_THAT(err_of(file("broken.cu", text) + " --trials 4", 1), Not(HasSubstr("is kept")));
}

TEST_F(MainJob, TwoAtOnceBothFinishAndLoseNothing) {
  const std::string kernel = small_kernel();
  Started first = start({"--kernel", kernel, "--size", "n=1000", "--json"});
  Started second = start({"--kernel", kernel, "--size", "n=900", "--json"});
  const Finished one = first.finish(), two = second.finish();
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(document("show --kernel scale --json")["best"].size(), 2u);
  EXPECT_EQ(call("db check").code, 0);
}

}  // namespace
}  // namespace tuner::cli
