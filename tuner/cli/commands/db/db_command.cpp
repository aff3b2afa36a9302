// `tune db`: the state of a database, and databases made of others.
#include <tuner/cli/commands/program.hpp>

#include <algorithm>
#include <system_error>

#include <cache/exchange/shipping.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/image_files.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/commands/db/db_actions.hpp>
#include <tuner/cli/commands/db/db_export.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

int show_status(const Given& given) {
  cache::Database database = open_for_reading(database_file(given));
  const cache::Statistics about = cache::statistics(database);
  const auto number = [](std::int64_t n) { return format_count(n); };
  Answer answer;
  answer.fact("database", about.path)
      .fact(people("size"),
            fmt::format("{}, {} of it free", format_bytes(about.file_bytes), format_bytes(about.free_bytes)))
      .data("bytes", about.file_bytes)
      .fact(named("schema", "schema"),
            {about.schema_version, fmt::format("version {}, SQLite {}, journal {}", about.schema_version,
                                               about.sqlite_version, about.journal_mode)})
      .fact("best", {about.best, fmt::format("{} for {} of {} on {}", plural(about.best, "best configuration"),
                                             plural(about.problems, "problem"), plural(about.kernels, "kernel"),
                                             plural(about.devices, "device"))})
      .data("problems", about.problems)
      .data("kernels", about.kernels)
      .data("devices", about.devices)
      .data("sessions", about.sessions)
      .data("unfinished_sessions", about.unfinished_sessions)
      .fact("trials", {about.trials, fmt::format("{}, {} failed, in {} ({} interrupted or running)",
                                                 number(about.trials), number(about.failed_trials),
                                                 plural(about.sessions, "session"), number(about.unfinished_sessions))})
      .data("failed_trials", about.failed_trials)
      .fact(named("quarantine", "quarantined"), {about.quarantined, plural(about.quarantined, "configuration")})
      .fact("misses", {about.misses, plural(about.misses, "problem")});
  if (const auto folder = cache::user_cache_dir()) {
    const cache::KeptImages kept = cache::kept_images(*folder);
    answer.fact(people("images"),
                fmt::format("{}, {}", plural(kept.images, "compiled image"), format_bytes(kept.bytes)));
  }
  if (const auto frozen = cache::frozen_database_file())
    answer.fact(people("frozen"),
                frozen->string() + " ($TUNER_FROZEN: calls are answered from that file and no other)");
  for (const fs::path& file : cache::shipped_database_files()) answer.fact(people("shipped"), file.string());
  return answer.print(given);
}

/// The configurations that crashed or hung. They are neither tried nor served.
Table quarantine_table(cache::Database& database, const cache::Filter& filter) {
  Table table({"kernel", data("source_hash"), "choices", "sizes", "configuration", named("since", "created_ms"),
               "reason", "device"});
  for (const cache::QuarantineRecord& one : cache::quarantined(database, filter))
    table.add({one.kernel.name, one.kernel.source_hash, one.problem.choices, cache::sizes_text(one.problem.sizes),
               one.configuration, Cell::instant(one.created_ms), one.reason, one.device_key});
  return table;
}

/// The meaning of findings in \p database for its use.
std::string consequence_of_findings(const cache::Database& database) {
  try {
    (void)open_for_reading(database.path());
  } catch (const cache::CacheError&) {
    return "Nothing is read from it";
  }
  return "Damaged rows are never served; `tune db export` writes the others";
}

