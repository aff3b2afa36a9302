#include <tuner/cli/commands/program.hpp>

#include <algorithm>
#include <set>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/print/metrics.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/report/comparison.hpp>
#include <tuner/session/tuning/compare_configurations.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {
namespace {

using report::Change;
using report::Compared;

struct Side {
  std::string name;
  std::vector<cache::BestRecord> best;  ///< of the selected kernel, or of all
  std::set<std::string> kernels;        ///< all kernels with a result
};

Side side_of(const std::string& name, cache::Database& database, const cache::Filter& filter) {
  Side side{name, cache::best_rows(database, {.device_key = filter.device_key}), {}};
  for (const cache::BestRecord& one : side.best) side.kernels.insert(one.kernel.name);
  if (!filter.kernel.empty())
    std::erase_if(side.best, [&](const cache::BestRecord& one) { return one.kernel.name != filter.kernel; });
  return side;
}

/// A comparison of nothing must not look like a success.
[[noreturn]] void nothing_to_compare(const cache::Filter& filter, const Side& a, const Side& b) {
  std::set<std::string> known = a.kernels;
  known.insert(b.kernels.begin(), b.kernels.end());
  if (!known.empty()) throw UsageError(unknown_name("kernel", filter.kernel, {known.begin(), known.end()}));
  throw Error(
      fmt::format("nothing was compared: neither {} nor {} holds a result", printable(a.name), printable(b.name)));
}

Side side_of(const std::string& path, const cache::Filter& filter) {
  cache::Database database = open_results(path);
  return side_of(path, database, filter);
}

/// Two devices in one database: the one that is named, or the user's.
std::pair<Side, Side> sides_by_device(const Texts& files, const Given& given, cache::Filter filter) {
  const Texts names = split({given.text("devices")}, ',');
  if (names.size() != 2) throw UsageError("--devices: two names are needed: --devices H100,H200");
  if (files.size() > 1) throw UsageError("--devices compares two devices in one file; give at most one");
  cache::Database database = files.empty() ? open_for_reading(database_file(given)) : open_results(files[0]);
  const std::vector<cache::DeviceRecord> known = stored_devices({&database, 1});
  const auto side = [&](const std::string& text) {
    const cache::DeviceRecord& device = find_device(known, text, "--devices");
    filter.device_key = device.key;
    return side_of(device.name.empty() ? device.key : device.name, database, filter);
  };
  return {side(names[0]), side(names[1])};
}

Cell ratio_cell(const Compared& one) {
  if (!one.ratio) return {nullptr, ""};
  return {*one.ratio, one.low ? fmt::format("{:.3f}  {:.3f} to {:.3f}", *one.ratio, *one.low, *one.high)
                              : fmt::format("{:.3f}", *one.ratio)};
}

std::string remarks(const Compared& one) {
  std::vector<std::string> all;
  if (!one.same_source) all.emplace_back("other source");
  if (!one.same_software) all.emplace_back("other software");
  if (one.a && one.b && one.a->configuration != one.b->configuration) all.emplace_back("other configuration");
  return listed(all, ", ");
}

Cell side_cell(const std::optional<cache::BestRecord>& best) {
  if (!best) return {nullptr, ""};
  return Cell::right(format_ns(best->median_ns), {{"median_ns", best->median_ns},
                                                  {"low_ns", best->low_ns},
                                                  {"high_ns", best->high_ns},
                                                  {"samples", best->samples},
                                                  {"measured_ms", best->measured_ms},
                                                  {"configuration", best->configuration},
                                                  {"source_hash", best->kernel.source_hash},
                                                  {"driver", best->environment.driver},
                                                  {"compiler", best->environment.compiler},
                                                  {"device", best->device.key},
                                                  {"device_name", best->device.name}});
}

std::size_t count(const std::vector<Compared>& all, Change change) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Compared& one) { return one.change == change; }));
}

Cell measured_cell(const Compared& one) {
  if (!one.measured) return {nullptr, ""};
  return {
      Json{{"placements", one.measured->placements}, {"confidence", one.measured->confidence}, {"p", one.measured->p}},
      ""};
}

Table table_of(const std::vector<Compared>& all, bool across_devices) {
  Table table({named("", "change"), "kernel", "objective", "choices", "sizes", people("device"), named("A", "a"),
               named("B", "b"), named("B / A  with bounds", "ratio"), data("ratio_low"), data("ratio_high"), "why",
               people("remarks"), data("measured")});
  const auto bound = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(nullptr, ""); };
  for (const Compared& one : all) {
    const cache::BestRecord& what = one.a ? *one.a : *one.b;
    table.add({name(one.change), what.kernel.name, objective_cell(what.kernel.objective), what.problem.choices,
               cache::sizes_text(what.problem.sizes),
               across_devices ? "" : (what.device.name.empty() ? what.device.key : what.device.name), side_cell(one.a),
               side_cell(one.b), ratio_cell(one), bound(one.low), bound(one.high), one.why, remarks(one),
               measured_cell(one)});
  }
  return table;
}

std::string table_text(const std::vector<Compared>& all, bool across_devices, const Style& style) {
  auto lines = table_of(all, across_devices).lines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].change == Change::slower) lines[i + 1] = style.red(lines[i + 1]);
    if (all[i].change == Change::faster) lines[i + 1] = style.green(lines[i + 1]);
  }
  return with_dim_titles(lines, style);
}

