// The commands besides tuning, and how the program is asked for help.

#include <sstream>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>

#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/driver/architecture.hpp>
#endif
#include <tuner/cli/print/table.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/recording/recording_writer.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

class Program : public ProgramTest {
 protected:
  void tune_once() { ASSERT_EQ(call("scale.cu --quiet").code, 0); }
};

#ifdef TUNER_HAS_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

constexpr const char* kCommands[] = {"tune",      "run",  "check", "init",   "list",    "devices",
                                     "occupancy", "show", "db",    "report", "compare", "replay"};

TEST_F(Program, SaysItsVersionAndWhatItCanDo) {
  EXPECT_THAT(call("--version").out, StartsWith("tuner 0."));
  const Finished help = call("help");
  EXPECT_EQ(help.code, 0);
  const auto fits = [](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << line;
  };
  fits(help.out);
  EXPECT_THAT(help.out, HasSubstr("130 stopped by Ctrl-C"));
  std::size_t options = 0;
  for (const std::string command : kCommands) {
    EXPECT_THAT(help.out, HasSubstr("\n  " + command + ' '));
    if (command == "occupancy" && !kHasCuda) {
      EXPECT_THAT(call("occupancy --help").err, HasSubstr("built without the CUDA headers"));
      continue;
    }
    const Finished detail = call(command + " --help");
    EXPECT_EQ(detail.code, 0) << command;
    EXPECT_THAT(detail.out, AllOf(HasSubstr("Usage: tune"), Not(HasSubstr("\n\n\n")))) << command;
    EXPECT_EQ(detail.out, call("help " + command).out);
    fits(detail.out);
    for (std::size_t at = 0; (at = detail.out.find("\n  -", at)) != std::string::npos; ++at) ++options;
    EXPECT_THAT(call("--help").out, HasSubstr(command)) << "tuning names the other commands";
  }
  EXPECT_LE(options, 105u) << "is one of them in another command, or used by nobody?";
  EXPECT_THAT(call("--help").out, HasSubstr("--until-unlikely"));
  EXPECT_EQ(tune({}).code, 2);
}

TEST_F(Program, PrintsItsManPageAndCompletionsOfEveryOption) {
  ASSERT_EQ(shell("for as in man bash zsh; do \"$TUNE\" help --as $as > $as.out || exit 1; done").code, 0);
  const std::string man = contents(folder() / "man.out"), bash = contents(folder() / "bash.out"),
                    zsh = contents(folder() / "zsh.out");
  for (const std::string command : kCommands) {
    const std::string page = call(command + " --help").out;
    std::istringstream words(page.substr(0, page.find("\nExamples:")));
    for (std::string word; words >> word;) {
      word = word.substr(0, word.find_first_of(",.)`'=/"));
      if (!word.starts_with("--") || word.size() < 4) continue;
      std::string escaped;
      for (const char c : word) escaped += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_THAT(man, HasSubstr(escaped)) << command << ' ' << word;
      EXPECT_NE(bash.find(word + ' '), std::string::npos) << command << ' ' << word;
      EXPECT_NE(zsh.find(word + '['), std::string::npos) << command << ' ' << word;
    }
  }
  EXPECT_THAT(man, HasSubstr("n=2\\(ha24"));
  EXPECT_THAT(man, HasSubstr("130 stopped by Ctrl-C"));
  EXPECT_EQ(man.find_first_of("^~'"), std::string::npos) << "troff would print other characters";
  const auto completed = [&](const std::string& words, int at) {
    return shell("bash -c '. ./bash.out; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                 "; _tune; echo \"${COMPREPLY[*]}\"'")
        .out;
  };
  EXPECT_EQ(completed("tune re", 1), "report replay\n");
  EXPECT_EQ(completed("tune help dev", 2), "devices\n");
  EXPECT_EQ(completed("tune compare --", 2), "--devices --margin --measure --budget --kernel --device --json --help\n");
  EXPECT_EQ(completed("tune scale.cu --trials 3 --bu", 4), "--budget\n");
  const Finished page = shell("command -v groff > /dev/null || exit 127; groff -man -ww -Tutf8 man.out");
  if (page.code == 127) GTEST_SKIP() << "groff is not installed";
  EXPECT_EQ(page.err, "");
  EXPECT_THAT(page.out, HasSubstr("tune db import FILE..."));
}

