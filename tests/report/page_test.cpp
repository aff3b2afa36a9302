#include <nlohmann/json.hpp>

#include <cache/records/sha256.hpp>

#include <tuner/report/page.hpp>

#include <tests/support/page_data.hpp>

#include "sample.hpp"

namespace tuner::report {
namespace {

using Json = nlohmann::json;
using testing::between;
using testing::data_text_of;

Json data_of(const std::string& page) { return Json::parse(data_text_of(page)); }

std::string page_of(const Tuning& tuning, const PageOptions& options = test::sample_options()) {
  return page({&tuning, 1}, options);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Page, BeginsWithTheMarkByWhichItIsKnown) { EXPECT_THAT(page({}, test::sample_options()), StartsWith(kPageMark)); }

TEST(Page, StaysSmallWithTenThousandTrials) { EXPECT_LE(page_of(test::sample_tuning(10'000)).size(), 300'000u); }

TEST(Page, HoldsEveryTrial) {
  const Json trials = data_of(page_of(test::sample_tuning(500)))["tunings"][0]["trials"];
  EXPECT_EQ(trials["count"], 508);
  EXPECT_EQ(trials["parameters"].size(), 7u);
  EXPECT_EQ(trials["finalists"].size(), 8u);
  EXPECT_EQ(trials["states"].size(), 508u);
  for (const auto& [name, numbers] : trials["columns"].items()) EXPECT_EQ(numbers.size(), 508u) << name;
}

TEST(Page, HoldsTheSmallestNumbersThatThereAre) {
  Tuning tuning = test::sample_tuning(20);
  double metric = 1e-320;
  for (PlacedTrial& one : tuning.trials) one.trial.metrics["tiny"] = metric *= 2;
  EXPECT_THAT(data_text_of(page_of(tuning)), HasSubstr("tiny"));
}

TEST(Page, HoldsTheVerdictOnTheBest) {
  Tuning tuning = test::sample_tuning(20);
  const Json verdict = data_of(page_of(tuning))["tunings"][0]["verdict"];
  EXPECT_EQ(verdict["limit"], "device memory");
  EXPECT_EQ(verdict["counted"], false);
  EXPECT_EQ(verdict["numbers"].size(), 1u);
  tuning.verdict->limit = Limit::unknown;
  EXPECT_EQ(data_of(page_of(tuning))["tunings"][0]["verdict"]["limit"], "");
  tuning.verdict.reset();
  EXPECT_FALSE(data_of(page_of(tuning))["tunings"][0].contains("verdict"));
}

TEST(Page, PutsTheLargestFirstWhereThatWins) {
  Tuning tuning = test::sample_tuning(0);
  tuning.key.kernel.objective = "max:ipc";
  std::vector<cache::TrialRecord> trials;
  for (const double ipc : {1.0, 3.0, 2.0}) {
    trials.push_back(test::sample_trial("block=" + std::to_string(static_cast<int>(ipc)), 1000));
    trials.back().metrics["ipc"] = ipc;
  }
  append_session(tuning, std::move(trials), test::sample_started_ms(), 0);
  const Json data = data_of(page_of(tuning))["tunings"][0];
  EXPECT_EQ(data["kernel"]["metric"], "ipc");
  EXPECT_EQ(data["kernel"]["is_larger_better"], true);
  std::vector<int> rows;
  for (const Json& one : data["trials"]["finalists"]) rows.push_back(one["row"]);
  EXPECT_EQ(rows, (std::vector<int>{1, 2, 0}));
}

TEST(Page, LetsNoStoredTextBecomeMoreThanText) {
  const std::string text = page_of(test::hostile_tuning());
  EXPECT_EQ(count(text, "<script"), 2u);
  EXPECT_EQ(count(text, "</script"), 2u);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x01"))));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE"))) << "a mark that turns the direction of writing";
  EXPECT_THAT(data_of(text)["tunings"][0]["kernel"]["name"].get<std::string>(), HasSubstr("</script>"));
}

TEST(Page, AsksTheNetworkForNothing) {
  const std::string text = page_of(test::sample_tuning(20));
  const std::string allowed = "http://www.w3.org/2000/svg";  // only a name: nothing is loaded from it
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1))
    EXPECT_EQ(text.substr(at - 4, allowed.size()), allowed);
  for (const char* const asks : {"fetch(", "XMLHttpRequest", "import(", "@import", "url(", "innerHTML", "eval(",
                                 "document.write", "insertAdjacentHTML"})
    EXPECT_THAT(text, Not(HasSubstr(asks))) << asks;
}

TEST(Page, AllowsNoScriptButItsOwn) {
  const std::string text = page_of(test::sample_tuning(20));
  const std::string policy = between(text, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, ContainsRegex("script-src 'sha256-[A-Za-z0-9+/]+='")) << policy;
}

TEST(Page, CountsMessagesThatDifferOnlyInNumbersAsOneReason) {
  const Json data = data_of(page_of(test::sample_tuning(3000)));
  std::set<std::string> reasons;
  for (const Json& state : data["tunings"][0]["trials"]["states"]) reasons.insert(state[2]);
  EXPECT_EQ(reasons.size(), 6u);  // five, and one for trials without a reason
}

TEST(Page, TakesTheLastMeasurementsOfFinalistsBestFirst) {
  const Json finalists = data_of(page_of(test::sample_tuning(300)))["tunings"][0]["trials"]["finalists"];
  ASSERT_EQ(finalists.size(), 8u);
  EXPECT_TRUE(finalists[0]["again"]);
  for (std::size_t i = 1; i < finalists.size(); ++i)
    EXPECT_LE(finalists[i - 1]["median_ns"], finalists[i]["median_ns"]);
}

TEST(Page, ListsTheFastestWhereNoneWasMeasuredAgain) {
  Tuning tuning;
  tuning.key = test::sample_key();
  append_session(tuning, {test::sample_trial("a=1", 30), test::sample_trial("a=2", 10)}, test::sample_started_ms(), 0);
  const Json finalists = data_of(page_of(tuning))["tunings"][0]["trials"]["finalists"];
  ASSERT_EQ(finalists.size(), 2u);
  EXPECT_EQ(finalists[0]["row"], 1);
  EXPECT_FALSE(finalists[0]["again"]);
}

TEST(Page, IsTheSameForTheSame) { EXPECT_EQ(page_of(test::sample_tuning(200)), page_of(test::sample_tuning(200))); }

}  // namespace
}  // namespace tuner::report
