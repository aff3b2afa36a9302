// Results, images and databases that do not work any more: what a call is served with, and what is told of it.

#include <tuner/core/kernel/choices.hpp>
#include <tuner/runtime/decide/decide.hpp>

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/exchange/shipping.hpp>
#include <cache/query/session.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/runtime/decide/make_plan.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/no_descriptors.hpp>
#include <tests/support/sqlite_faults.hpp>

#include <tests/runtime/served_backend.hpp>
#include <tests/runtime/serving_environment.hpp>

namespace tuner::runtime {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPick = R"(
#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter mode = 1 2 3 4 5 6 7 8
#pragma tuner out y[n] : int
#pragma tuner grid 1
#pragma tuner block 32
#pragma tuner arguments y, n
#pragma tuner instantiate pick<mode>
#pragma tuner default mode=1
#pragma tuner reference default
template <int mode> __global__ void pick(int* y, int n) { y[0] = mode; }
)";

class BrokenResults : public testing::ServingEnvironment {
 protected:
  BrokenResults() : ServingEnvironment("host", "never") {}

  void store(std::int64_t n, const std::string& configuration, Use use = Use::single) {
    const ProblemSize size = complete(spec_, {{{"n", n}}, {}});
    testing::store_best(wisdom_.user(), context_of(spec_, size, device_.device(), Objective::time_of(use)),
                        configuration, 100);
  }

  /// What explain() tells.
  std::string explained(std::int64_t n) {
    const ProblemSize size = problem_of(spec_, {n}, {}), lowest = problem_of(spec_, size_classes({n}), {});
    const auto is_broken = [&](const Configuration& configuration) {
      return device_.modules.is_broken(served_request(device_, spec_, size, configuration));
    };
    return forecast({wisdom_, device_.device(), spec_, size, lowest, std::chrono::seconds(1)}, is_broken)
        .decision.configuration.text();
  }
  auto with_call(std::int64_t n, Wisdom& wisdom, const auto& decide) {
    Settings settings;
    settings.tune = TuneOnMiss::never;
    const Serving::Terms terms{Serving::process(), settings, wisdom};
    int y = 0;
    const detail::LaunchArgument arguments[] = {detail::launch_argument(&y)};
    const Sizes sizes{n};
    const Call call{nullptr, {}, sizes, arguments, 1};
    return decide(terms, bind_call(spec_, {}, call, key_of(call, spec_.name), {}, device_.device().limits));
  }
  DecidedPlan plan(std::int64_t n) { return plan(n, wisdom_); }
  DecidedPlan plan(std::int64_t n, Wisdom& wisdom) {
    return with_call(n, wisdom, [&](const Serving::Terms& terms, const BoundCall& bound) {
      return decided_plan(terms, device_, spec_, bound);
    });
  }
  std::optional<DecidedPlan> in_graphs(std::int64_t n, Wisdom& wisdom) {
    return with_call(n, wisdom, [&](const Serving::Terms& terms, const BoundCall& bound) {
      return plan_in_graphs(terms, device_, spec_, bound);
    });
  }
  std::string served(std::int64_t n) { return plan(n).plan->configuration.text(); }

  /// The wisdom of a process under $TUNER_FROZEN.
  Wisdom frozen() {
    cache::freeze(wisdom_.user(), job_);
    fs::last_write_time(job_, fs::last_write_time(job_) - std::chrono::hours(1));  // written before it is opened
    ::setenv("TUNER_FROZEN", job_.c_str(), 1);
    return Wisdom({});
  }

  const testing::TemporaryFolder folder_;
  const fs::path job_ = folder_ / "job.db";
  // Warnings are told once in a process: each test has a kernel of its own.
  const KernelSpec spec_ = parse_kernel_file(
      testing::replaced(kPick, "NAME", ::testing::UnitTest::GetInstance()->current_test_info()->name()), "pick.cu");
  const std::shared_ptr<testing::ServedBackend> backend_ = std::make_shared<testing::ServedBackend>();
  ServedDevice device_{kHostContext, backend_};
  Wisdom wisdom_{{.database = folder_ / "wisdom.db", .shipped = false, .warn = {}}};
  const testing::CollectedWarnings warned_;
  const std::vector<std::string>& warnings_ = warned_.texts;
};