TEST_F(Program, ListsEveryKernelWithANameThoseOfAGivenFolderToo) {
  set("TUNER_TEMPLATE_PATH", folder().string());
  const Finished run = call("list");
  EXPECT_EQ(run.code, 0);
  for (const char* kernel :
       {"scale", "sumMatrix2D", "reduce", "reduceClassic", "warpReduce", "blockReduce", "warpDivergence",
        "nestedReduce", "nestedHello", "prefixSum", "compact", "histogram", "serialSum"})
    EXPECT_THAT(run.out, HasSubstr(kernel));
  EXPECT_GE(document("list --json")["kernels"].size(), 13u);
}

TEST_F(Program, SaysThatTheHostCannotLaunchKernelsFromTheDevice) {
  expect_failures(1, "launches kernels from the device; the host backend cannot",
                  {"--kernel nestedReduce", "run nestedHello"});
}

TEST_F(Program, DescribesTheHostAndWhyThereIsNoGpu) {
  const json devices = document("devices --json");
  ASSERT_GE(devices["devices"].size(), 1u);
  EXPECT_EQ(devices["devices"].back()["backend"], "host");
  const bool has_gpu = devices["devices"].size() > 1;
  EXPECT_EQ(devices["why_no_gpu"] == "", has_gpu);
  EXPECT_THAT(call("devices").out, HasSubstr("cores"));
}

TEST_F(Program, TimesNothingInAStreamOrAGraphWhereThereIsNone) {
  expect_failures(1, "has no streams and no graphs, so no kernel can be timed as 'graph' there",
                  {"scale.cu --as graph --device host", "run scale.cu --as graph --device host"});
  EXPECT_EQ(document("run scale.cu --device host --as hot --json")["as"], "hot");
}

TEST_F(Program, ShowsAndExplainsWhatItKnowsAndMakesNothing) {
  for (const json& one : document("show --json")["databases"]) EXPECT_TRUE(one["shipped"]) << one;
  expect_failures(1, "no such database", {"show --db none.db", "db check", "db clear quarantine --db none.db"});
  EXPECT_THAT(call("show scale.cu --why").out, HasSubstr("default"));
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "none.db"));
  tune_once();
  EXPECT_THAT(call("show --all").out, HasSubstr("n=1000"));
  EXPECT_EQ(document("show --kernel ./scale.cu --json")["best"].size(), 1u);
  EXPECT_THAT(call("db export --kernel scale.cu -").out, HasSubstr("\"scale\""));
  ASSERT_EQ(call("scale.cu --as hot --trials 2").code, 0);
  EXPECT_THAT(call("show scale").out, HasSubstr("time_hot   T=float"));
  EXPECT_THAT(call("show scale.cu --why").out, HasSubstr("exact"));
  EXPECT_THAT(call("show scale.cu --why --as hot").out, HasSubstr(", timed as 'hot'"));
  EXPECT_EQ(document("show scale.cu --why --as stream --json")["answers"][0]["tier"], "exact") << "for single launches";
  EXPECT_EQ(document("show scale.cu --why --size n=1500 --json")["answers"][0]["tier"], "nearest size");
  EXPECT_THAT(call("db").out, HasSubstr("2 best configurations"));
  EXPECT_THAT(call("db check").out, Holds("sound", "no configuration is in quarantine"));
}

TEST_F(Program, TakesTheKernelWithoutAnOption) {
  for (const char* line :
       {"scale.cu --trials 2 --quiet", "run scale.cu --once", "reduce --dry-run", "tune reduce --dry-run"})
    EXPECT_EQ(call(line).code, 0) << line;
}

TEST_F(Program, ListsStrategiesAsTextAndAsJson) {
  EXPECT_THAT(call("replay --list").out, HasSubstr("\nrandom "));
  const json strategies = document("replay --list --json")["strategies"];
  EXPECT_GE(strategies.size(), 12u);
  EXPECT_EQ(strategies[0]["name"], "auto");
  EXPECT_EQ(strategies[0]["learns"], true);
}