std::string summary(const std::vector<Compared>& all, const Style& style) {
  std::vector<std::string> parts;
  for (const Change change :
       {Change::faster, Change::same, Change::undecided, Change::only_a, Change::only_b, Change::slower})
    if (const std::size_t n = count(all, change); n > 0 || change == Change::slower)
      parts.push_back(fmt::format("{} {}", n, name(change)));
  if (count(all, Change::slower) > 0) parts.back() = style.red(parts.back());
  return listed(parts, ", ") + '\n';
}

/// Why the configurations of \p one cannot be measured on \p device; empty if they can.
std::string why_not_measured(const Compared& one, const KernelSpec& spec, const Objective& objective,
                             const Device& device) {
  if (!objective.is_time()) return "its objective is not a time";
  if (one.a->device.key != device.key.text() || one.b->device.key != device.key.text())
    return "it is of another device than " + device.name;
  const std::string present = to_record(spec, objective).source_hash;
  if (one.a->kernel.source_hash != present || one.b->kernel.source_hash != present)
    return "the kernel's source has changed since";
  return {};
}

/// `--measure`: measures the configurations of both sides again, of all that are on both. Warns of those that it cannot
/// measure; they keep what the stored intervals say.
void measure_again(std::vector<Compared>& all, const Given& given, const report::CompareOptions& how) {
  const Device device = choose_device(wanted_device(given)).device;
  PairOptions options;
  options.margin = how.margin;
  options.seconds = parse_duration(given.text("budget"), "--budget").count();
  for (Compared& one : all) {
    if (!one.a || !one.b) continue;
    const Objective objective{one.a->kernel.objective};
    std::string why_not;
    try {
      const std::string file = given.text("kernel");
      const KernelSpec spec = find_kernel(KernelLibrary::is_path(file) ? file : one.a->kernel.name);
      why_not = why_not_measured(one, spec, objective, device);
      if (why_not.empty() && one.a->configuration == one.b->configuration) {
        report::call_equal(one);
      } else if (why_not.empty()) {
        const PairResult found = compare_configurations(spec, from_record(one.a->problem), device, *objective.use(),
                                                        Configuration::parse(one.a->configuration),
                                                        Configuration::parse(one.b->configuration), options, warn);
        why_not = found.failure;
        if (why_not.empty()) report::decide_by(one, found.comparison, found.seconds, how);
      }
    } catch (const Error& error) {
      why_not = error.what();
    } catch (const std::invalid_argument& error) {  // a configuration of a version to come
      why_not = error.what();
    }
    if (!why_not.empty())
      warn(fmt::format("not measured again: {} {}: {}", printable(one.a->kernel.name),
                       cache::sizes_text(one.a->problem.sizes), printable(why_not)));
  }
  report::sort(all);
}

int run_compare(const Given& given) {
  const Texts files = given.texts("file");
  std::string margin = given.text("margin");
  if (margin.ends_with('%')) margin.pop_back();
  report::CompareOptions how;
  how.margin = parse_number(margin, "--margin", 0, 1000) / 100;
  how.across_devices = given.has("devices");
  if (given.flag("measure"))
    given.refuse({"devices"}, "with --measure, which needs both configurations on one device");
  else
    given.refuse({"budget", "device"}, "without --measure");
  cache::Filter filter{given.text("kernel"), {}};
  if (KernelLibrary::is_path(filter.kernel)) filter.kernel = find_kernel(filter.kernel).name;
  if (!how.across_devices && files.size() != 2) throw UsageError("compare takes two files: tune compare A B");
  const auto [a, b] = how.across_devices ? sides_by_device(files, given, filter)
                                         : std::pair(side_of(files[0], filter), side_of(files[1], filter));
  std::vector<Compared> all = report::compare(a.best, b.best, how);
  if (all.empty()) nothing_to_compare(filter, a, b);
  if (given.flag("measure")) measure_again(all, given, how);
  Json counts = Json::object();
  for (const Change change :
       {Change::slower, Change::faster, Change::same, Change::undecided, Change::only_a, Change::only_b})
    counts[std::string(name(change))] = count(all, change);
  const Style style = Style::of(stdout);
  return Answer()
      .data("a", a.name)
      .data("b", b.name)
      .data("margin", how.margin)
      .data("counts", counts)
      .data("results", table_of(all, how.across_devices).json())
      .text("A  {}\nB  {}\n\n", printable(a.name), printable(b.name))
      .styled(table_text(all, how.across_devices, style) + '\n' + summary(all, style))
      .print(given, count(all, Change::slower) > 0 ? kSlower : kDone);
}

}  // namespace

Command compare_command() {
  Options options(
      "Usage: tune compare [options] A B\n"
      "       tune compare [options] --devices A,B [FILE]\n"
      "Compares databases or wisdom texts, or two devices in one (default: your own\n"
      "database). Says what became faster or slower, what is the same, and of what\n"
      "the stored 95% intervals decide nothing. --measure measures both configurations\n"
      "again on this device, in turns and in many new processes: at most 1 in 1000\n"
      "pairs of equals is called different. Exit status 3: something became slower.",
      "  tune compare before.db after.db\n"
      "  tune compare before.db after.db --measure\n"
      "  tune compare --devices H100,H200 wisdom.db\n");
  options.text("devices", "A,B", "two devices in one file: names, parts of them, or keys");
  options.text("margin", "P%", "by how much two runs of the same may differ beyond their intervals", "1%");
  options.flag("measure", "measure both configurations of each result again, side by side");
  options.text("budget", "TIME", "the longest time to measure a result again, without compiling", "10s");
  options.add("kernel device json").arguments({"file..."});
  return {options, run_compare};
}

}  // namespace tuner::cli