TEST_F(BrokenResults, ArePassedOverForTheNextBestWithAWarning) {
  store(1000, "mode=2");
  store(1400, "mode=3");
  EXPECT_EQ(served(1000), "mode=2");
  backend_->compiler().broken = {"pick<2>"};
  EXPECT_EQ(served(1001), "mode=2") << "loaded before";
  store(2000, "mode=4");
  store(2400, "mode=5");
  backend_->compiler().broken = {"pick<4>"};
  EXPECT_EQ(served(2000), "mode=5");
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("mode=4, the best known configuration, cannot be used here: pick.cu: does "
                                          "not compile for fake: pick<4> is broken"),
                                Not(HasSubstr("line 1")))));
}

TEST_F(BrokenResults, AreCompiledAndToldOfOnceWhateverIsCalled) {
  store(1000, "mode=2");
  backend_->compiler().broken = {"pick<2>"};
  EXPECT_EQ(explained(1000), "mode=2") << "which nobody has compiled yet";
  for (const int n : {1000, 1000, 1100, 1300}) EXPECT_EQ(served(n), "mode=1") << n;
  EXPECT_EQ(plan(1000).decision.missed, "default") << "`tune show --missed` lists it";
  EXPECT_EQ(explained(1000), "mode=1");
  EXPECT_EQ(backend_->compiler().compiles, 2u) << "the best and the default";
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(BrokenResults, ArePassedOverWhereTheyDoNotLoad) {
  store(1000, "mode=2");
  backend_->loads_images = false;
  const Error error = testing::thrown_by([&] { plan(1000); }).value();
  EXPECT_EQ(error.code(), ErrorCode::compiler) << "the default does not load either";
  EXPECT_THAT(error.what(), HasSubstr("does not load"));
  EXPECT_TRUE(warnings_.empty()) << "the error says it";
  backend_->loads_images = true;
  EXPECT_EQ(served(1000), "mode=2");
  EXPECT_EQ(backend_->compiler().compiles, 2u) << "what is compiled is kept until it loads";
}

TEST_F(BrokenResults, AreNotTriedWithoutEnd) {
  for (int mode = 2; mode <= 8; ++mode) {
    store(1000 + mode, "mode=" + std::to_string(mode));
    backend_->compiler().broken.insert("pick<" + std::to_string(mode) + ">");
  }
  EXPECT_EQ(served(1000), "mode=1");
  EXPECT_EQ(warnings_.size(), kMostBroken);
}

TEST_F(BrokenResults, AreAnErrorOfEveryCallWhenTheDefaultIsBrokenToo) {
  backend_->compiler().broken = {"pick<1>"};
  for (int call = 0; call < 2; ++call) {
    const Error error = testing::thrown_by([&] { plan(1000); }).value();
    EXPECT_EQ(error.code(), ErrorCode::compiler);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("pick<1> is broken"), HasSubstr("line 2")));
  }
  EXPECT_EQ(backend_->compiler().compiles, 1u);
}

TEST_F(BrokenResults, OfAFrozenDatabaseAreAnErrorOfEveryCall) {
  store(1000, "mode=2");
  backend_->compiler().broken = {"pick<2>"};
  Wisdom job = frozen();
  for (const int n : {1000, 1000, 1100}) {
    const Error error = testing::thrown_by([&] { plan(n, job); }).value();
    EXPECT_EQ(error.code(), ErrorCode::compiler) << n;
    EXPECT_THAT(error.what(), AllOf(StartsWith("TUNER_FROZEN=" + job_.string()), HasSubstr("mode=2"))) << n;
  }
  EXPECT_THAT(warnings_, ElementsAre());
  EXPECT_EQ(backend_->compiler().compiles, 1u);
}

