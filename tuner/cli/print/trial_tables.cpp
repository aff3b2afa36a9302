#include <tuner/cli/print/trial_tables.hpp>

#include <algorithm>
#include <set>

#include <tuner/cli/print/metrics.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner::cli {
namespace {

std::optional<double> objective_value(const Subject& subject, const Trial& trial) {
  return trial.measurement() ? subject.objective(*trial.measurement()) : std::nullopt;
}

std::string percent(double share) { return format_percent(share); }

/// `best`, `default`, `best, default` or `tie`; empty for any other configuration.
std::string role_of(const Subject& subject, const Winners& winners, const Configuration& configuration) {
  std::vector<std::string> roles;
  if (winners.best == configuration) roles.emplace_back("best");
  if (subject.spec->default_configuration == configuration) roles.emplace_back("default");
  if (contains(winners.ties, configuration)) roles.emplace_back("tie");
  return listed(roles, ", ");
}

bool is_always_shown(const Subject& subject, const Winners& winners, const Configuration& configuration) {
  return winners.best == configuration || subject.spec->default_configuration == configuration;
}

/// \p finals: some of the rows have a second time, as finalists.
void add_result_columns(std::vector<Table::Column>& columns, const Subject& subject,
                        const std::vector<std::string>& metrics, bool finals) {
  const std::string ceiling(rates(subject, 1).ceiling);
  columns.insert(columns.end(),
                 {data("median_ns"), named(finals ? "search" : "median", "search_ns"), people("final"),
                  people("interval"), data("low_ns"), data("high_ns"), data("samples"), named("rate", "bytes_per_s"),
                  people("of " + ceiling), named("arithmetic", "flops_per_s"), "registers",
                  named("spill", "spill_bytes"), named("theoretical occupancy", "theoretical_occupancy")});
  for (const std::string& metric : metrics) columns.emplace_back(metric);
}

void add_result_cells(std::vector<Cell>& cells, const Subject& subject, const Trial& trial,
                      const std::vector<std::string>& metrics) {
  if (const Measurement* const measured = trial.measurement()) {
    const Throughput rate = rates(subject, measured->median_ns);
    cells.insert(cells.end(), {measured->median_ns, Cell::ns(trial.in_search().median_ns),
                               trial.search ? Cell::ns(measured->median_ns) : Cell(),
                               Cell::right(format_interval(measured->median_ns, measured->low_ns, measured->high_ns)),
                               measured->low_ns, measured->high_ns, measured->samples_ns.size(),
                               Cell::of(rate.bytes_per_second, format_rate), Cell::of(rate.ceiling_fraction, percent),
                               Cell::of(rate.flops_per_second, format_flops)});
  } else {
    cells.resize(cells.size() + 10);
  }
  const Resources used = trial.resources.value_or(Resources{});
  const bool has_code = used.registers > 0;
  cells.insert(cells.end(),
               {has_code ? Cell(used.registers) : Cell(),
                has_code ? Cell(used.spill_bytes, used.spill_bytes > 0 ? format_bytes(used.spill_bytes) : "") : Cell(),
                used.occupancy > 0 ? Cell::percent(used.occupancy) : Cell()});
  for (const std::string& metric : metrics) {
    const bool has = trial.measurement() && trial.measurement()->metrics.count(metric) > 0;
    cells.push_back(has ? metric_cell(metric, trial.measurement()->metrics.at(metric)) : Cell());
  }
}

std::string extent(const std::array<std::int64_t, 3>& of) {
  return of[2] == 1 ? fmt::format("({},{})", of[0], of[1]) : fmt::format("({},{},{})", of[0], of[1], of[2]);
}

/// `(64, 512)` and `(32, 8)`: grid and block of every launch of a configuration; empty where it cannot run.
std::pair<std::string, std::string> shape_text(const Subject& subject, const Configuration& configuration) try {
  std::vector<std::string> grids, blocks;
  for (const ResolvedLaunch& launch :
       resolve_launches(*subject.spec, *subject.size, subject.device->limits, configuration)) {
    if (!launch.timed) continue;
    grids.push_back(extent(launch.shape.grid));
    blocks.push_back(extent(launch.shape.block));
  }
  return {listed(grids, "; "), listed(blocks, "; ")};
} catch (const Error&) {
  return {};  // its reason stands in the row
}

std::vector<std::string> metrics(const std::vector<Sweep>& sweeps) {
  std::set<std::string> names;
  for (const Sweep& sweep : sweeps)
    for (const Trial& trial : sweep.trials)
      if (const Measurement* const measured = trial.measurement())
        for (const auto& [name, value] : measured->metrics) names.insert(name);
  for (const char* of_measuring : {"clock_step_ns", "placements"}) names.erase(of_measuring);
  return {names.begin(), names.end()};
}

Cell right_aligned(const std::string& text) { return Cell::right(text, text); }

/// The fastest configuration for one value of something that varies.
struct BestFor {
  std::string value;
  const Sweep* sweep = nullptr;
  const Trial* trial = nullptr;
};

std::vector<BestFor> fastest_for_each(const std::vector<Sweep>& sweeps, const std::string& name) {
  std::vector<BestFor> all;
  if (sweeps.empty()) return all;
  const KernelSpec& spec = *sweeps.front().subject.spec;
  const TuningParameter* const parameter = spec.space.find(name);
  const std::vector<std::string> known = names_of(spec.space.parameters(), spec.choices, spec.sizes);
  if (!contains(known, name))
    throw UsageError("kernel " + spec.name + " has no parameter, choice, type or size '" + name + "'" +
                     suggestion(name, known));

  if (parameter)
    for (const Value& value : parameter->values) all.push_back({value.text()});
  else if (const ChoiceSpec* const choice = spec.find_choice(name))
    for (const std::string& value : choice->values) all.push_back({value});
  else {
    std::set<std::int64_t> sizes;
    for (const Sweep& sweep : sweeps) sizes.insert(sweep.subject.size->sizes.at(name));
    for (const std::int64_t size : sizes) all.push_back({std::to_string(size)});
  }
  const auto value_of = [&](const Sweep& sweep, const Trial& trial) {
    if (parameter) return trial.configuration.find(name) ? trial.configuration.find(name)->text() : std::string();
    const ProblemSize& size = *sweep.subject.size;
    const auto choice = size.choices.find(name);
    return choice != size.choices.end() ? choice->second : std::to_string(size.sizes.at(name));
  };
  for (const Sweep& sweep : sweeps)
    for (const Trial* trial : ranked(sweep.subject, sweep.trials)) {
      if (!trial->measurement() || (sweep.subject.verified && !trial->verified)) continue;
      const std::string value = value_of(sweep, *trial);
      const auto at = std::find_if(all.begin(), all.end(), [&](const BestFor& one) { return one.value == value; });
      if (at == all.end()) continue;
      if (!at->trial || trial->in_search().median_ns < at->trial->in_search().median_ns)
        at->sweep = &sweep, at->trial = trial;
    }
  std::erase_if(all, [](const BestFor& one) { return one.trial == nullptr; });
  return all;
}

/// The row that row \p i of \p best is compared with: that of the value's declared parent, else the one before it.
/// Null: there is none.
const BestFor* parent_of(const std::vector<BestFor>& best, std::size_t i, const std::string& name) {
  for (const LadderSpec& ladder : best[i].sweep->subject.spec->ladders) {
    if (ladder.name != name) continue;
    const auto parent = ladder.parent.find(best[i].value);
    if (parent == ladder.parent.end()) continue;
    const auto at =
        std::find_if(best.begin(), best.end(), [&](const BestFor& one) { return one.value == parent->second; });
    return at == best.end() ? nullptr : &*at;
  }
  return i > 0 ? &best[i - 1] : nullptr;
}

}  // namespace