TEST_F(Program, ReplaysEverySpaceAndGivesTheMeans) {
  const std::string space =
      TUNER_SOURCE_DIR "/tests/replay/data/convolution_A100.csv.gz";  // twice: its name says nothing
  const std::string line = "replay " + space + ' ' + space + " --strategy mls,random --repeats 4";
  EXPECT_THAT(call(line).out, AllOf(StartsWith("convolution_A100: 4362 configurations, 4201 valid"),
                                    HasSubstr("\n  strategy  score            best/opt  <= 1%  trials  CPU ms/trial\n"),
                                    HasSubstr("\n  (random)      0              "),
                                    HasSubstr("\nmean of 2 spaces, 4 repeats, seed 1; score: 0 = random search")));
  const json report = document(line + " --json");
  EXPECT_EQ(report["spaces"][0]["results"][0]["strategy"], "mls");
  EXPECT_EQ(report["spaces"][0]["results"][0]["curve"].size(), 1000u);
  EXPECT_EQ(report["spaces"][1]["results"].size(), 2u);
  EXPECT_EQ(report["aggregate"][1]["strategy"], "random");
  EXPECT_EQ(report["aggregate"][1]["shares"], report["spaces"][0]["results"][1]["shares"]);
  expect_failures(0, "", {line + " --target 2ms"});
}

TEST_F(Program, ExportsImportsAndMerges) {
  tune_once();
  ASSERT_EQ(call("db export best.wisdom").code, 0);
  ASSERT_EQ(call("db export --all all.gz").code, 0);
  ASSERT_EQ(call("db import --db other.db best.wisdom").code, 0);
  EXPECT_EQ(document("show --db other.db --json")["best"].size(), 1u);
  EXPECT_THAT(call("db import --db all.db all.gz").out, HasSubstr("1 session"));
  EXPECT_EQ(document("db import --json --db all.db all.gz")["sources"][0]["trials"], 0);
  file("bad.wisdom", "no wisdom\n");
  EXPECT_THAT(out_of("db import --db half.db best.wisdom bad.wisdom", 1), HasSubstr("best.wisdom  new: 1 best"))
      << "each is reported at once";
  EXPECT_EQ(document("db import --json --db two.db best.wisdom all.gz")["sources"].size(), 2u);
  ASSERT_EQ(call("db merge merged.db other.db cache/wisdom.db").code, 0);
  EXPECT_EQ(document("show --db merged.db --json")["best"].size(), 1u);
}

TEST_F(Program, ExportReplacesOnlyWhatItWrote) {
  tune_once();
  for (const char* name : {"best.wisdom", "best.wisdom.gz"})
    for (int i = 0; i < 2; ++i) EXPECT_EQ(call(std::string("db export ") + name).code, 0) << name;
  file("notes.txt", "my notes\n");
  ASSERT_EQ(shell("ln -s notes.txt link.txt").code, 0);
  const std::string database = contents(cache() / "wisdom.db");
  expect_failures(1, "would be replaced; nothing was changed",
                  {"db export cache/wisdom.db", "db export notes.txt", "db export link.txt", "db export /dev/null",
                   "db export cache", "db export --as header notes.txt --kernel scale", "db export --as t4 notes.txt"});
  EXPECT_EQ(call("db export --force cache/wisdom.db").code, 1) << "text never replaces a database";
  EXPECT_EQ(contents(cache() / "wisdom.db"), database);
  EXPECT_EQ(contents(folder() / "notes.txt"), "my notes\n");
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "link.txt"));
  EXPECT_EQ(call("db export --force notes.txt").code, 0);
  EXPECT_THAT(contents(folder() / "notes.txt"), StartsWith("{\"tuner_wisdom\""));
}

TEST_F(Program, ShowsShippedWisdomWithoutADatabaseOfOnesOwn) {
  tune_once();
  ASSERT_EQ(shell("mkdir shipped; mv cache/wisdom.db shipped/").code, 0);
  set("TUNER_DB_PATH", (folder() / "shipped").string());
  EXPECT_THAT(call("show --kernel scale").out, Holds("n=1000", "shipped/wisdom.db (shipped)"));
  EXPECT_THAT(call("show --all").out, HasSubstr("n=1000"));
  const std::string counted = call("show").out;
  EXPECT_THAT(counted, HasSubstr("1 best configuration in " + (folder() / "shipped/wisdom.db").string() +
                                 " (shipped); --all or a kernel's name shows them\n"));
  EXPECT_THAT(counted, Not(HasSubstr("n=1000")));
  EXPECT_EQ(document("show --json")["best"].size(), document("show --all --json")["best"].size());
  EXPECT_THAT(call("show reduce").out, Not(HasSubstr("0 best configurations")));
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
}

