// The commands besides tuning, and how the program is asked for help.
#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cache/browse.hpp>
#include <cache/database.hpp>

#include <tuner/recording/recording_writer.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/records.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Program : public ProgramTest {};

constexpr const char* kCommands[] = {"tune", "run",    "list",    "devices", "occupancy", "show",
                                     "db",   "report", "compare", "replay",  "convert"};

TEST_F(Program, SaysItsVersionAndWhatItCanDo) {
  EXPECT_THAT(tune({"--version"}).out, StartsWith("tuner 0."));
  const Finished help = tune({"help"});
  EXPECT_EQ(help.code, 0);
  const auto fits = [](const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << line;
  };
  fits(help.out);
  std::size_t options = 0;
  for (const std::string command : kCommands) {
    EXPECT_THAT(help.out, HasSubstr("\n  " + command + ' '));
    const Finished detail = tune({command, "--help"});
    EXPECT_EQ(detail.code, 0) << command;
    EXPECT_THAT(detail.out, HasSubstr("Usage: tune")) << command;
    fits(detail.out);
    for (std::size_t at = 0; (at = detail.out.find("\n  -", at)) != std::string::npos; ++at) ++options;
  }
  EXPECT_LE(options, 95u) << "is one of them in another command, or used by nobody?";
  EXPECT_THAT(tune({"--help"}).out, HasSubstr("--until-unlikely"));
  EXPECT_EQ(tune({}).code, 2);
}

TEST_F(Program, ListsEveryBuiltInKernel) {
  const Finished run = tune({"list"});
  EXPECT_EQ(run.code, 0);
  for (const char* kernel : {"sumMatrix2D", "reduce", "reduceClassic", "warpReduce", "blockReduce", "warpDivergence",
                             "nestedReduce", "nestedHello", "prefixSum", "compact", "histogram", "serialSum"})
    EXPECT_THAT(run.out, HasSubstr(kernel));
  EXPECT_GE(json::parse(tune({"list", "--json"}).out)["kernels"].size(), 12u);
}

TEST_F(Program, SaysThatTheHostCannotLaunchKernelsFromTheDevice) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--kernel", "nestedReduce", "--device", "host"},
        {"run", "--kernel", "nestedHello", "--device", "host"}}) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, HasSubstr("launches kernels from the device; the host backend cannot"));
  }
}

TEST_F(Program, ListsKernelsOfAGivenFolderFirst) {
  small_kernel();
  set("TUNER_TEMPLATE_PATH", folder().string());
  EXPECT_THAT(tune({"list"}).out, HasSubstr("scale"));
}

TEST_F(Program, DescribesTheHostAndWhyThereIsNoGpu) {
  const json devices = json::parse(tune({"devices", "--json"}).out);
  ASSERT_GE(devices["devices"].size(), 1u);
  EXPECT_EQ(devices["devices"].back()["backend"], "host");
  const bool has_gpu = devices["devices"].size() > 1;
  EXPECT_EQ(devices["why_no_gpu"] == "", has_gpu);
  EXPECT_THAT(tune({"devices"}).out, HasSubstr("cores"));
}

TEST_F(Program, ShowsAndExplainsWhatItKnows) {
  const std::string kernel = small_kernel();
  const json before = json::parse(tune({"show", "--json"}).out);
  for (const json& one : before["databases"]) EXPECT_TRUE(one["shipped"]) << one << ": there is no other yet";
  EXPECT_EQ(tune({"show", "--db", "none.db"}).code, 1);
  EXPECT_EQ(tune({"db", "check"}).code, 1);
  EXPECT_THAT(tune({"show", kernel, "--why"}).out, HasSubstr("default"));
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  EXPECT_THAT(tune({"show", "--all"}).out, HasSubstr("n=1000"));
  ASSERT_EQ(tune({"--kernel", kernel, "--hot", "--trials", "2"}).code, 0);
  EXPECT_THAT(tune({"show", "--kernel", "scale"}).out, HasSubstr("time_hot   T=float"));
  EXPECT_THAT(tune({"show", kernel, "--why"}).out, HasSubstr("exact"));
  const json near = json::parse(tune({"show", kernel, "--why", "--size", "n=1500", "--json"}).out);
  EXPECT_EQ(near["answers"][0]["tier"], "nearest size");
  EXPECT_THAT(tune({"db"}).out, HasSubstr("2 best configurations"));
  EXPECT_THAT(tune({"db", "check"}).out, HasSubstr("sound"));
}