Throughput rates(const Subject& subject, double ns) {
  return throughput(*subject.spec, *subject.size, *subject.device, ns);
}

bool has_finalist(const std::vector<Trial>& trials) {
  return std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return trial.search.has_value(); });
}

std::vector<const Trial*> ranked(const Subject& subject, const std::vector<Trial>& trials) {
  std::map<std::string, const Trial*> latest;
  for (const Trial& trial : trials) latest[trial.configuration.text()] = &trial;
  std::vector<const Trial*> order;
  for (const Trial& trial : trials)
    if (latest.at(trial.configuration.text()) == &trial) order.push_back(&trial);
  const bool by_time = subject.objective.is_time();
  // A default is a finalist however slow it is: it does not stand above those that beat it in the search.
  double other = std::numeric_limits<double>::infinity();
  for (const Trial* const trial : order)
    if (trial->measurement() && !trial->search) other = std::min(other, trial->in_search().median_ns);
  const auto rank = [&](const Trial* trial) {
    const auto known = objective_value(subject, *trial);
    const bool leads = by_time && known && trial->search && trial->search->median_ns <= other;
    return std::tuple(!known, !leads, by_time && known && !leads ? trial->in_search().median_ns : known.value_or(0));
  };
  std::stable_sort(order.begin(), order.end(), [&](const Trial* a, const Trial* b) { return rank(a) < rank(b); });
  return order;
}

std::vector<const Trial*> candidates(const Subject& subject, const std::vector<Trial>& trials) {
  std::vector<const Trial*> rows = ranked(subject, trials);
  std::erase_if(rows, [&](const Trial* trial) {
    return !objective_value(subject, *trial) || (subject.verified && !trial->verified);
  });
  return rows;
}