TEST_F(BrokenResults, AreAnErrorOfEveryCallWhenAFrozenDatabaseBreaksInUse) {
  store(1000, "mode=2");
  Wisdom job = frozen();
  EXPECT_EQ(plan(1000, job).plan->configuration.text(), "mode=2");
  fs::permissions(job_, fs::perms::owner_all);
  testing::write_file(job_, std::string(fs::file_size(job_), 'x'));
  for (const int n : {1000, 1000, 5000}) {
    const Error error = testing::thrown_by([&] { plan(n, job); }).value();
    EXPECT_EQ(error.code(), ErrorCode::cache) << n;
    EXPECT_THAT(error.what(), StartsWith("TUNER_FROZEN=" + job_.string())) << n;
  }
  EXPECT_THAT(warnings_, ElementsAre());
}

TEST_F(BrokenResults, AreAnErrorWhileAFrozenDatabaseCannotBeReadNotTheDefault) {
  store(1000, "mode=2");
  (void)frozen();
  const cache::test::ReadingFails reading;
  for (const long many : {1, 2, 3, 4, 6, 1000}) {
    bool happened = true;
    for (long nth = 1; happened; ++nth) {
      Wisdom job({});
      {
        const cache::test::NthFails some(nth, many);
        const auto served = [&] { EXPECT_EQ(plan(1000, job).plan->configuration.text(), "mode=2") << nth << many; };
        const auto error = testing::thrown_by(served);
        EXPECT_TRUE(!error || error->code() == ErrorCode::cache) << nth << many;
        happened = cache::test::NthFails::happened();
      }
      ASSERT_EQ(plan(1000, job).plan->configuration.text(), "mode=2") << nth << many;
    }
  }
}

TEST_F(BrokenResults, AreNotThoseOfACompilerThatDoesNotRunForOnce) {
  store(1000, "mode=2");
  backend_->compiler().away = true;
  const Error error = testing::thrown_by([&] { plan(1000); }).value();
  EXPECT_EQ(error.code(), ErrorCode::compiler);
  EXPECT_THAT(error.what(), HasSubstr("it did not end"));
  backend_->compiler().away = false;
  EXPECT_EQ(served(1000), "mode=2");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(BrokenResults, AreReplacedByTheDefaultForNowIfTheCompilerDoesNotRunForOnce) {
  EXPECT_EQ(served(1000), "mode=1") << "the default is loaded";
  store(1000, "mode=2");
  backend_->compiler().away = true;
  const DecidedPlan made = plan(1000);
  EXPECT_EQ(made.plan->configuration.text(), "mode=1");
  EXPECT_TRUE(made.decision.for_now);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("mode=2"), HasSubstr("it did not end"))));
  backend_->compiler().away = false;
  const DecidedPlan later = plan(1000);
  EXPECT_EQ(later.plan->configuration.text(), "mode=2");
  EXPECT_FALSE(later.decision.for_now);
}