TEST_F(Program, FindsResultsByTheFileOfTheKernelAndTellsTypingErrors) {
  const std::string kernel = small_kernel();
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  EXPECT_EQ(json::parse(tune({"show", "--kernel", kernel, "--json"}).out)["best"].size(), 1u);
  EXPECT_THAT(tune({"db", "export", "--kernel", kernel, "-"}).out, HasSubstr("\"scale\""));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"show"}, {"db", "export", "-"}, {"db", "check"}, {"db", "clear", "quarantine"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--kernel", "scal"});
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 2) << command.front();
    EXPECT_THAT(run.err, HasSubstr("unknown kernel 'scal'; did you mean 'scale'?")) << command.front();
  }
}

TEST_F(Program, TakesTheKernelWithoutAnOption) {
  const std::string kernel = small_kernel();
  EXPECT_EQ(tune({kernel, "--trials", "2", "--quiet"}).code, 0);
  EXPECT_EQ(json::parse(tune({"show", "scale", "--json"}).out)["best"].size(), 1u);
  EXPECT_EQ(tune({"run", kernel, "--once"}).code, 0);
  EXPECT_EQ(tune({"reduce", "--dry-run"}).code, 0);
  EXPECT_EQ(tune({"tune", "reduce", "--dry-run"}).code, 0);
  EXPECT_EQ(tune({kernel, "--kernel", kernel}).code, 2);
}

TEST_F(Program, SuggestsTheCommandOrTheKernelThatIsMeant) {
  for (const auto& [word, meant] : {std::pair{"shwo", "'show'"},
                                    {"redcue", "'reduce'"},
                                    {"export", "'tune db export'"},
                                    {"explain", "'tune show KERNEL --why'"},
                                    {"todo", "'tune show --missed'"}}) {
    const Finished run = tune({word});
    EXPECT_EQ(run.code, 2) << word;
    EXPECT_THAT(run.err, HasSubstr(std::string("did you mean ") + meant)) << word;
  }
  EXPECT_THAT(tune({"help", "lsit"}).err, HasSubstr("unknown command 'lsit'; did you mean 'list'?"));
}

TEST_F(Program, SaysHowSizesOfOneProblemAreGiven) {
  for (const char* command : {"run", "occupancy"}) {
    const Finished run = tune({command, "--kernel", "sumMatrix2D", "--size", "nx=64", "--size", "ny=32"});
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr("looks at one problem, and these are 2: give one --size nx=…,ny=…")) << command;
  }
}

TEST_F(Program, ListsStrategiesAsTextAndAsJson) {
  EXPECT_THAT(tune({"replay", "--list"}).out, HasSubstr("\nrandom "));
  const json strategies = json::parse(tune({"replay", "--list", "--json"}).out)["strategies"];
  EXPECT_GE(strategies.size(), 12u);
  EXPECT_EQ(strategies[0]["name"], "auto");
  EXPECT_EQ(strategies[0]["learns"], true);
}

TEST_F(Program, ExportsImportsAndMerges) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "best.wisdom"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "--all", "all.gz"}).code, 0);
  EXPECT_THAT(tune({"db", "export", "-"}).out, HasSubstr("scale"));

  ASSERT_EQ(tune({"db", "import", "--db", "other.db", "best.wisdom"}).code, 0);
  EXPECT_EQ(json::parse(tune({"show", "--db", "other.db", "--json"}).out)["best"].size(), 1u);
  const Finished all = tune({"db", "import", "--db", "all.db", "all.gz"});
  EXPECT_THAT(all.out, HasSubstr("1 session"));
  EXPECT_EQ(json::parse(tune({"db", "import", "--json", "--db", "all.db", "all.gz"}).out)["sources"][0]["trials"], 0);

  const Finished merged = tune({"db", "merge", "merged.db", "other.db", (cache() / "wisdom.db").string()});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(json::parse(tune({"show", "--db", "merged.db", "--json"}).out)["best"].size(), 1u);
}

TEST_F(Program, ExportReplacesOnlyWhatItWrote) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  for (const char* name : {"best.wisdom", "best.wisdom.gz"})
    for (int i = 0; i < 2; ++i) EXPECT_EQ(tune({"db", "export", name}).code, 0) << name;
  file("notes.txt", "my notes\n");
  ASSERT_EQ(shell("ln -s notes.txt link.txt").code, 0);
  const std::string database = contents(cache() / "wisdom.db");
  for (const std::string path : {"cache/wisdom.db", "notes.txt", "link.txt", "/dev/null", "cache"}) {
    const Finished run = tune({"db", "export", path});
    EXPECT_EQ(run.code, 1) << path;
    EXPECT_THAT(run.err, HasSubstr("would be replaced; nothing was changed")) << path;
  }
  EXPECT_EQ(tune({"db", "export", "--force", "cache/wisdom.db"}).code, 1) << "text never replaces a database";
  EXPECT_EQ(contents(cache() / "wisdom.db"), database);
  EXPECT_EQ(contents(folder() / "notes.txt"), "my notes\n");
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "link.txt"));
  EXPECT_EQ(tune({"db", "export", "--force", "notes.txt"}).code, 0);
  EXPECT_THAT(contents(folder() / "notes.txt"), StartsWith("{\"tuner_wisdom\""));
}