int check(const Given& given) {
  cache::Database database = open_for_reading(database_file(given), true);
  const std::vector<std::string> findings = cache::doctor(database);
  const std::string path = database.path().string();
  Answer answer;
  answer.data("database", path).data("findings", findings);
  for (const std::string& finding : findings) answer.text(printable(finding) + '\n');
  if (findings.empty())
    answer.text("{} is sound\n", path);
  else
    answer.text("{}: {}. {}.\n", path, plural(findings.size(), "finding"), consequence_of_findings(database));
  try {
    const Table quarantine = quarantine_table(database, read_filter(given, {&database, 1}));
    if (quarantine.rows() == 0)
      answer.text("no configuration is in quarantine\n").data("quarantine", Json::array());
    else
      answer.text("\nIn quarantine (`tune db clear quarantine` lets them be tried again)\n")
          .rows("quarantine", quarantine);
  } catch (const cache::CacheError& error) {
    if (findings.empty()) throw;
    answer.text("the quarantine cannot be read: {}\n", printable(error.what()));
  }
  return answer.print(given, findings.empty() ? kDone : kFailed);
}

/// Adds \p sources to \p into, and reports each at once.
int take_over_all(const Given& given, cache::Database& into, std::span<const std::string> sources) {
  Answer answer;
  Json list = Json::array();
  for (const std::string& source : sources) {
    const cache::ImportCount count = take_over(into, source);
    list.push_back({{"source", source},
                    {"best", count.best},
                    {"sessions", count.sessions},
                    {"trials", count.trials},
                    {"quarantined", count.quarantined},
                    {"unchanged", count.unchanged}});
    answer.text("{}  new: {}, {}, {}, {} in quarantine; known already: {}\n", printable(source),
                plural(count.best, "best configuration"), plural(count.sessions, "session"),
                plural(count.trials, "trial"), count.quarantined, count.unchanged);
    answer.show(given);
  }
  return answer.data("database", into.path().string()).data("sources", list).print(given);
}

int import_files(const Given& given) {
  const Texts files = given.texts("file");
  if (files.empty()) throw UsageError("import reads files: tune db import FILE...");
  if (given.has("db")) require_database(given.text("db"), "--db");
  cache::Database database = open_for_writing(database_file(given));
  return take_over_all(given, database, files);
}

int merge_files(const Given& given) {
  const Texts files = given.texts("file");
  if (files.size() < 2) throw UsageError("merge needs a result and at least one source: tune db merge OUT IN...");
  const std::span<const std::string> sources = std::span(files).subspan(1);
  for (const std::string& source : sources)
    if (source != "-") open_results(source);  // before anything is changed
  require_database(files[0], "merge");
  cache::Database into = open_for_writing(files[0]);
  return take_over_all(given, into, sources);
}

/// The results of \p files, or those of this machine, whose files it adds to \p files, if there are none. Only one of
/// several is open at a time.
cache::Database results_to_freeze(const Given& given, Texts& files) {
  if (files.size() == 1) return open_results(files[0]);
  cache::Database all = cache::Database::in_memory({.warn = warn});
  for (const std::string& file : files) take_over(all, file);
  if (!files.empty()) return all;
  std::vector<cache::Database> own = open_all_of_this_machine(given);
  for (const cache::Database& one : own) files.push_back(one.path().string());
  if (own.size() == 1) return std::move(own[0]);
  for (cache::Database& one : own) cache::merge(all, one);
  return all;
}

int freeze_files(const Given& given) {
  const Texts files = given.texts("file");
  if (files.empty()) throw UsageError("freeze needs a name for what it makes: tune db freeze OUT [IN...]");
  const std::string& output = files[0];
  require_output(output, OutputKind::frozen, false, "freeze");
  Texts sources(files.begin() + 1, files.end());
  cache::Database from = results_to_freeze(given, sources);
  const std::int64_t best = cache::freeze(from, output);
  return Answer()
      .data("database", output)
      .data("sources", sources)
      .data("best", best)
      .text("{}  {} frozen. TUNER_FROZEN={} answers every call from it\n", printable(output),
            plural(best, "best configuration"), printable(fs::absolute(output).string()))
      .print(given);
}

/// Opens a database for writing. Throws Error if there is none: it is not created to be cleared.
cache::Database open_to_clear(const fs::path& file) {
  open_for_reading(file);
  return open_for_writing(file);
}