std::string best_table(const Subject& subject, const std::vector<Trial>& trials, const Style& style, std::size_t rows,
                       const Winners& winners) {
  const bool by_time = subject.objective.is_time();
  std::vector<Table::Column> columns{"#", "role", by_time ? "" : subject.objective.metric()};
  add_result_columns(columns, subject, subject.metrics, has_finalist(trials));
  columns.emplace_back("configuration");
  Table table(std::move(columns));
  std::size_t place = 0;
  for (const Trial* const trial : candidates(subject, trials)) {
    if (++place > rows && !is_always_shown(subject, winners, trial->configuration)) continue;
    std::vector<Cell> cells{place, role_of(subject, winners, trial->configuration)};
    cells.push_back(by_time ? Cell()
                            : metric_cell(subject.objective.metric(), *subject.objective.value(*trial->measurement())));
    add_result_cells(cells, subject, *trial, subject.metrics);
    cells.push_back(trial->configuration.text());
    table.add(std::move(cells));
  }
  std::string text = table.text(style);
  if (!text.empty() && subject.spec->launches.size() > 1)
    text += style.dim("of several launches: registers, spill and occupancy are of the one that is worst off") + '\n';
  return text;
}

Table sweep_rows(const std::vector<Sweep>& sweeps, std::size_t most) {
  const Subject& first = sweeps.front().subject;
  const std::vector<std::string> all_metrics = metrics(sweeps);
  std::vector<Table::Column> columns{people("#"), people("role"), data("kernel"), data("problem")};
  for (const TuningParameter& one : first.spec->space.parameters())
    columns.emplace_back(one.values.size() > 1 ? std::optional(one.name) : std::nullopt, one.name);
  // No parameter has such a key, because its name is an identifier.
  columns.insert(columns.end(), {named("grid", "launch.grid"), named("block", "launch.block"), data("outcome")});
  add_result_columns(columns, first, all_metrics, std::any_of(sweeps.begin(), sweeps.end(), [](const auto& one) {
                       return has_finalist(one.trials);
                     }));
  columns.emplace_back("why not", "reason");
  Table table(std::move(columns));
  std::size_t place = 0;
  const auto add = [&](const Sweep& sweep, const Trial& trial) {
    const Subject& subject = sweep.subject;
    if (++place > most && !is_always_shown(subject, sweep.winners, trial.configuration)) return;
    std::vector<Cell> cells{place, role_of(subject, sweep.winners, trial.configuration), first.spec->name,
                            subject.size->text()};
    for (const TuningParameter& one : first.spec->space.parameters()) {
      const Value* const value = trial.configuration.find(one.name);
      cells.push_back(value ? Cell::right(value->text(), *value) : Cell());
    }
    const auto [grid, block] = shape_text(subject, trial.configuration);
    cells.insert(cells.end(), {grid, block, kind(trial.outcome)});
    add_result_cells(cells, subject, trial, all_metrics);
    const std::string reason = first_line(message(trial.outcome));
    const bool is_impossible = kind(trial.outcome) == "invalid";
    cells.emplace_back(Json(reason), trial.measurement() ? ""
                                     : is_impossible     ? reason
                                                         : fmt::format("{}: {}", kind(trial.outcome), reason));
    table.add(std::move(cells));
  };
  for (const Sweep& sweep : sweeps) {
    for (const Trial* trial : ranked(sweep.subject, sweep.trials)) add(sweep, *trial);
    for (const Impossible& one : sweep.impossible) {
      Trial trial;
      trial.configuration = one.configuration;
      trial.outcome = Invalid{one.reason};
      add(sweep, trial);
    }
  }
  return table;
}

Table best_by(const std::vector<Sweep>& sweeps, const std::string& name) {
  const std::vector<BestFor> best = fastest_for_each(sweeps, name);
  Table table({named(name, "value"), data("problem"), named("best", "median_ns"), people("interval"), people("rate"),
               "over", "gain", named("speed-up", "speed_up"), named("configuration", "configuration_text")});
  for (std::size_t i = 0; i < best.size(); ++i) {
    const SearchTime here = best[i].trial->in_search();
    const auto over = [&](const BestFor& other) {
      const double ratio = other.trial->in_search().median_ns / here.median_ns;
      return Cell(ratio, fmt::format("{:.2f}", ratio));
    };
    const BestFor* const parent = parent_of(best, i, name);
    const Subject& subject = best[i].sweep->subject;
    const Throughput rate = rates(subject, here.median_ns);
    table.add({right_aligned(best[i].value), subject.size->text(), Cell::ns(here.median_ns),
               Cell::right(format_interval(here.median_ns, here.low_ns, here.high_ns)),
               Cell::of(rate.bytes_per_second, format_rate), parent ? right_aligned(parent->value) : Cell(),
               parent ? over(*parent) : Cell(), over(best.front()), best[i].trial->configuration.text()});
  }
  return table;
}

}  // namespace tuner::cli