TEST_F(Program, ShowsShippedWisdomWithoutADatabaseOfOnesOwn) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(shell("mkdir shipped; mv cache/wisdom.db shipped/").code, 0);
  set("TUNER_DB_PATH", (folder() / "shipped").string());
  const Finished run = tune({"show", "--kernel", "scale"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("n=1000"));
  EXPECT_THAT(run.out, HasSubstr("shipped/wisdom.db (shipped)"));
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
}

TEST_F(Program, NamesADatabaseOnlyForWhatIsOne) {
  const std::string notes = "my notes\n", kernel = small_kernel();
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "best.wisdom"}).code, 0);
  file("notes.txt", notes);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"show", "--db", "notes.txt"},
                                             {"db", "export", "--db", "notes.txt", "-"},
                                             {"show", kernel, "--why", "--db", "notes.txt"},
                                             {"db", "--db", "notes.txt"},
                                             {"db", "check", "--db", "notes.txt"},
                                             {"db", "clear", "results", "--db", "notes.txt"},
                                             {"db", "import", "--db", "notes.txt", "best.wisdom"},
                                             {"db", "merge", "notes.txt", "cache/wisdom.db"},
                                             {"db", "merge", "all.db", "notes.txt"},
                                             {"--kernel", kernel, "--db", "notes.txt"}}) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 1) << arguments[0] << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("notes.txt")) << arguments[0];
    EXPECT_EQ(contents(folder() / "notes.txt"), notes) << arguments[0];
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(HasSubstr("notes.txt."))) << "nothing was moved aside";
}

TEST_F(Program, LookingIntoADatabaseMakesAndChangesNothing) {
  const std::string kernel = small_kernel();
  EXPECT_EQ(tune({"show", kernel, "--why"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  std::string damaged = contents(cache() / "wisdom.db");
  damaged.replace(4096, 4096, std::string(4096, 'x'));
  file("cache/wisdom.db", damaged);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"show"}, {"db", "export", "-"}, {"db"}, {"db", "check"}, {"show", kernel, "--why"}}) {
    tune(arguments);
    EXPECT_EQ(contents(cache() / "wisdom.db"), damaged) << arguments[0];
  }
  EXPECT_EQ(tune({"db", "check"}).code, 1);
}

TEST_F(Program, MergesSayWhenNothingIsStored) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "--all", "all.wisdom"}).code, 0);
  file("blocker", "a file where the folder should be");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"db", "merge", "blocker/all.db", "cache/wisdom.db"},
                                             {"db", "import", "--db", "blocker/all.db", "all.wisdom"}}) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 1) << arguments[0];
    EXPECT_EQ(run.out, "") << arguments[0];
  }
  const Finished full = shell("trap '' XFSZ; ulimit -f 8; exec \"$TUNE\" db merge all.db cache/wisdom.db");
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.out, "");
}

TEST_F(Program, ImportsNothingOfAFileWithOneBadLine) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(shell("\"$TUNE\" db export - > bad.wisdom; echo '{\"what\": 1}' >> bad.wisdom").code, 0);
  const Finished run = tune({"db", "import", "--db", "fresh.db", "bad.wisdom"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("bad.wisdom:"));
  EXPECT_EQ(json::parse(tune({"show", "--db", "fresh.db", "--json"}).out)["best"].size(), 0u);
}

TEST_F(Program, ListsAndLiftsTheQuarantine) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  EXPECT_THAT(tune({"db", "check"}).out, HasSubstr("no configuration is in quarantine"));
  {
    cache::Database database = cache::Database::open_user(cache() / "wisdom.db");
    const cache::BestRecord best = cache::best_rows(database).at(0);
    database.quarantine(best.device, best.kernel, best.problem, "block=32 unroll=1", "it hung");
  }
  EXPECT_THAT(tune({"db", "check"}).out, HasSubstr("block=32 unroll=1"));
  EXPECT_EQ(json::parse(tune({"db", "check", "--json"}).out)["quarantine"][0]["reason"], "it hung");
  EXPECT_THAT(tune({"db", "clear", "quarantine", "--kernel", "reduce"}).out, HasSubstr("0 configurations lifted"));
  EXPECT_THAT(tune({"db", "clear", "quarantine", "--kernel", "scale"}).out, HasSubstr("1 configuration lifted"));
  EXPECT_EQ(json::parse(tune({"db", "--json"}).out)["quarantined"], 0);
  EXPECT_EQ(tune({"db", "clear", "quarantine", "--db", "none.db"}).code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder() / "none.db"));
}

