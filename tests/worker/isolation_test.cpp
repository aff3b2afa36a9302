// An isolated evaluator with workers that misbehave. The workers are scripted (scripted_worker.cpp).

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <tests/support/child_process.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

constexpr const char* kernel_text = R"(
#pragma tuner kernel      scripted
#pragma tuner size        n : int = 64
#pragma tuner parameter   does = well fast wrong crashes aborts exits hangs babbles poisons compiler_crashes compiler_is_killed compiler_is_killed_once compiler_hangs compiler_waits compiler_babbles refused is_stopped_once is_killed_once is_killed runs_until_recalled hangs_in_our_step
#pragma tuner in          a[n] : float
#pragma tuner out         c[n] : float
#pragma tuner block       32
#pragma tuner grid        ceil_div(n, 32)
#pragma tuner arguments   a, c, n
#pragma tuner instantiate scripted<Does::does>
#pragma tuner reference   reference
#pragma tuner default     does=well
)";

Configuration does(const std::string& what) { return Configuration{{"does", what}}; }

class IsolationTest : public ::testing::Test {
 protected:
  IsolationTest() : spec(parse_kernel_file(kernel_text, "scripted.cu")) {
    options.program = std::string(TUNER_BINARY_DIR) + "/bin/scripted_worker";
    options.backend = "scripted";
    options.compile_workers = 2;
    options.batch = 4;
    options.grace_s = 0.1;
    ::unsetenv("TUNER_TEST_WORKER");
  }
  ~IsolationTest() override { ::unsetenv("TUNER_TEST_WORKER"); }

  std::map<std::string, Trial> evaluate(Evaluator& evaluator, const std::vector<std::string>& all) {
    for (const std::string& what : all) evaluator.submit(does(what), 0);
    std::map<std::string, Trial> trials;
    while (evaluator.in_flight() > 0) {
      Trial trial = evaluator.next();
      const std::string what = trial.configuration.find("does")->string();
      EXPECT_FALSE(trials.contains(what)) << what << " was answered twice";
      trials[what] = std::move(trial);
    }
    return trials;
  }

  static Event next_event(Evaluator& evaluator) {
    for (;;)
      if (auto event = evaluator.next_event(std::chrono::seconds(1))) return *event;
  }

  /// To all that is in flight: "well ok", "fast withdrawn".
  static std::vector<std::string> what_happens(Evaluator& evaluator) {
    std::vector<std::string> happened;
    while (evaluator.in_flight() > 0) {
      const Event event = next_event(evaluator);
      if (const auto* trial = std::get_if<Trial>(&event))
        happened.push_back(trial->configuration.find("does")->string() + " " + std::string(kind(trial->outcome)));
      else
        happened.push_back(std::get<Withdrawn>(event).configuration.find("does")->string() + " withdrawn");
    }
    return happened;
  }

  KernelSpec spec;
  IsolatedOptions options;
};

TEST_F(IsolationTest, AnswersEachConfigurationOnceWhateverItDoesToItsWorkers) {
  options.compile_timeout_s = 2;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  EXPECT_EQ(evaluator.device().key.backend, "scripted");
  EXPECT_GE(evaluator.capacity(), 8u);
  const auto trials =
      evaluate(evaluator, {"crashes", "well", "hangs", "compiler_crashes", "aborts", "refused", "exits", "wrong",
                           "babbles", "compiler_hangs", "poisons", "compiler_babbles", "fast"});
  ASSERT_EQ(trials.size(), 13u);
  const std::map<std::string, std::string> kinds{{"crashes", "launch"}, {"well", "ok"},
                                                 {"hangs", "timeout"},  {"compiler_crashes", "compile"},
                                                 {"aborts", "launch"},  {"refused", "compile"},
                                                 {"exits", "launch"},   {"wrong", "wrong"},
                                                 {"babbles", "launch"}, {"compiler_hangs", "compile"},
                                                 {"poisons", "launch"}, {"compiler_babbles", "compile"},
                                                 {"fast", "ok"}};
  std::set<std::string> crashed;
  for (const auto& [what, trial] : trials) {
    EXPECT_EQ(kind(trial.outcome), kinds.at(what)) << what;
    if (trial.crashed) crashed.insert(what);
  }
  for (const char* const part : {"segmentation imminent", "Segmentation fault", "in phase verify"})
    EXPECT_THAT(message(trials.at("crashes").outcome), HasSubstr(part));
  EXPECT_THAT(message(trials.at("compiler_crashes").outcome), HasSubstr("Segmentation fault"));
  EXPECT_EQ(std::get<CompileError>(trials.at("refused").outcome).log, "scripted<Does::refused>");
  EXPECT_EQ(crashed, (std::set<std::string>{"crashes", "hangs", "aborts", "exits", "babbles", "poisons"}));
}

