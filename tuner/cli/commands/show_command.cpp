// `tune show`: the best known configurations, why a call gets one, and the calls that got none.
#include <tuner/cli/commands/program.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/print/metrics.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/result/size_rule.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/decide/decide.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/stored_results.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFrozenNote = " ($TUNER_FROZEN: calls are answered from this file and no other)";

Cell sizes_cell(const cache::Sizes& sizes) { return {sizes, cache::sizes_text(sizes)}; }

Cell known_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

/// For people the first word is enough: `compute-sanitizer`, `no`.
Cell checked_cell(const std::string& text) {
  return text.empty() ? Cell() : Cell(text, text.substr(0, text.find_first_of(" :")));
}

using BestTables = std::map<std::pair<std::string, std::string>, Table>;

BestTables best_tables(const std::vector<StoredResult>& rows, const cache::Database& database) {
  BestTables tables;
  const Table empty({data("kernel"),
                     data("source_hash"),
                     data("device"),
                     data("device_name"),
                     "objective",
                     "choices",
                     "sizes",
                     named("median", "median_ns"),
                     people("interval"),
                     data("low_ns"),
                     data("high_ns"),
                     data("samples"),
                     named("measured", "measured_ms"),
                     named("verified against", "reference"),
                     "checked",
                     "target",
                     "effort",
                     "configuration",
                     data("driver"),
                     data("compiler"),
                     data("database"),
                     data("shipped")});
  for (const auto& [row, reference] : rows) {
    const std::string device = row.device.name.empty() ? row.device.key : row.device.name;
    tables.try_emplace({row.kernel.name, device}, empty)
        .first->second.add({row.kernel.name,
                            row.kernel.source_hash,
                            row.device.key,
                            row.device.name,
                            objective_cell(row.kernel.objective),
                            row.problem.choices,
                            sizes_cell(row.problem.sizes),
                            Cell::ns(row.median_ns),
                            Cell::right(format_interval(row.median_ns, row.low_ns, row.high_ns)),
                            row.low_ns,
                            row.high_ns,
                            row.samples,
                            Cell::instant(row.measured_ms),
                            reference.empty() ? Cell() : Cell(reference),
                            checked_cell(row.checked),
                            known_cell(row.target),
                            known_cell(row.effort),
                            row.configuration,
                            row.environment.driver,
                            row.environment.compiler,
                            database.path().string(),
                            database.is_shipped()});
  }
  return tables;
}

Table sessions_table(const std::vector<cache::SessionRecord>& sessions) {
  Table table({named("started", "started_ms"), "kernel", "objective", data("device"), "choices", "sizes", "strategy",
               "trials", named("by", "origin"), named("state", "finished")});
  for (const cache::SessionRecord& one : sessions)
    table.add({Cell::instant(one.started_ms), one.key.kernel.name, one.key.kernel.objective, one.key.device.key,
               one.key.problem.choices, cache::sizes_text(one.key.problem.sizes), one.strategy, one.trials, one.origin,
               Cell(one.finished_ms.has_value(), one.finished_ms ? "finished" : "interrupted or running")});
  return table;
}

Table kernels_table(cache::Database& database, const cache::Filter& filter) {
  Table table({"kernel", "source", "objective", "problems", "sessions", "trials"});
  for (const cache::KernelSummary& one : cache::kernels(database))
    if (filter.kernel.empty() || one.kernel.name == filter.kernel)
      table.add({one.kernel.name, one.kernel.source_hash.substr(0, 12), one.kernel.objective, one.problems,
                 one.sessions, one.trials});
  return table;
}

/// Adds the rows of \p tables to \p list. With \p prints also prints each table under \p title.
void add_tables(Answer& answer, const BestTables& tables, std::string_view title, Json& list, bool prints) {
  if (prints && !tables.empty()) answer.text(title);
  for (const auto& [of, table] : tables) {
    if (prints) answer.text("{}  on {}\n{}\n", printable(of.first), printable(of.second), table.text());
    for (Json& row : table.json()) list.push_back(std::move(row));
  }
}

/// The line below the tables of \p database; empty if only one kernel is shown, without a result.
std::string count_text(const cache::Database& database, std::size_t rows, bool of_one_kernel, bool is_printed) {
  if (rows == 0 && of_one_kernel) return {};
  const std::string text =
      fmt::format("{} in {}", plural(rows, "best configuration"), printable(database.path().string()));
  if (!is_printed) return text + " (shipped); --all or a kernel's name shows them\n";
  return fmt::format("{}{}\n\n", text, database.is_shipped() ? " (shipped)" : database.is_frozen() ? kFrozenNote : "");
}