void clear_images(Answer& answer) {
  answer.data("images", 0);
  const auto folder = cache::user_cache_dir();
  if (!folder) return;
  answer.data("images", cache::kept_images(*folder).images)
      .text("compiled images in {} removed\n", printable(folder->string()));
  cache::remove_kept_images(*folder);
}

/// Where SQLite keeps the database \p file and its journals: where a link leads.
fs::path real_database(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return file;
  const fs::path real = fs::canonical(file, error);
  if (error) throw Error(fmt::format("{}: it is a link that leads nowhere; nothing was changed", file.string()));
  return real;
}

/// The whole file, or only the results of one kernel, of one device or of both.
void clear_results(const Given& given, const fs::path& file, Answer& answer) {
  if (!given.has("kernel") && !given.has("device")) {
    const fs::path real = real_database(file);
    bool removed = false;
    for (const char* suffix : {"", "-journal", "-wal", "-shm", ".claims"}) {
      std::error_code error;
      removed |= fs::remove(real.string() + suffix, error);
      if (error) throw Error(fmt::format("{}{} cannot be removed: {}", real.string(), suffix, error.message()));
    }
    answer.data("file_removed", removed)
        .text("{} {}{}\n", printable(real.string()), removed ? "removed" : "was not there",
              real == file ? "" : fmt::format("; the link {} stays", printable(file.string())));
    return;
  }
  cache::Database database = open_to_clear(file);
  cache::Filter filter = read_filter(given, {&database, 1}, DeviceName::whole);
  const cache::Removed removed = cache::remove_results(database, filter);
  const std::string source = std::exchange(filter.source, {});
  const std::size_t others = source.empty() ? 0 : cache::sessions(database, filter).size();
  answer
      .data("removed", {{"best", removed.best},
                        {"sessions", removed.sessions},
                        {"trials", removed.trials},
                        {"quarantined", removed.quarantined},
                        {"misses", removed.misses}})
      .text("{}: removed {}, {} with {}, {} in quarantine and {}\n", printable(file.string()),
            plural(removed.best, "best configuration"), plural(removed.sessions, "session"),
            plural(removed.trials, "trial"), plural(removed.quarantined, "configuration"),
            plural(removed.misses, "missed problem"));
  if (others > 0)
    answer.text("left: {} of other or earlier sources of '{}'; `--kernel {}` names all of them\n",
                plural(others, "session"), filter.kernel, filter.kernel);
}

/// Lets configurations that crashed or hung be tried and served again.
void clear_quarantine(const Given& given, const fs::path& file, Answer& answer) {
  cache::Database database = open_to_clear(file);
  const std::string configuration = parse_configuration(given.text("config"), "--config").text();  // as it is stored
  const auto lifted =
      cache::lift_quarantine(database, read_filter(given, {&database, 1}, DeviceName::whole), configuration);
  answer.data("lifted", lifted).text("{} lifted from quarantine\n", plural(lifted, "configuration"));
}

void clear_missed(const Given& given, const fs::path& file, Answer& answer) {
  std::error_code error;
  if (fs::symlink_status(file, error).type() == fs::file_type::not_found) {
    answer.data("forgotten", 0).text("{} was not there\n", printable(file.string()));
    return;
  }
  cache::Database database = open_to_clear(file);
  const auto forgotten = cache::forget_misses(database, read_filter(given, {&database, 1}, DeviceName::whole));
  answer.data("forgotten", forgotten).text("{} forgotten\n", plural(forgotten, "problem"));
}