TEST_F(IsolationTest, DoesNotRunWhatWasWithdrawnWhileItWaited) {
  options.compile_workers = 1;
  options.batch = 1;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  // The first hangs, the second is in the run worker's pipe by then, the others wait.
  for (const char* const what : {"hangs", "well", "fast", "wrong"}) evaluator.submit(does(what), 0);
  for (int compiled = 0; compiled < 4;) compiled += std::holds_alternative<Compiled>(next_event(evaluator));
  const Configuration waiting[] = {does("well"), does("fast"), does("wrong")};
  evaluator.withdraw(waiting);
  EXPECT_THAT(what_happens(evaluator),
              UnorderedElementsAre("hangs timeout", "well withdrawn", "fast withdrawn", "wrong withdrawn"));
}

TEST_F(IsolationTest, TakesBackWhatWaitsInThePipeOfItsRunWorkerAndWhatRunsWhereItIsAbandoned) {
  options.compile_workers = 1;
  options.batch = 1;
  const std::vector<Configuration> all{does("runs_until_recalled"), does("well"), does("fast")};
  for (const bool abandons : {false, true}) {
    const testing::TemporaryFolder folder;
    ::setenv("TUNER_TEST_MARKER", (folder / "runs").c_str(), 1);
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    for (const Configuration& one : all) evaluator.submit(one, 0);
    for (int compiled = 0; compiled < 3;) compiled += std::holds_alternative<Compiled>(next_event(evaluator));
    ASSERT_TRUE(testing::wait_until([&] { return std::filesystem::exists(folder / "runs"); }));
    if (abandons) {
      evaluator.abandon(std::span(all).first(1));
      EXPECT_THAT(what_happens(evaluator), UnorderedElementsAre("runs_until_recalled withdrawn", "well ok", "fast ok"));
    } else {
      evaluator.withdraw(all);
      EXPECT_THAT(what_happens(evaluator),
                  UnorderedElementsAre("runs_until_recalled ok", "well withdrawn", "fast withdrawn"));
    }
  }
}

TEST_F(IsolationTest, TakesBackWhatIsStillCompilingAndWaitsNoLongerThanItWasTold) {
  options.compile_workers = 1;
  options.batch = 1;
  options.compile_timeout_s = 600;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration all[] = {does("compiler_hangs"), does("well"), does("fast")};
  for (const Configuration& one : all) evaluator.submit(one, 0);
  EXPECT_FALSE(evaluator.next_event(std::chrono::milliseconds(1)));
  EXPECT_EQ(evaluator.in_flight(), 3u);
  evaluator.withdraw(all);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::holds_alternative<Withdrawn>(next_event(evaluator)));
  EXPECT_EQ(evaluator.in_flight(), 0u);
}

