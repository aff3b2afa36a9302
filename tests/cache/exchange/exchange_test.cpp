#include <cache/exchange/exchange.hpp>
#include <cache/file/disk.hpp>
#include <cache/records/record_checks.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

void fill(Database& database) {
  store_best(database, session_key(1 << 20), "block=256", 1000);
  store_best(database, session_key(1 << 9), "block=64", 10.125);
  store_best(database, key_on(a100()), "block=512", 2000);
  database.quarantine(h200(), reduce_kernel(), problem(), "block=1024", "hang");
  SessionWriter writer(database, session_key(77));
  auto odd = failed_trial("block=3", "compile", "error: \"x\"\n\xff");
  odd.log = "line 1\nline 2";
  writer.add(odd);
}

std::string valid_text() {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  return export_wisdom(database);
}

TEST(WisdomText, ComesBackAsItWas) {
  auto first = Database::in_memory();
  fill(first);
  const auto text = export_wisdom(first);
  auto second = Database::in_memory();
  const auto count = import_text(second, text);
  EXPECT_EQ(count.best, 3);
  EXPECT_EQ(export_wisdom(second), text);
  EXPECT_EQ(find(second, query()).tier, Tier::exact);
  EXPECT_EQ(find(second, query()).best->device, h200());
}

TEST(WisdomText, IsSortedBySizeAsANumber) {
  auto database = Database::in_memory();
  fill(database);
  const auto text = export_wisdom(database, {.device_key = h200().key});
  EXPECT_THAT(text, StartsWith("{\"tuner_wisdom\":1,\"device\":{\"key\":\"cuda cc=9.0"));
  EXPECT_LT(text.find("n=512"), text.find("n=1048576"));
  EXPECT_THAT(text, Not(HasSubstr("A100")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(WisdomText, MayHoldBlankLinesCommentsAndWindowsLineEnds) {
  auto text = valid_text();
  const auto end = text.find('\n');
  text = "# reviewed\n\n" + text.substr(0, end) + "\r\n\n" + text.substr(end + 1);
  auto database = Database::in_memory();
  EXPECT_EQ(import_text(database, text).best, 1);
}

TEST(WisdomText, HasNoControlCharactersThatATerminalWouldObey) {
  auto first = Database::in_memory();
  SessionWriter writer(first, session_key(77));
  auto odd = failed_trial("block=3", "compile",
                          "\x1b[2J \x7f \xc2\x9b"
                          "2J \xe2\x80\xae \xc2\xb5s");
  writer.add(odd);
  writer.flush();
  const auto text = export_all(first);
  EXPECT_THAT(text, HasSubstr("\\u001b[2J \\u007f \\u009b2J \\u202e \\u00b5s"));
  auto second = Database::in_memory();
  import_text(second, text);
  EXPECT_EQ(export_all(second), text);
}

TEST(WisdomText, IsImportedWholeOrNotAtAll) {
  const auto good = valid_text();
  const auto header = good.substr(0, good.find('\n') + 1);
  const auto line = good.substr(header.size());
  const auto with = [&](const std::string& from, const std::string& to) {
    auto changed = line;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return header + line + changed.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> table[] = {
      {header + line + "{", ":3: not JSON at column 2: syntax error while parsing"},
      {"#include <hist.h>\nint main() {}\n", ":2: neither a wisdom text, whose lines are JSON, nor a database"},
      {header + line + "[1]\n", ":3: not a JSON object"},
      {line, ":1: the first line must be a header"},
      {with("\"median_ns\":1000.0", "\"median_ns\":-1"), ":3: median_ns is -1, not a time from 0.001"},
      {with("\"median_ns\":1000.0", "\"median_ns\":1e-300"), ":3: median_ns is 1e-300, not a time from 0.001"},
      {with("\"median_ns\":1000.0", "\"median_ns\":1e300"), ":3: median_ns is 1e+300, not a time from 0.001"},
      {with("\"median_ns\":1000.0", "\"median_ns\":null"), ":3: median_ns is nan, not a time from 0.001"},
      {with("\"low_ns\":990.0", "\"low_ns\":0.0009"), ":3: low_ns is 0.0009, not a time from 0.001"},
      {with("\"high_ns\":1010.0", "\"high_ns\":2e18"), ":3: high_ns is 2e+18, not a time from 0.001"},
      {with("\"median_ns\":1000.0", "\"median_ns\":\"x\""), ":3: 'median_ns' is not a number"},
      {with("\"median_ns\":1000.0,", ""), ":3: 'median_ns' is missing"},
      {with("\"median_ns\":1000.0", "\"median_ns\":5000.0"), ":3: median_ns is outside of low_ns..high_ns"},
      {with("n=1048576", "n=-1"), ":3: n=-1: no sizes like"},
      {with("n=1048576", "n"), ":3: n: no sizes like"},
      {with("block=256", "block"), ":3: 'block' in the configuration is not name=value"},
      {with("block=256", "b=1 a=2"), ":3: the configuration is not in canonical form"},
      {with("aaaa", "AAAA"), ":3: the source hash of kernel 'reduce' is not 64"},
      {with("\"samples\":3", "\"samples\":0"), ":3: samples is not at least 1"},
      {with("\"samples\":3", "\"samples\":1e400"), ":3: not JSON: number overflow"},
      {with("\"measured\":\"2", "\"measured\":\"x"), ":3: 'measured' is not an instant"},
      {"{\"tuner_wisdom\":2}\n", ":1: format 2 is not known"},
      {"{\"tuner_wisdom\":1}\n", ":1: 'device' is missing"},
  };
  for (const auto& [text, message] : table) {
    auto database = Database::in_memory();
    EXPECT_THAT(error_of([&, &text = text] { import_text(database, text, "h200.jsonl"); }),
                StartsWith("h200.jsonl" + message));
    EXPECT_TRUE(best_rows(database).empty()) << message;
  }
}

TEST(CompleteExport, ComesBackAsItWasThroughACompressedFile) {
  const TemporaryFolder folder;
  auto first = Database::in_memory();
  fill(first);
  const auto text = export_all(first);
  write_text(folder / "all.jsonl.gz", text);
  EXPECT_LT(std::filesystem::file_size(folder / "all.jsonl.gz"), text.size() / 2);
  EXPECT_EQ(read_text(folder / "all.jsonl.gz"), text);
  auto second = Database::in_memory();
  const auto count = import_text(second, read_text(folder / "all.jsonl.gz"));
  EXPECT_EQ(count.best, 3);
  EXPECT_EQ(count.sessions, 4);
  EXPECT_EQ(count.trials, 4);
  EXPECT_EQ(count.quarantined, 1);
  EXPECT_EQ(export_all(second), text);
  EXPECT_TRUE(doctor(second).empty());
  const auto trials = finished_trials(second, session_key(1 << 20));
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].samples_ns, trial("block=256", 1000).samples_ns);
  EXPECT_EQ(trials[0].resources, trial("block=256", 1000).resources);
  EXPECT_EQ(trials[0].metrics, (std::map<std::string, double>{{"energy_j", 0.25}}));
}

TEST(CompleteExport, ComesBackWhateverACompilerPrinted) {
  std::string accents = "-";  // so that the limit is within a character
  while (accents.size() <= kMaxProseBytes) accents += "\u00e9";
  for (const auto& log : {accents, std::string(kMaxProseBytes, '\xff')}) {
    auto first = Database::in_memory();
    SessionWriter writer(first, session_key(), {"random", 1, "test"});
    auto odd = failed_trial("block=64", "compile", "it does not compile");
    odd.log = log;
    writer.add(odd);
    writer.flush();
    const auto text = export_all(first);
    auto second = Database::in_memory();
    EXPECT_EQ(import_text(second, text).trials, 1);
    EXPECT_EQ(export_all(second), text);
    EXPECT_GT(finished_trials(second, session_key()).at(0).log.size(), kMaxProseBytes - 3);
  }
}

TEST(Import, ChecksWhatItIsTold) {
  auto from = Database::in_memory();
  store_best(from, session_key(), "block=256", 1000);
  const auto good = export_all(from);
  std::string many = "\"x\":0.0";
  for (int i = 0; i < 1000; ++i) many += ",\"x" + std::to_string(i) + "\":1.0";
  const std::pair<std::pair<std::string, std::string>, std::string> table[] = {
      {{"\"samples_ns\":[990.0,1000.0,1010.0]", "\"samples_ns\":[399990.0,400000.0,400010.0]"},
       "the median of its samples"},
      {{"\"samples_ns\":[990.0,1000.0,1010.0]", "\"samples_ns\":[]"}, "without samples"},
      {{"\"samples_ns\":[990.0", "\"samples_ns\":[-990.0"}, "a sample is -990, not a time"},
      {{"\"samples_ns\":[990.0", "\"samples_ns\":[null"}, "a sample is nan, not a time"},
      {{"\"compile\":0.125", "\"compile\":-0.125"}, "the time 'compile'"},
      {{"\"clock_mhz\":1980.0", "\"clock_mhz\":-1980.0"}, "clock_mhz is negative"},
      {{"\"energy_j\":0.25", "\"energy_j\":\"much\""}, "'metrics' is not a number"},
      {{"\"energy_j\":0.25", "\"\\u001b[2J\":1.5"}, "'metrics' contains control characters"},
      {{"\"energy_j\":0.25", many}, "'metrics' has more than 1000 entries"},
      {{"\"spill_bytes\":0", "\"spill_bytes\":-1"}, "'resources'"},
      {{"\"low_ns\":990.0", "\"low_ns\":-1.0"}, "low_ns is -1, not a time"},
      {{"\"measured\":\"2", "\"measured\":\"9"}, "'measured' is in the future"},
      {{"\"started\":\"2", "\"started\":\"9"}, "'started' is in the future"},
      {{"\"samples\":3", "\"samples\":-3"}, "samples is not at least 1"},
      {{"block=256", "block=2;struct/**/P{P(){system(0);}}p"}, "in the configuration is not name=value"},
      {{"block=256", "a;b=1"}, "in the configuration is not name=value"},
      {{"\"reduce\"", "\"reduce*/x\""}, "cannot be the name of a kernel"},
      {{"aaaa\"", "a\\nint x;\""}, "'source' contains control characters"},
      {{"n=1048576", "n\\nint=1"}, "cannot be the name of a size"},
      {{"T=float operation=sum", "T=float{}"}, "'T=float{}' cannot be a choice"},
      {{"T=float operation=sum", "T"}, "'T' cannot be a choice"},
      {{"\"noise\":0.004", "\"noise\":-0.004"}, "negative or infinite"},
      {{"NVIDIA H200", "\\u001b[2Jx"}, "'name' contains control characters"},
      {{"\"origin\":\"tune\"", "\"origin\":\"\\u001b[2J\""}, "'origin' contains control characters"},
      {{"\"sm_count\":132", "\"sm_count\":-132"}, "a number of device"},
      {{"\"l2_bytes\":62914560", "\"l2_bytes\":-1"}, "negative"},
      {{"\"name\":\"NVIDIA", "\"name\":\"" + std::string(70000, 'x')}, "'name' is longer than 65536 bytes"},
      {{"\"name\":\"NVIDIA", "\"name\":\"" + std::string(5000000, 'x')}, "longer than 4194304 bytes"},
  };
  for (const auto& [change, message] : table) {
    auto text = good;
    const auto at = text.find(change.first);
    ASSERT_NE(at, std::string::npos) << change.first;
    text.replace(at, change.first.size(), change.second);
    auto database = Database::in_memory();
    EXPECT_THAT(error_of([&] { import_text(database, text); }), HasSubstr(message));
  }
}

TEST(Import, ServesANegativeZeroLikeAnyOther) {
  auto text = valid_text();
  text.replace(text.find("\"noise\":0.004"), 13, "\"noise\":-0.0");
  const TemporaryFolder folder;
  import_text(*std::make_unique<Database>(Database::open_user(folder / "wisdom.db")), text);
  auto database = Database::open_read_only(folder / "wisdom.db");
  EXPECT_EQ(find(database, query()).tier, Tier::exact);
}

/// A forged text in which \p configuration took \p median_ns, later than all stored results.
std::string claim(double median_ns) {
  auto text = valid_text();
  const auto set = [&](const std::string& name, double value) {
    const auto at = text.find(":", text.find('"' + name + '"')) + 1;
    text.replace(at, text.find(',', at) - at, std::to_string(value));
  };
  set("median_ns", median_ns);
  set("low_ns", median_ns);
  set("high_ns", median_ns);
  return text;
}

TEST(Import, TakesNoTimeThatTheTrialsOfTheConfigurationBelie) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 400'000);
  for (const double lie : {5.0, 39'000.0, 4'100'000.0}) {
    EXPECT_THAT(error_of([&] { import_text(database, claim(lie)); }), HasSubstr("but its trial took 400000 ns"));
    EXPECT_EQ(best_rows(database).at(0).median_ns, 400'000);
  }
  EXPECT_EQ(import_text(database, claim(300'000)).best, 1) << "another day, another clock";
}

Database merged(Database& first, Database& second) {
  auto both = Database::in_memory();
  merge(both, first);
  merge(both, second);
  return both;
}

std::string text_of(Database database) { return export_all(database); }

TEST(Merge, PrefersTrialsToClaimsWhateverTheOrder) {
  auto honest = Database::in_memory();
  store_best(honest, session_key(), "block=256", 400'000);
  auto liar = Database::in_memory();
  import_text(liar, claim(5));
  auto first = merged(honest, liar);
  EXPECT_EQ(best_rows(first).at(0).median_ns, 400'000);
  EXPECT_EQ(text_of(merged(liar, honest)), export_all(first));
}

TEST(Merge, RefusesADatabaseThatIsLargerThanTheLimit) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  auto into = Database::in_memory();
  EXPECT_THAT(error_of([&] { merge(into, database, 10'000); }), HasSubstr("more than 10000 bytes"));
  EXPECT_TRUE(sessions(into).empty());
}

TEST(Merge, LeavesOutWhatContradictsItself) {
  auto stranger = Database::in_memory();
  {
    SessionWriter writer(stranger, session_key());
    auto false_trial = trial("block=1", 400'000);
    false_trial.median_ns = 5;
    writer.add(false_trial);
    writer.add(trial("block=2", 10));
  }
  auto database = Database::in_memory();
  EXPECT_EQ(merge(database, stranger).trials, 1);
  EXPECT_EQ(finished_trials(database, session_key()).at(0).configuration, "block=2");
}

TEST(Merge, IsIdempotentAndCommutative) {
  const auto make = [](int which) {
    auto database = Database::in_memory();
    for (int shift = 10; shift < 14; ++shift) {
      const int variant = (shift + which) % 3;
      store_best(database, session_key(1 << shift), "block=" + std::to_string(32 << variant), 100.0 * (variant + 1));
    }
    auto renamed = h200();
    renamed.name = which == 0 ? "NVIDIA H200" : "NVIDIA GH200";
    store_best(database, key_on(renamed, 1 << (20 + which)), "block=8", 5);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=1024", which == 0 ? "hang" : "fault");
    return database;
  };
  auto a = make(0);
  auto b = make(1);
  auto ab = merged(a, b);
  const auto text = export_all(ab);
  EXPECT_EQ(text_of(merged(b, a)), text);
  const auto again = merge(ab, b);
  EXPECT_EQ(again.best + again.sessions + again.trials + again.quarantined, 0);
  EXPECT_GT(again.unchanged, 0);
  EXPECT_EQ(export_all(ab), text);
  EXPECT_EQ(merge(ab, ab).unchanged, 0);
}

TEST(Merge, KeepsTheResultOfMoreEffortThenTheLaterOneWhateverTheOrder) {
  const auto text = valid_text();
  const auto at = [&](const std::string& when, const std::string& configuration, int samples,
                      const std::string& effort = {}) {
    auto changed = text;
    if (!effort.empty()) changed.replace(changed.find("\"samples\":3"), 0, "\"effort\":\"" + effort + "\",");
    const auto place = changed.find("\"measured\":\"") + 12;
    changed.replace(place, 24, when);
    changed.replace(changed.find("block=256"), 9, configuration);
    changed.replace(changed.find("\"samples\":3"), 11, "\"samples\":" + std::to_string(samples));
    return changed;
  };
  const auto older = at("2026-01-01T00:00:00.000Z", "block=1", 100);
  const auto newer = at("2026-01-01T00:00:00.001Z", "block=2", 1);
  const auto same_time = at("2026-01-01T00:00:00.001Z", "block=3", 5);
  const auto quick = at("2026-01-01T00:00:00.002Z", "block=4", 5, "quick");
  const auto thorough = at("2026-01-01T00:00:00.000Z", "block=5", 1, "thorough");
  const auto kept = [](std::vector<std::string> texts) {
    std::set<std::string> configurations;
    std::ranges::sort(texts);
    do {
      auto database = Database::in_memory();
      for (const auto& one : texts) import_text(database, one);
      for (const BestRecord& best : best_rows(database)) configurations.insert(best.configuration);
    } while (std::ranges::next_permutation(texts).found);
    return configurations;
  };
  EXPECT_THAT(kept({older, newer, same_time}), ElementsAre("block=3")) << "the later one, then more samples";
  EXPECT_THAT(kept({older, newer, quick}), ElementsAre("block=2")) << "an unknown effort counts as normal";
  EXPECT_THAT(kept({newer, thorough, quick}), ElementsAre("block=5"));
}

/// A session and a best result from a clock that was a year ahead.
Database of_a_clock_ahead() {
  auto database = Database::in_memory();
  SessionWriter writer(database, session_key());
  auto one = trial("block=256", 100);
  one.created_ms = now_ms() + std::int64_t{365} * 24 * 60 * 60 * 1000;
  writer.add(one);
  writer.set_best("block=256");
  return database;
}

TEST(ClockAhead, CostsNoResultInExportAndMerge) {
  auto ahead = of_a_clock_ahead();
  auto imported = Database::in_memory(), merged = Database::in_memory();
  EXPECT_EQ(import_text(imported, export_all(ahead)).best, 1);
  EXPECT_EQ(merge(merged, ahead).best, 1);
  for (auto* database : {&imported, &merged}) {
    EXPECT_EQ(find(*database, query()).tier, Tier::exact);
    EXPECT_LE(best_rows(*database).at(0).measured_ms, now_ms());
  }
}

TEST(ClockAhead, GivesWayToALaterMeasurement) {
  auto ahead = of_a_clock_ahead(), today = Database::in_memory();
  store_best(today, session_key(), "block=64", 50);
  EXPECT_EQ(merge(ahead, today).best, 1);
  EXPECT_EQ(best_rows(ahead).at(0).configuration, "block=64");
  auto again = of_a_clock_ahead();
  store_best(again, session_key(), "block=256", 50);
  EXPECT_EQ(best_rows(again).at(0).median_ns, 50) << "of its two trials";
}

}  // namespace
}  // namespace tuner::cache::test