TEST_F(Program, NamesADatabaseOnlyForWhatIsOne) {
  const std::string notes = "my notes, long enough to be looked at by a library for databases\n";
  tune_once();
  ASSERT_EQ(call("db export best.wisdom").code, 0);
  file("notes.txt", notes);
  expect_failures(1, "notes.txt",
                  {"show --db notes.txt", "show scale.cu --why --db notes.txt", "db --db notes.txt",
                   "db export --db notes.txt -", "db check --db notes.txt", "db clear results --db notes.txt",
                   "db clear quarantine --db notes.txt", "db import --db notes.txt best.wisdom",
                   "db merge notes.txt cache/wisdom.db", "db merge all.db notes.txt", "scale.cu --db notes.txt"});
  EXPECT_EQ(contents(folder() / "notes.txt"), notes);
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("notes.txt."))) << "nothing was moved aside";
}

TEST_F(Program, LooksIntoADamagedDatabaseWithoutChangingIt) {
  tune_once();
  std::string damaged = contents(cache() / "wisdom.db");
  damaged.replace(4096, 4096, std::string(4096, 'x'));
  file("cache/wisdom.db", damaged);
  for (const char* line : {"show", "db export -", "db", "show scale.cu --why"}) call(line);
  EXPECT_THAT(out_of("db check", 1), HasSubstr("Nothing is read from it"));
  EXPECT_EQ(contents(cache() / "wisdom.db"), damaged);
}

TEST_F(Program, SaysWhenNothingIsStored) {
  tune_once();
  ASSERT_EQ(call("db export --all all.wisdom").code, 0);
  ASSERT_EQ(shell("\"$TUNE\" db export - > bad.wisdom; echo '{\"what\": 1}' >> bad.wisdom").code, 0);
  file("blocker", "a file where the folder should be");
  std::filesystem::create_directory(folder() / "folder.db");
  expect_failures(1, "",
                  {"db merge blocker/all.db cache/wisdom.db", "db import --db blocker/all.db all.wisdom",
                   "db merge folder.db cache/wisdom.db"});
  expect_failures(1, "bad.wisdom:", {"db import --db fresh.db bad.wisdom"});
  EXPECT_EQ(document("show --db fresh.db --json")["best"].size(), 0u) << "one bad line";
  for (const char* line : {"db merge all.db cache/wisdom.db", "db import --db small.db all.wisdom"}) {
    const Finished full = shell(std::string("trap '' XFSZ; ulimit -f 8; exec \"$TUNE\" ") + line);
    EXPECT_EQ(full.code, 1) << line;
    EXPECT_EQ(full.out, "") << line;
  }
}

TEST_F(Program, ListsAndLiftsTheQuarantine) {
  tune_once();
  {
    cache::Database database = cache::Database::open_user(cache() / "wisdom.db");
    cache::BestRecord best = cache::best_rows(database).at(0);
    best.problem.sizes = {{"n", 7}};
    for (const char* configuration : {"block=32 unroll=1", "block=64 unroll=1"})
      database.quarantine(best.device, best.kernel, best.problem, configuration, "it hung");
  }
  EXPECT_THAT(call("db check").out, HasSubstr("block=32 unroll=1"));
  EXPECT_EQ(document("db check --json")["quarantine"][0]["reason"], "it hung");
  EXPECT_THAT(call("db clear quarantine --kernel reduce").out, HasSubstr("0 configurations lifted"));
  EXPECT_THAT(call("db clear quarantine --config 'unroll=1 block=32'").out, HasSubstr("1 configuration lifted"));
  EXPECT_EQ(call("db clear quarantine --config block").code, 2);
  std::string bytes = contents(cache() / "wisdom.db");
  for (std::size_t at = 0; (at = bytes.find("n=1000", at)) != std::string::npos; ++at) bytes[at + 5] = '9';
  file("damaged.db", bytes);
  const Finished damaged = call("db check --db damaged.db");
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.out, Holds("wrong checksum", "`tune db export` writes the others", "block=64 unroll=1"))
      << damaged.err;
  EXPECT_THAT(call("db clear quarantine --kernel scale").out, HasSubstr("1 configuration lifted"));
  EXPECT_EQ(document("db --json")["quarantined"], 0);
}