TEST_F(IsolationTest, AsksForAProgramOnceWhileItIsBeingCompiled) {
  const testing::TemporaryFolder folder;
  ::setenv("TUNER_TEST_MARKER", (folder / "test").c_str(), 1);
  std::string text = kernel_text;
  text.insert(text.find("#pragma tuner parameter"), "#pragma tuner parameter turn = 1 2 3\n");
  text.replace(text.find("does=well"), 0, "turn=1 ");
  spec = parse_kernel_file(text, "scripted.cu");
  options.compile_workers = 1;
  std::set<const Image*> compiled;
  options.images.put = [&](const CompileRequest&, std::string_view, const Image& image) { compiled.insert(&image); };
  auto evaluator = std::make_unique<IsolatedEvaluator>(spec, ProblemSize{}, MeasureOptions{}, options);
  const auto turn = [&](int number, const std::string& what) {
    return Configuration{{"turn", std::int64_t{number}}, {"does", what}};
  };
  evaluator->submit(turn(1, "compiler_waits"), 0);
  ASSERT_TRUE(testing::wait_until([&] { return std::filesystem::exists(folder / "test.compiling"); }));
  evaluator->submit(turn(2, "compiler_waits"), 0);
  evaluator->submit(turn(3, "compiler_waits"), 0);
  evaluator->submit(turn(1, "well"), 0);
  const Configuration well[] = {turn(1, "well")};
  evaluator->withdraw(well);
  ASSERT_TRUE(std::holds_alternative<Withdrawn>(next_event(*evaluator))) << "what came before is in its place";
  std::ofstream(folder / "test.go").flush();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(kind(evaluator->next().outcome), "ok");
  evaluator.reset();  // all is stored now
  EXPECT_EQ(compiled.size(), 2u) << "of the reference and of what all three have in common";
}

TEST_F(IsolationTest, GivesWhatRanInAStoppedOrKilledWorkerASecondTry) {
  for (const std::string what : {"is_stopped_once", "is_killed_once", "compiler_is_killed_once"}) {
    const testing::TemporaryFolder folder;
    ::setenv("TUNER_TEST_MARKER", (folder / "ran").c_str(), 1);
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    const auto trials = evaluate(evaluator, {what});
    EXPECT_EQ(kind(trials.at(what).outcome), "ok") << message(trials.at(what).outcome);
  }
}

TEST_F(IsolationTest, DoesNotBlameWhatRanInAWorkerThatIsKilledEachTime) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {"is_killed", "compiler_is_killed", "well"});
  EXPECT_EQ(kind(trials.at("is_killed").outcome), "launch");
  EXPECT_EQ(kind(trials.at("compiler_is_killed").outcome), "compile");
  EXPECT_FALSE(trials.at("is_killed").crashed);
  EXPECT_EQ(kind(trials.at("well").outcome), "ok");
}

/// What a daemon may do, in the scope of this object.
struct IgnoredEnds {
  IgnoredEnds() { ::signal(SIGCHLD, SIG_IGN); }
  ~IgnoredEnds() { ::signal(SIGCHLD, SIG_DFL); }
};

TEST_F(IsolationTest, DoesNotBlameWhatRanInAKilledWorkerOfAProgramThatIgnoresTheEndsOfItsChildren) {
  const IgnoredEnds ignored;
  const testing::TemporaryFolder folder;
  ::setenv("TUNER_TEST_MARKER", (folder / "ran").c_str(), 1);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {"is_killed_once", "is_killed", "crashes"});
  EXPECT_EQ(kind(trials.at("is_killed_once").outcome), "ok");
  EXPECT_EQ(kind(trials.at("is_killed").outcome), "launch");
  EXPECT_FALSE(trials.at("is_killed").crashed);
  EXPECT_TRUE(trials.at("crashes").crashed) << "its last words say so";
}

TEST_F(IsolationTest, DoesNotBlameAKernelForASlowStepOfOurOwn) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {"hangs_in_our_step"});
  EXPECT_EQ(kind(trials.at("hangs_in_our_step").outcome), "timeout");
  EXPECT_FALSE(trials.at("hangs_in_our_step").crashed);
}