int clear(const Given& given) {
  Texts what = given.texts("file");
  if (what.empty()) what = {"images"};
  for (const std::string& one : what)
    require_known("thing to clear", one, {"images", "results", "quarantine", "missed"});
  const auto clears = [&](const char* one) { return contains(what, one); };
  if (clears("images"))  // they belong to no kernel, device or database
    given.refuse({"db", "kernel", "device", "config"}, "on compiled images: name what it is about, such as results");
  if (!clears("quarantine") || what.size() > 1) given.refuse({"config"}, "without quarantine alone");
  if (given.has("config") && given.text("config").empty())
    throw UsageError("--config is empty: leave it out to mean all");
  Answer answer;
  if (what != Texts{"images"}) {
    if (const auto frozen = cache::frozen_database_file(); frozen && !given.has("db"))
      throw UsageError(
          fmt::format("TUNER_FROZEN={} is set, and nothing in that file can be cleared: name the database "
                      "that is meant with --db",
                      frozen->string()));
    const fs::path file = database_file(given);
    answer.data("database", file.string());
    if (clears("quarantine")) clear_quarantine(given, file, answer);
    if (clears("missed")) clear_missed(given, file, answer);
    if (clears("results")) {
      if (given.has("db")) require_database(file, "clear");
      clear_results(given, file, answer);
    }
  }
  if (clears("images")) clear_images(answer);  // last: they stay if anything before fails
  if (what == Texts{"images"}) answer.text("results are kept; `tune db clear results` removes them\n");
  return answer.print(given);
}

int run_db(const Given& given) {
  const Texts action = given.texts("action");
  if (action.empty()) return run_action(given, {{"", show_status, {"db", "json"}}}, "", "tune db");
  return run_action(given,
                    {{"import", import_files, {"db", "json"}},
                     {"export", db_export, {"db", "kernel", "device", "size", "choice", "all", "as", "arch", "force"}},
                     {"merge", merge_files, {"json"}},
                     {"freeze", freeze_files, {"json"}},
                     {"clear", clear, {"db", "kernel", "device", "config", "json"}},
                     {"check", check, {"db", "kernel", "device", "json"}}},
                    action.front(), "tune db");
}

}  // namespace

Command db_command() {
  Options options(
      "Usage: tune db                     shows what the database holds\n"
      "       tune db import FILE...      adds wisdom texts and databases\n"
      "       tune db export FILE         writes results as text, or as --as says\n"
      "       tune db merge OUT IN...     unites databases and texts in OUT\n"
      "       tune db freeze OUT [IN...]  makes a database for a job of many processes\n"
      "       tune db clear [images|results|quarantine|missed]...\n"
      "       tune db check               checks every row, and lists the quarantine\n\n"
      "export: one JSON line for each result. A name in .gz is compressed; `-` is\n"
      "standard output, and standard input for the other commands.\n"
      "merge: of two results for one problem the later measurement stays.\n"
      "freeze: while TUNER_FROZEN names OUT, it alone answers every call, the same in\n"
      "each process; nothing else is read, tuned or stored. Without IN it holds your\n"
      "results and the shipped ones.\n"
      "clear: removes compiled images if nothing else is named. `results` is the whole\n"
      "file, with quarantine and missed problems, or all rows of a --kernel or a\n"
      "--device, whose name or key is given whole. A path as --kernel means the rows of\n"
      "that file as it is now; the name, those of every source. --config names one\n"
      "configuration of the quarantine, as `tune db check` prints it.",
      "  tune db export h200.wisdom --kernel reduce\n"
      "  tune db export --all everything.gz\n"
      "  tune db export --as header tuned_reduce.hpp --kernel reduce\n"
      "  tune db merge all.db node1.db node2.db\n"
      "  tune db freeze job.db node1.db node2.db\n"
      "  tune db clear results --kernel reduce\n"
      "  tune db check --db results.db\n");
  options.add("db kernel device config json");
  options.group("Options of export").add("size choice");
  options.text("as", "wisdom|header|t4|kernel-tuner|images",
               "text to review; a C++17 header of one kernel for programs without tuner; every trial of one tuning by "
               "the T4 schema, or for Kernel Tuner's simulation mode; compiled images in the folder FILE, for machines "
               "without a compiler, for chips and PTX (--arch sm_90,compute_90)",
               "wisdom");
  options.add("all");
  options.add("arch force").arguments({"action", "file..."});
  return {options, run_db};
}

}  // namespace tuner::cli
