// Rows of another user's database: their checksums are right, but their contents may be anything.

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/rows.hpp>

#include <tests/matchers.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

constexpr const char* kCode = "2;struct/**/P{P(){system(\"x\");}}p";

void put_row(Database& database, const auto& record) {
  database.store().write([&] { put(database.store(), record); });
}

TEST(ForeignRows, ThatNameWhatIsNoNameAreLeftOut) {
  const std::pair<const char*, void (*)(Context&, std::string&)> changes[] = {
      {"a value", [](Context&, std::string& configuration) { configuration = std::string("block=") + kCode; }},
      {"a parameter", [](Context&, std::string& configuration) { configuration = "a;b=1"; }},
      {"a kernel", [](Context& c, std::string&) { c.kernel.name = "reduce*/x"; }},
      {"a source hash", [](Context& c, std::string&) { c.kernel.source_hash = "a\nint x;"; }},
      {"a size",
       [](Context& c, std::string&) {
         c.problem.sizes = {{"n\nint", 1}};
       }},
      {"a choice", [](Context& c, std::string&) { c.problem.choices = "T=float{}"; }},
      {"a choice without a value", [](Context& c, std::string&) { c.problem.choices = "T"; }}};
  for (const auto& [what, change] : changes) {
    Warnings warnings;
    auto database = Database::in_memory(warnings.options());
    SessionRecord session;
    session.key = session_key();
    session.uuid = "1";
    StoredTrial stored_trial{"1", 1, trial("block=32", 10)};
    BestRecord best{session_key(), trial("block=32", 10), "block=32", 3, 1};
    QuarantineRecord banned{h200().key, reduce_kernel(), problem(), "block=32", "hung", 1};
    change(session.key, stored_trial.trial.configuration);
    change(best, best.configuration);
    Context context = session_key();
    change(context, banned.configuration);
    banned.kernel = context.kernel;
    banned.problem = context.problem;
    put_row(database, session);
    put_row(database, stored_trial);
    put_row(database, best);
    put_row(database, banned);
    EXPECT_TRUE(best_rows(database).empty()) << what;
    EXPECT_TRUE(quarantined(database).empty()) << what;
    EXPECT_TRUE(sessions(database).empty() || session_trials(database, "1").empty()) << what;
    EXPECT_TRUE(export_all(database).find(kCode) == std::string::npos) << what;
    EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("damaged rows were left out"))) << what;
  }
}

}  // namespace
}  // namespace tuner::cache::test