int show_best(const Given& given) {
  Answer answer;
  Json files = Json::array(), best = Json::array(), unverified = Json::array();
  std::vector<cache::Database> databases = open_all_for_reading(given);
  const cache::Filter filter = read_filter(given, databases);
  for (cache::Database& database : databases) {
    const std::vector<StoredResult> rows = best_results(database, filter);
    const std::string path = database.path().string();
    // Shipped results are thousands of rows.
    const bool prints = !database.is_shipped() || given.has("kernel") || given.has("device") || given.flag("all");
    add_tables(answer, best_tables(rows, database), "", best, prints);
    add_tables(answer, best_tables(unverified_results(database, filter), database),
               "Compared with nothing, and never served\n", unverified, prints);
    files.push_back({{"path", path}, {"shipped", database.is_shipped()}, {"frozen", database.is_frozen()}});
    if (given.flag("all")) {
      const Table sessions = sessions_table(cache::sessions(database, filter));
      files.back()["sessions"] = sessions.json();
      answer.text("Kernels\n{}\nSessions\n{}\n", kernels_table(database, filter).text(), sessions.text());
    }
    answer.text(count_text(database, rows.size(), given.has("kernel"), prints));
  }
  if (best.empty() && unverified.empty())
    answer.text("nothing is known yet{}; `tune KERNEL` finds out\n",
                filter.kernel.empty() ? "" : " of " + printable(filter.kernel));
  return answer.data("databases", files).data("best", best).data("unverified", unverified).print(given);
}

/// The sizes in the order of calls.
tuner::Sizes sizes_of(const KernelSpec& spec, const ProblemSize& size) {
  tuner::Sizes sizes;
  for (const SizeSpec& one : spec.sizes) sizes.push_back(size.sizes.at(one.name));
  return sizes;
}

/// Why a call would fail; empty if it would not. \p seen: what it would be served with.
std::string foresee(Wisdom& wisdom, const Device& device, const KernelSpec& spec, const ProblemSize& size, Use use,
                    runtime::Forecast& seen) {
  const ProblemSize lowest = runtime::problem_of(spec, runtime::size_classes(sizes_of(spec, size)), size.choices);
  try {
    seen = runtime::forecast({wisdom, device, spec, size, lowest, Settings().tuning_time, use});
    return {};
  } catch (const Error& error) {
    seen.match = wisdom.lookup_in_use(use, spec, size, device, lowest.sizes);
    return error.what();
  }
}

/// The answer for captured calls, with its reason; empty if other calls get the same.
std::string served_in_graphs(Wisdom& wisdom, const Device& device, const KernelSpec& spec, const ProblemSize& size) {
  runtime::Forecast seen;
  if (!traits(device.key).is_gpu || !foresee(wisdom, device, spec, size, Use::graph, seen).empty()) return {};
  const auto& best = seen.match.best;
  if (!best || Objective{best->kernel.objective}.use() != Use::graph) return {};
  return fmt::format("{} ({})", seen.decision.configuration.text(), seen.match.reason);
}

/// The rule of sizes tuned together that the best of \p match is from: its text, and for people the branch that chose
/// it. Empty if another reason chose it for \p size.
Cell rule_cell(const ProblemSize& size, const cache::WisdomMatch& match) {
  const auto rule = SizeRule::parse(match.best->rule);
  // Other sizes of a class are served as its lowest one.
  const bool is_tuned = match.tier <= cache::Tier::stale;
  const auto* const branch = rule ? rule->branch(is_tuned ? size.sizes : class_begin(size.sizes)) : nullptr;
  if (branch == nullptr || branch->configuration.text() != match.best->configuration) return {};
  std::string text = fmt::format("{}, of sizes tuned together", branch->condition());
  const SizeRule::Regret& between = rule->between;
  if (between.sizes > 0)
    text += fmt::format(
        "; at sizes between, the rule is {:.1f}% slower than the best (95% interval {:.1f}% to {:.1f}%, at "
        "most {:.1f}%)",
        100 * between.median, 100 * between.low, 100 * between.high, 100 * between.worst);
  return {rule->text(), text};
}