TEST_F(BrokenResults, AreNotThoseOfADatabaseThatIsLockedForOnce) {
  store(1000, "mode=2");
  Wisdom hasty({.database = folder_ / "wisdom.db", .shipped = false, .warn = {}, .patience = {}});
  {
    SQLite::Database other((folder_ / "wisdom.db").string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN EXCLUSIVE");
    const DecidedPlan made = plan(1000, hasty);
    EXPECT_EQ(made.plan->configuration.text(), "mode=1");
    EXPECT_TRUE(made.decision.for_now);
    EXPECT_THAT(made.decision.reason, HasSubstr("locked"));
  }
  const DecidedPlan later = plan(1000, hasty);
  EXPECT_EQ(later.plan->configuration.text(), "mode=2");
  EXPECT_FALSE(later.decision.for_now);
}

TEST_F(BrokenResults, AreNotThoseOfShippedWisdomThatCouldNotBeReadForOnce) {
  const testing::TemporaryFolder shipped;
  {
    cache::Database database = cache::Database::open_user(shipped / "shipped.db");
    const ProblemSize size = complete(spec_, {{{"n", 1000}}, {}});
    testing::store_best(database, context_of(spec_, size, device_.device(), {}), "mode=3", 100);
  }
  const testing::EnvironmentVariable path("TUNER_DB_PATH", shipped.path().string());
  EXPECT_EQ(served(2000), "mode=1") << "everything else is open";
  std::optional<Wisdom> wisdom;
  {
    const testing::FewDescriptors none;
    wisdom.emplace(WisdomOptions{.database = {}, .warn = {}, .read_only = true});
    const DecidedPlan made = plan(1000, *wisdom);
    EXPECT_EQ(made.plan->configuration.text(), "mode=1");
    EXPECT_TRUE(made.decision.for_now);
    EXPECT_THAT(made.decision.reason, HasSubstr("Too many open files"));
  }
  const DecidedPlan later = plan(1000, *wisdom);
  EXPECT_EQ(later.plan->configuration.text(), "mode=3");
  EXPECT_FALSE(later.decision.for_now);
}

TEST_F(BrokenResults, AreThoseOfAPlaceThatCannotBeReadWhichIsSaidOnce) {
  const testing::EnvironmentVariable path("TUNER_DB_PATH", (folder_ / std::string(300, 'x')).string());
  std::vector<std::string> warned;
  Wisdom wisdom(
      {.database = {}, .warn = [&](std::string_view message) { warned.emplace_back(message); }, .read_only = true});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(plan(1000 << i, wisdom).plan->configuration.text(), "mode=1");
  EXPECT_THAT(warned, ElementsAre(HasSubstr("File name too long")));
}

#ifdef TUNER_HAS_CUDA  // the host keeps no images
TEST_F(BrokenResults, MayBeKeptImagesWhichAreCompiledAgain) {
  CompileRequest request;
  request.file_name = "pick.cu";
  request.source = spec_.name;
  const auto device = [] { return std::make_shared<testing::ServedBackend>("cuda"); };
  const auto first = device(), second = device(), third = device();
  EXPECT_NE(LoadedModules(*first).load(request), nullptr);
  second->refuses = third->refuses = std::byte{1};
  second->compiler().makes = std::byte{2};
  std::vector<std::string> warned;
  LoadedModules modules(*second, [&](std::string_view message) { warned.emplace_back(message); });
  EXPECT_NE(modules.load(request), nullptr);
  EXPECT_EQ(second->compiler().compiles, 1u);
  EXPECT_THAT(warned, ElementsAre(AllOf(HasSubstr("image is ignored"), HasSubstr("it is full"))));
  EXPECT_NE(LoadedModules(*third).load(request), nullptr);
  EXPECT_EQ(third->compiler().compiles, 0u) << "the new one is kept";
}
#endif

/// On a device that has graphs.
class ResultsForGraphs : public BrokenResults {
 protected:
  ResultsForGraphs() { backend_->device_.key.backend = "fake"; }
  std::string captured(std::int64_t n) {
    const std::optional<DecidedPlan> other = in_graphs(n, wisdom_);
    return other ? other->plan->configuration.text() : "as others";
  }
};

TEST_F(ResultsForGraphs, ComeFirstUnlessTheyAreOfASizeFartherAway) {
  store(1000, "mode=2");
  EXPECT_EQ(captured(1000), "as others") << "there is none";
  store(1400, "mode=3", Use::graph);
  EXPECT_EQ(captured(1000), "mode=2");
  EXPECT_EQ(captured(1400), "mode=3");
  EXPECT_EQ(served(1400), "mode=2") << "a single launch";
  store(1000, "mode=4", Use::graph);
  EXPECT_EQ(captured(1000), "mode=4");
  EXPECT_THAT(in_graphs(1000, wisdom_).value().decision.reason, HasSubstr(", timed as 'graph'"));
}

TEST_F(ResultsForGraphs, OfAFrozenDatabaseDoNotDependOnWhichSizeCameFirst) {
  store(1024, "mode=2");
  store(1030, "mode=3", Use::graph);
  Wisdom job = frozen();
  EXPECT_THAT(in_graphs(1024, job).value().decision.apart, ElementsAre(Sizes{1030}));
  const DecidedPlan own = in_graphs(1030, job).value();
  EXPECT_TRUE(own.decision.only_here);
  EXPECT_EQ(own.plan->configuration.text(), "mode=3");
}

}  // namespace
}  // namespace tuner::runtime