TEST_F(IsolationTest, MeasuresTheOthersAgainIfAFinalistMakesTheDeviceUnusable) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {does("fast"), does("poisons"), does("well")};
  const auto trials = evaluator.remeasure(finalists, 3000);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_TRUE(trials[1].crashed);
  for (const std::size_t i : {0u, 2u}) {
    EXPECT_EQ(kind(trials[i].outcome), "ok") << message(trials[i].outcome);
    EXPECT_FALSE(trials[i].crashed);
    EXPECT_EQ(trials[i].round, trials[2].round) << "both beside each other";
    ASSERT_NE(trials[i].measurement(), nullptr);
    EXPECT_THAT(trials[i].measurement()->metrics.at("seconds"),
                ::testing::AllOf(::testing::Le(2000), ::testing::Gt(1000)))
        << "in their part of the time that is left";
  }
}

TEST_F(IsolationTest, RefusesAnotherDeviceThanTheOneItIsFor) {
  options.known_device.emplace();
  options.known_device->key.backend = "scripted";
  options.known_device->key.compute_capability = 2;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(does("well"), 0);
  EXPECT_THAT(error_of([&] { evaluator.next(); }), HasSubstr("another device than the session is for"));
}

TEST_F(IsolationTest, AnswersInvalidConfigurationsItself) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(Configuration{{"does", "nothing of the sort"}}, 0);
  EXPECT_EQ(kind(evaluator.next().outcome), "invalid");
}

TEST_F(IsolationTest, SaysWhyNothingCanRun) {
  const struct {
    const char *workers, *error;
    bool is_about_workers;  // or else about the kernel
  } table[] = {
      {"dies", "ended with status 7", true},
      {"no device", "no CUDA-capable device is detected", true},
      {"old", "protocol version 99", true},
      {"bad reference", "the reference gives NaN", false},
      {"fills for ever", "scripted.cu: filling the inputs has no end: the worker did not answer for", false},
      {"reference exits",
       "scripted.cu: the kernel's reference ended the process that ran it: ended with status 3; it must return", false},
      {"reference crashes",
       "scripted.cu: the kernel's reference took its worker down, most likely by reading or writing outside "
       "its buffers or __shared__ arrays: killed by signal 11 (Segmentation fault)",
       false},
      {"reference crashes on chosen problems",
       "took its worker down on a problem that tuner chose (killed by signal 11 (Segmentation fault)), and not on the "
       "tuned one",
       false}};
  for (const auto& [workers, wanted, is_about_workers] : table) {
    ::setenv("TUNER_TEST_WORKER", workers, 1);
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluator.submit(does("well"), 0);
    try {
      evaluator.next();
      FAIL() << workers;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(wanted));
      EXPECT_EQ(dynamic_cast<const WorkerError*>(&error) != nullptr, is_about_workers) << workers;
    }
  }
}

TEST_F(IsolationTest, SaysWhereItLookedForTheProgram) {
  options.program = "/nowhere/tuner-worker";
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  EXPECT_THAT(error_of([&] { evaluator.device(); }), HasSubstr("/nowhere/tuner-worker"));
  ::setenv("TUNER_WORKER", "/nowhere/else", 1);
  EXPECT_EQ(testing::code_of([] { (void)find_worker_program(); }), ErrorCode::not_found);
  ::unsetenv("TUNER_WORKER");
}

TEST_F(IsolationTest, RefusesKernelsThatOnlyExistInCode) {
  spec.program.text = "__global__ void f() {}";
  EXPECT_FALSE(IsolatedEvaluator::can_isolate(spec));
  EXPECT_THROW(IsolatedEvaluator(spec, {}, {}, options), Error);
}

TEST_F(IsolationTest, MeasuresFinalistsAgainAlsoThoseOfAnEarlierSession) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluate(evaluator, {"well"});
  const Configuration finalists[] = {does("fast"), does("well")};
  const auto trials = evaluator.remeasure(finalists);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].configuration, does("fast"));
  EXPECT_EQ(trials[1].configuration, does("well"));
  EXPECT_NE(trials[1].measurement(), nullptr);
  EXPECT_NE(trials[1].round, 0);
  EXPECT_EQ(trials[0].round, trials[1].round);
  EXPECT_TRUE(evaluator.remeasure({}).empty());
}