#ifdef TUNER_HAS_CUDA
TEST_F(Program, ComputesOccupancyWithoutAGpu) {
  const Finished run = call("occupancy --kernel reduce --arch sm_90 --config threads=256");
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine";
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, Holds("registers", "spills", "occupancy", "limited by", "<- this configuration",
                             "with the 132 multiprocessors of a H100"));
  EXPECT_EQ(call("occupancy --kernel reduce --arch sm_1").code, 1);
  EXPECT_EQ(call("occupancy --kernel reduce --config thraeds=256").code, 2);
}

TEST_F(Program, SaysThatClustersAreNotCountedWithoutAGpuOfTheirArchitecture) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine";
  std::string text = contents(folder() / "scale.cu");
  file("clusters.cu", text.insert(text.find("#pragma tuner instantiate"), "#pragma tuner cluster 2\n"));
  const Finished run = call("occupancy clusters.cu --arch sm_100 --size n=1M");
  EXPECT_THAT(run.out, Holds("cluster", "2 x 1 x 1 = 2 blocks; how many fit is not counted")) << run.err;
  const json launch = document("occupancy clusters.cu --arch sm_100 --size n=1M --json")["launches"][0];
  EXPECT_EQ(launch["cluster"], (json{2, 1, 1}));
  EXPECT_FALSE(launch.contains("resident_clusters"));
}

TEST_F(Program, SeesTheClusterThatIsCompiledIntoAKernel) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine";
  std::string text = contents(folder() / "scale.cu");
  file("clusters.cu", text.insert(text.find("__global__") + 10, " __cluster_dims__(2)"));
  const json launch = document("occupancy clusters.cu --arch sm_100 --size n=1M --json")["launches"][0];
  EXPECT_EQ(launch["cluster"], (json{2, 1, 1}));
  file("other.cu", text.insert(text.find("#pragma tuner instantiate"), "#pragma tuner cluster 4\n"));
  const Finished other = call("occupancy other.cu --arch sm_100 --size n=1M");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("is compiled for one of 2x1x1"));
}

TEST_F(Program, ComputesOccupancyOfABlockThatIsDescribedByHand) {
  EXPECT_THAT(call("occupancy --threads 256 --registers 32 --shared 4k --arch sm_86").out,
              AllOf(StartsWith("sm_86: blocks of 256 threads, 32 registers a thread, 4 KiB"),
                    HasSubstr("6: 6 by threads, 16 by blocks, 8 by registers, 20 by shared memory"),
                    HasSubstr("100.0%, 48 of 48 warps"), HasSubstr("96 128 192 256 384 512 768 threads: 100.0%"),
                    Not(HasSubstr("idle lanes"))));
  EXPECT_THAT(call("occupancy --threads 80 --registers 32 --shared 100 --arch sm_86").out,
              AllOf(HasSubstr("16 of 96"), ContainsRegex("\n +80 +16 +48 +100.0%[^\n]*<- this configuration"),
                    ContainsRegex("\n +1 to 40 [^\n]*<- this configuration"),
                    ContainsRegex("\n +0 B to [^\n]*<- this configuration")));
  const json curves = document("occupancy --threads 256 --registers 32 --arch sm_86 --json");
  std::vector<int> last;  // 65536 registers in units of 256 a warp: 8 warps a block leave 6, 5, 4, 3, 2 and 1 blocks
  for (const auto& step : curves["by_registers"]) last.push_back(step["to"]);
  EXPECT_EQ(last, (std::vector<int>{40, 48, 64, 80, 128, 255}));
  EXPECT_EQ(curves["by_threads"].back()["from"], 1024);
  EXPECT_TRUE(document("occupancy --threads 256 --shared 200k --arch sm_86 --json")["best_block_sizes"].empty());
  const std::string plot = call("occupancy --threads 256 --arch sm_86 --plot -").out;
  EXPECT_THAT(plot, AllOf(StartsWith("<svg "), HasSubstr("<title>256: 48 warps, 100.0%</title>"),
                          ContainsRegex("<polyline.*<circle.*<polyline.*<circle.*<polyline.*<circle")));
}