/// \p use: nothing: that of any call.
Answer explanation(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                   std::optional<Use> use) {
  runtime::Forecast seen;
  const std::string refusal = foresee(wisdom, device, spec, size, use.value_or(Use::single), seen);
  const cache::WisdomMatch& match = seen.match;
  cache::Database& user = wisdom.user();
  const std::string frozen_note = wisdom.frozen() ? " ($TUNER_FROZEN: this file and no other)" : "";
  Answer answer(0, "  ");
  answer.text("{}  {}  on {}\n", spec.name, size.text(), printable(device.name))
      .data("kernel", spec.name)
      .data("problem", size)
      .data("device", device.key.text())
      .fact(people("asked"), user.path().empty() ? "memory" : user.path().string() + frozen_note);
  for (const cache::Database* one : wisdom.databases())
    if (one->is_shipped()) answer.fact(people(""), one->path().string() + " (shipped)");
  Table rejected({"configuration", "tier", "database", "reason"});
  for (const cache::RejectedCandidate& one : match.rejected) {
    rejected.add({one.configuration, cache::name(one.tier), one.database, one.reason});
    answer.fact(people("passed over"),
                fmt::format("{} ({}, {}): {}", one.configuration, cache::name(one.tier), one.database, one.reason));
  }
  answer.fact("tier", cache::name(match.tier))
      .fact("reason", match.reason)
      .data("database", match.database)
      .data("shipped", match.shipped)
      .data("frozen", wisdom.frozen());
  if (match.best) {
    const cache::BestRecord& best = *match.best;
    answer.fact(people("database"), match.database + (match.shipped ? " (shipped)" : ""))
        .fact(people("measured"), fmt::format("{} {} for {} on {}, {} UTC, {} samples", format_ns(best.median_ns),
                                              format_interval(best.median_ns, best.low_ns, best.high_ns),
                                              cache::sizes_text(best.problem.sizes), best.device.name,
                                              format_instant(best.measured_ms), best.samples));
    const std::string reference = match.shipped || wisdom.frozen() ? weaker_reference(spec) : reference_of(user, best);
    if (!reference.empty()) answer.fact(people("verified"), "against the " + reference);
    if (!best.checked.empty()) answer.fact("checked", best.checked);
    if (!best.target.empty()) answer.fact("target", best.target);
    if (!best.effort.empty()) answer.fact("effort", best.effort);
    if (const Cell rule = rule_cell(size, match); !rule.text.empty()) answer.fact("rule", rule);
    answer.fact(people("software"), best.environment.driver + ", " + best.environment.compiler);
  }
  const std::string runs = refusal.empty() ? seen.decision.configuration.text() : "";
  answer.fact("served", {runs, refusal.empty() ? runs : "nothing: " + refusal});
  if (use) {
    answer.data("as", named(*use).name);
  } else if (const std::string in_graphs = served_in_graphs(wisdom, device, spec, size); !in_graphs.empty()) {
    answer.fact(people("in a graph"), in_graphs).data("in_a_graph", in_graphs);
  }
  return answer.data("rejected", rejected.json());
}

int show_why(const Given& given) {
  const KernelSpec spec = chosen_kernel(given);
  const Device device = choose_device(wanted_device(given)).device;
  const auto use = given.has("as") ? std::optional(given_use(given)) : std::nullopt;
  Wisdom wisdom(read_only_wisdom(given));
  Answer answer;
  Json answers = Json::array();
  for (const ProblemSize& size : select_problems(spec, problem_options(given), device).list) {
    Answer one = explanation(spec, size, device, wisdom, use);
    answer.styled(one.text());
    answers.push_back(one.document());
  }
  return answer.data("answers", answers).print(given);
}

/// Null and `-` if no call was timed.
Cell duration(double ns) { return ns > 0 ? Cell::ns(ns) : Cell(nullptr, "-"); }

int show_missed(const Given& given) {
  const fs::path file = database_file(given);
  std::error_code error;
  cache::Database database =
      given.has("db") || fs::exists(file, error) ? open_for_reading(file) : cache::Database::in_memory();
  const std::vector<cache::MissRecord> misses = cache::misses(database, read_filter(given, {&database, 1}));
  Table table({"kernel", data("source_hash"), "choices", "sizes", named("served by", "served"), "calls",
               named("each", "each_ns"), named("spent", "spent_ns"), data("first_ms"), named("last", "last_ms"),
               named("from", "file"), "device"});
  for (const cache::MissRecord& one : misses)
    table.add({one.kernel.name, one.kernel.source_hash, one.problem.choices, sizes_cell(one.problem.sizes), one.served,
               Cell(one.calls, format_count(one.calls)), duration(one.each_ns), duration(one.spent_ns()), one.first_ms,
               Cell::instant(one.last_ms), one.file.empty() ? Cell(nullptr, "its program") : Cell(one.file),
               one.device_key});
  Answer answer;
  answer.data("database", file.string()).data("missed", table.json());
  if (misses.empty())
    answer.text("nothing is missed: every call that was remembered has a result by now\n");
  else
    answer.text("{}\n{} in {}; `tune --missed` tunes them\n", table.text(), plural(misses.size(), "problem"),
                printable(file.string()));
  return answer.print(given);
}

int run_show(const Given& given) {
  if (given.flag("why")) given.refuse({"missed", "all"}, "with --why");
  if (given.flag("why")) return show_why(given);
  given.refuse({"size", "type", "choice", "as"}, "without --why");
  if (given.flag("missed")) given.refuse({"all"}, "with --missed");
  return given.flag("missed") ? show_missed(given) : show_best(given);
}

}  // namespace

Command show_command() {
  Options options(
      "Usage: tune show [KERNEL] [options]\n"
      "       tune show KERNEL --why [options]\n"
      "       tune show [KERNEL] --missed [options]\n"
      "The best known configurations, or those of the one file that $TUNER_FROZEN names\n"
      "(tune db freeze). Without a kernel or a device, shipped ones are only counted.\n"
      "--all prints them, and adds kernels, sessions and their trials.",
      "  tune show reduce\n  tune show --all\n  tune show reduce --why --size n=1e6\n  tune show --missed\n");
  options.flag("why", "the configuration that a call would be served with, from where and why");
  options.flag("missed",
               "the problems that programs called without a result, the most time spent first: calls times the time of "
               "one. `tune --missed` tunes them, `tune db clear missed` forgets them");
  options.add("device all").group("The call that --why is about").add("size type choice as kernel db json");
  options.arguments({"kernel"});
  return {options, run_show};
}

}  // namespace tuner::cli