TEST_F(IsolationTest, MeasuresFinalistsInNewMemoryOrInANewProcessWhereItIsAskedTo) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto measure = [&](Placement placement) {
    const Configuration finalists[] = {does("fast"), does("well")};
    const auto trials = evaluator.remeasure(finalists, 3000, {}, placement);
    EXPECT_EQ(trials.size(), 2u);
    return trials.empty() ? std::map<std::string, double>() : trials[0].measurement()->metrics;
  };
  auto first = measure(Placement::present), moved = measure(Placement::new_memory),
       elsewhere = measure(Placement::new_process), present = measure(Placement::present);
  EXPECT_EQ(first["checked"], 0);
  for (auto* later : {&moved, &elsewhere, &present}) EXPECT_EQ((*later)["checked"], 2);
  EXPECT_EQ(moved["process"], first["process"]);
  EXPECT_NE(elsewhere["process"], first["process"]);
  EXPECT_EQ(present["process"], elsewhere["process"]);
  EXPECT_NE(moved["placement"], first["placement"]);
  EXPECT_NE(elsewhere["placement"], moved["placement"]);
  EXPECT_EQ(present["placement"], elsewhere["placement"]);
  EXPECT_LT(elsewhere["seconds"], 3000) << "without the time to start";
  EXPECT_GT(evaluator.seconds_to_start(), 0);
  EXPECT_EQ(kind(evaluate(evaluator, {"well"}).at("well").outcome), "ok");
}

TEST_F(IsolationTest, GivesUpFinalistsAfterTheirLaunchWhenItIsToldToAndGoesOn) {
  const testing::TemporaryFolder folder;
  ::setenv("TUNER_TEST_MARKER", (folder / "runs").c_str(), 1);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {does("fast"), does("runs_until_recalled"), does("well")};
  const auto runs = [&] { return std::filesystem::exists(folder / "runs"); };
  EXPECT_TRUE(evaluator.remeasure(finalists, std::numeric_limits<double>::infinity(), runs).empty());
  EXPECT_EQ(kind(evaluate(evaluator, {"well"}).at("well").outcome), "ok");
  EXPECT_EQ(evaluator.remeasure(finalists).size(), 3u);
}

TEST_F(IsolationTest, GivesUpFinalistsThatAreStillCompilingWhenTheTimeIsOver) {
  options.compile_timeout_s = 600;
  options.grace = std::chrono::milliseconds(0);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {does("fast"), does("compiler_hangs")};
  EXPECT_TRUE(evaluator.remeasure(finalists, 0.1).empty());
  const Configuration others[] = {does("fast"), does("well")};
  EXPECT_EQ(evaluator.remeasure(others).size(), 2u);
}

TEST_F(IsolationTest, FindsTheFinalistThatTakesItsWorkerDown) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {does("well"), does("crashes"), does("refused"), does("hangs"), does("fast")};
  const auto trials = evaluator.remeasure(finalists, 20);
  ASSERT_EQ(trials.size(), 5u);
  const char* kinds[] = {"ok", "launch", "compile", "timeout", "ok"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(trials[i].configuration, finalists[i]);
    EXPECT_EQ(kind(trials[i].outcome), kinds[i]) << i;
  }
  // Four were measured one by one, in the time that was given for all.
  EXPECT_THAT(trials[0].measurement()->metrics.at("seconds"), ::testing::AllOf(::testing::Le(5), ::testing::Gt(0)));
  EXPECT_EQ(trials[0].round, 0);
}