TEST_F(Program, ListsTheLimitsOfEveryArchitecture) {
  const std::string text = call("occupancy --arch list").out;
  for (const std::string& name : cuda::known_architectures()) EXPECT_THAT(text, HasSubstr('\n' + name + ' '));
  EXPECT_EQ(document("occupancy --arch list --json")["architectures"].size(), cuda::known_architectures().size());
}
#endif

/// The lines of `tune COMMAND --help` that are there to be copied.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> lines;
  std::istringstream text(help.substr(std::min(help.find("\nExamples:\n"), help.size())));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("  tune ")) lines.push_back(line.substr(2, line.find("   ", 2) - 2));
  return lines;
}

TEST_F(Program, EveryExampleOfTheHelpWorksWhenItIsCopied) {
  tune_once();
  ASSERT_EQ(call("db export h200.wisdom").code, 0);
  // The files of the examples, under their names.
  ASSERT_EQ(
      shell("mkdir bin; ln -s \"$TUNE\" bin/tune; cp scale.cu mine.cu; mkdir -p home/.cache; "
            "ln -s ../../cache home/.cache/tuner; for f in results node1 node2; do cp cache/wisdom.db $f.db; done")
          .code,
      0);
  file("overnight.txt", "--kernel reduce --type float,int --size n=2^20;n=2^24  # as docs/many-gpus.md has it\n");
  file("sizes.txt", "--size n=2^16;n=2^20\n");
  file("gemm.csv.gz", "block,eval_time_s,objective\n1,0.5,4\n2,0.5,3\n3,0.5,5\n4,0.5,2\n");
  const char* const entry = R"("time":3.8,"times":[3.8],"compile_time":9,"verification_time":0,"benchmark_time":1,)"
                            R"("strategy_time":7,"framework_time":2})";
  file("cachefile.json", R"({"device_name":"A100","kernel_name":"k","problem_size":"9","tune_params_keys":["b"],)"
                         R"("tune_params":{"b":[1,2]},"objective":"time","cache":{"1":{"b":1,)" +
                             std::string(entry) + R"(,"2":{"b":2,)" + entry + "}}");
  const KernelSpec recorded = read_kernel_file(folder() / "scale.cu");
  ASSERT_TRUE(RecordingWriter(folder(), "axpy-n=4096-1a2b3c4d.recording", recorded, complete(recorded, {}),
                              choose_device("host").device, to_record(recorded, {}).source_hash)
                  .publish());
  set("HOME", (folder() / "home").string());
  const bool has_nvrtc = call("occupancy --kernel reduce").code == 0;
  const bool has_cupti = call("devices --metrics --chip GH100").code == 0;
  std::size_t examples = 0;
  for (const char* command : {"tune", "run", "list", "devices", "occupancy", "show", "db", "replay"}) {
    for (std::string line : examples_of(shell("\"$TUNE\" " + std::string(command) + " --help").out)) {
      ++examples;
      if (std::string_view(command) == "tune" && line.find("--missed") == std::string::npos &&
          line.find("--dry-run") == std::string::npos)
        line += " --dry-run";  // the search itself is tested elsewhere
      if (line.starts_with("tune replay") && line.find("--repeats") == std::string::npos &&
          line.find("--list") == std::string::npos)
        line += " --repeats 2";
      const Finished run = shell("PATH=\"$PWD/bin:$PATH\"; " + line);
      if (!has_nvrtc && line.starts_with("tune occupancy")) continue;
      if (!has_cupti && line.starts_with("tune devices --metrics")) continue;
      if (!kHasCuda && line.find("--ptx") != std::string::npos) continue;
      if (gpu_count() == 0 && line.find("--device all") != std::string::npos) continue;  // of GPUs
      EXPECT_EQ(run.code, 0) << line << '\n' << run.err;
    }
  }
  EXPECT_GE(examples, 18u);
}

}  // namespace
}  // namespace tuner::cli