TEST_F(Program, ComputesOccupancyWithoutAGpu) {
  const Finished run = tune({"occupancy", "--kernel", "reduce", "--arch", "sm_90", "--config", "threads=256"});
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine, or built without the CUDA headers";
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"registers", "spills", "occupancy", "limited by", "<- this configuration"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_THAT(run.out, HasSubstr("with the 132 multiprocessors of a H100"));
  EXPECT_EQ(tune({"occupancy", "--kernel", "reduce", "--arch", "sm_1"}).code, 1);
  EXPECT_EQ(tune({"occupancy", "--kernel", "reduce", "--config", "thraeds=256"}).code, 2);
}

TEST_F(Program, ComputesOccupancyOfWhatIsNamedByHand) {
  if (!has_nvrtc()) GTEST_SKIP() << "no libnvrtc on this machine, or built without the CUDA headers";
  const Finished run =
      tune({"occupancy", "--threads", "256", "--registers", "32", "--shared", "4k", "--arch", "sm_86"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("sm_86: blocks of 256 threads, 32 registers a thread, 4 KiB"));
  EXPECT_THAT(tune({"occupancy", "--arch", "list"}).out, HasSubstr("sm_50"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--threads", "2000"},
                                             {"--threads", "256", "--registers", "256"},
                                             {"--threads", "8", "--kernel", "reduce"},
                                             {"--registers", "8"}})
    EXPECT_EQ(tune([&] {
                std::vector<std::string> all{"occupancy"};
                all.insert(all.end(), wrong.begin(), wrong.end());
                return all;
              }())
                  .code,
              2)
        << wrong[0];
}

/// The lines of `tune COMMAND --help` that are there to be copied.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> lines;
  std::istringstream text(help.substr(std::min(help.find("\nExamples:\n"), help.size())));
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("  tune ")) lines.push_back(line.substr(2, line.find("   ", 2) - 2));
  return lines;
}

TEST_F(Program, EveryExampleOfTheHelpWorksWhenItIsCopied) {
  const std::string kernel = small_kernel();
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "h200.wisdom"}).code, 0);
  // What the examples name, under the names they give it.
  ASSERT_EQ(
      shell("mkdir bin; ln -s \"$TUNE\" bin/tune; cp scale.cu mine.cu; mkdir -p home/.cache; "
            "ln -s ../../cache home/.cache/tuner; for f in results node1 node2; do cp cache/wisdom.db $f.db; done")
          .code,
      0);
  file("overnight.txt", "--kernel reduce --type float,int --size n=2^20;n=2^24  # as docs/many-gpus.md has it\n");
  file("gemm.csv.gz", "block,eval_time_s,objective\n1,0.5,4\n2,0.5,3\n3,0.5,5\n4,0.5,2\n");
  const char* const entry = R"("time":3.8,"times":[3.8],"compile_time":9,"verification_time":0,"benchmark_time":1,)"
                            R"("strategy_time":7,"framework_time":2})";
  file("cachefile.json", R"({"device_name":"A100","kernel_name":"k","problem_size":"9","tune_params_keys":["b"],)"
                         R"("tune_params":{"b":[1,2]},"objective":"time","cache":{"1":{"b":1,)" +
                             std::string(entry) + R"(,"2":{"b":2,)" + entry + "}}");
  const KernelSpec recorded = read_kernel_file(kernel);
  ASSERT_TRUE(RecordingWriter(folder(), "axpy-n=4096-1a2b3c4d.recording", recorded, complete(recorded, {}),
                              choose_device("host").device, to_record(recorded, {}).source_hash)
                  .publish());
  set("HOME", (folder() / "home").string());
  const bool has_nvrtc = tune({"occupancy", "--kernel", "reduce"}).code == 0;
  const bool has_cupti = tune({"devices", "--metrics", "--chip", "GH100"}).code == 0;
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
      if (gpu_count() == 0 && line.find("--device all") != std::string::npos) continue;  // of GPUs
      EXPECT_EQ(run.code, 0) << line << '\n' << run.err;
    }
  }
  EXPECT_GE(examples, 18u);
}

}  // namespace
}  // namespace tuner::cli