TEST_F(IsolationTest, CompilesNothingWhenTheStoreHasEverything) {
  std::map<std::vector<std::string>, Image> stored;
  std::size_t puts = 0;
  std::mutex mutex;
  options.images.get = [&](const CompileRequest& request, std::string_view identity) -> std::optional<Image> {
    EXPECT_EQ(identity, "scripted 1");
    EXPECT_EQ(request.architecture, "sm_1");
    const std::lock_guard lock(mutex);
    const auto at = stored.find(request.expressions);
    return at == stored.end() ? std::nullopt : std::optional(at->second);
  };
  options.images.put = [&](const CompileRequest& request, std::string_view, const Image& image) {
    const std::lock_guard lock(mutex);
    stored[request.expressions] = image;
    ++puts;
  };
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluate(evaluator, {"well", "fast"});
  }
  EXPECT_EQ(stored.size(), 3u) << "two configurations and the reference";
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {"well", "fast"});
  EXPECT_EQ(trials.size(), 2u);
  EXPECT_EQ(puts, 3u) << "none of them is compiled again";
}

/// Process ids of this process's children.
std::vector<pid_t> children() {
  std::vector<pid_t> result;
  DIR* processes = ::opendir("/proc");
  while (const dirent* entry = ::readdir(processes)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const std::string status = testing::process_status(pid);
    if (status.size() > 2 && std::atoi(status.c_str() + 2) == ::getpid()) result.push_back(pid);
  }
  ::closedir(processes);
  return result;
}

TEST_F(IsolationTest, SurvivesItsWorkersBeingKilledFromOutside) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluate(evaluator, {"well"});
  for (int round = 0; round < 5; ++round) {
    for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    const auto trials = evaluate(evaluator, {"well", "fast", "wrong"});
    ASSERT_EQ(trials.size(), 3u);
    for (const auto& [what, trial] : trials)
      EXPECT_THAT(kind(trial.outcome), AnyOf("ok", "wrong", "launch", "compile")) << what;
  }
  const auto trials = evaluate(evaluator, {"well", "wrong"});
  EXPECT_EQ(kind(trials.at("well").outcome), "ok");
  EXPECT_EQ(kind(trials.at("wrong").outcome), "wrong");
}

TEST_F(IsolationTest, LeavesNoProcessesBehind) {
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluator.submit(does("hangs"), 0);
    evaluator.submit(does("well"), 0);
    evaluator.device();
  }
  EXPECT_TRUE(children().empty());
}

TEST_F(IsolationTest, LeavesNoProcessesBehindWhenItsOwnProcessIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t session = ::fork();
  ASSERT_GE(session, 0);
  if (session == 0) {  // a session that is busy with a kernel that hangs
    options.grace_s = 600;
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluator.submit(does("hangs"), 0);
    evaluator.submit(does("refused"), 0);
    evaluator.next();
    for (const pid_t pid : children()) (void)!::write(ends[1], &pid, sizeof pid);
    ::close(ends[1]);
    while (true) ::pause();
  }
  ::close(ends[1]);
  std::vector<pid_t> workers;
  for (pid_t pid = 0; ::read(ends[0], &pid, sizeof pid) == sizeof pid;) {
    workers.push_back(pid);
    if (workers.size() == 3) break;
  }
  ::close(ends[0]);
  EXPECT_EQ(workers.size(), 3u);
  ::kill(session, SIGKILL);
  ::waitpid(session, nullptr, 0);
  for (const pid_t pid : workers) {
    EXPECT_TRUE(testing::wait_until([&] { return !testing::is_alive(pid); })) << "worker " << pid << " lives on";
  }
}

TEST_F(IsolationTest, IgnoresCtrlCInItsWorkers) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluate(evaluator, {"well"});
  for (const pid_t pid : children()) EXPECT_NE(::getpgid(pid), ::getpgid(0)) << "a terminal's Ctrl-C would reach it";
}

TEST_F(IsolationTest, LeavesNoDescriptorOpen) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
  };
  const auto run = [&] {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluate(evaluator, {"well", "crashes"});
  };
  run();  // what the first one opens may stay
  const auto before = descriptors();
  run();
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace tuner
