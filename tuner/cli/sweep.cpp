#include <tuner/cli/sweep.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/metric_options.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/suggestion.hpp>
#include <tuner/measure/throughput.hpp>

namespace tuner::cli {
namespace {

std::string extent(const std::array<std::int64_t, 3>& of) {
  return of[2] == 1 ? fmt::format("({},{})", of[0], of[1]) : fmt::format("({},{},{})", of[0], of[1], of[2]);
}

/// RFC 4180: a field with a comma, a quote or a line end is quoted.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Every metric that any trial has.
std::vector<std::string> metrics(const std::vector<Sweep>& sweeps) {
  std::set<std::string> names;
  for (const Sweep& sweep : sweeps)
    for (const Trial& trial : sweep.trials)
      if (const Measurement* const measured = trial.measurement())
        for (const auto& [name, value] : measured->metrics) names.insert(name);
  names.erase("clock_step_ns");  // of the measuring, not of the kernel
  return {names.begin(), names.end()};
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// Everything of a row but what says which configuration it is.
std::vector<std::string> csv_results(const Sweep& sweep, const Trial& trial, const std::vector<std::string>& metrics) {
  std::vector<std::string> cells{std::string(kind(trial.outcome))};
  const Measurement* const measured = trial.measurement();
  if (measured) {
    const Throughput rate =
        throughput(*sweep.subject.spec, *sweep.subject.size, *sweep.subject.device, measured->median_ns);
    for (const double ns : {measured->median_ns, measured->low_ns, measured->high_ns}) cells.push_back(number(ns));
    cells.push_back(std::to_string(measured->samples_ns.size()));
    cells.push_back(rate.bytes_per_second ? number(*rate.bytes_per_second) : "");
    cells.push_back(rate.flops_per_second ? number(*rate.flops_per_second) : "");
  } else {
    cells.resize(7);
  }
  const Resources used = trial.resources.value_or(Resources{});
  cells.push_back(used.registers > 0 ? std::to_string(used.registers) : "");
  cells.push_back(used.registers > 0 ? std::to_string(used.spill_bytes) : "");
  cells.push_back(used.occupancy > 0 ? number(used.occupancy) : "");
  for (const std::string& name : metrics) {
    const auto at = measured ? measured->metrics.find(name) : std::map<std::string, double>::const_iterator{};
    cells.push_back(measured && at != measured->metrics.end() ? number(at->second) : "");
  }
  cells.push_back(first_line(message(trial.outcome)));
  return cells;
}

}  // namespace

ShapeText shape_text(const Subject& subject, const Configuration& configuration) {
  ShapeText shape;
  try {
    for (const ResolvedLaunch& launch :
         resolve_launches(*subject.spec, *subject.size, subject.device->limits, configuration)) {
      if (!launch.timed) continue;
      const std::string between = shape.grid.empty() ? "" : "; ";
      shape.grid += between + extent(launch.shape.grid);
      shape.block += between + extent(launch.shape.block);
    }
  } catch (const Error&) {
    return {};  // its reason stands in the row
  }
  return shape;
}

std::string sweep_table(const Sweep& sweep, const Style& style, std::size_t rows) {
  using enum Table::Align;
  const Subject& subject = sweep.subject;
  std::vector<Table::Column> columns{{"#", right}};
  std::vector<std::string> varied;
  for (const TuningParameter& one : subject.spec->space.parameters())
    if (one.values.size() > 1) varied.push_back(one.name);
  for (const std::string& name : varied) columns.push_back({name, right});
  for (const char* title : {"grid", "block"}) columns.push_back({title, right});
  const std::vector<std::string> named = metrics({sweep});
  add_result_columns(columns, subject, named);
  const std::size_t why_not = columns.size();
  columns.push_back({"why not"});
  Table table(std::move(columns));

  const auto begin_row = [&](const Configuration& configuration) {
    std::vector<std::string> cells{std::to_string(table.rows() + 1)};
    for (const std::string& name : varied) {
      const Value* const value = configuration.find(name);
      cells.push_back(value ? value->text() : "");
    }
    const ShapeText shape = shape_text(subject, configuration);
    cells.push_back(shape.grid);
    cells.push_back(shape.block);
    return cells;
  };
  for (const Trial* trial : ranked(subject, sweep.trials)) {
    if (table.rows() == rows) break;
    std::vector<std::string> cells = begin_row(trial->configuration);
    add_result_cells(cells, subject, *trial, named);
    if (!trial->measurement())
      cells.push_back(fmt::format("{}: {}", kind(trial->outcome), printable(first_line(message(trial->outcome)))));
    table.add(std::move(cells));
  }
  for (const Impossible& one : sweep.impossible) {
    if (table.rows() == rows) break;
    std::vector<std::string> cells = begin_row(one.configuration);
    cells.resize(why_not);
    cells.push_back(one.reason);
    table.add(std::move(cells));
  }
  return with_dim_titles(table.lines(), style);
}

std::string sweep_csv(const std::vector<Sweep>& sweeps) {
  if (sweeps.empty()) return {};
  const KernelSpec& spec = *sweeps.front().subject.spec;
  const std::vector<std::string> named = metrics(sweeps);
  std::string text = "kernel,problem";
  for (const TuningParameter& one : spec.space.parameters()) text += ',' + field(one.name);
  text +=
      ",grid,block,outcome,median_ns,low_ns,high_ns,samples,bytes_per_s,flops_per_s,registers,spill_bytes,"
      "theoretical_occupancy";
  for (const std::string& name : named) text += ',' + field(name);
  text += ",reason\n";

  const auto add = [&](const Sweep& sweep, const Configuration& configuration, const std::vector<std::string>& rest) {
    text += field(spec.name) + ',' + field(sweep.subject.size->text());
    for (const TuningParameter& one : spec.space.parameters()) {
      const Value* const value = configuration.find(one.name);
      text += ',' + field(value ? value->text() : "");
    }
    const ShapeText shape = shape_text(sweep.subject, configuration);
    text += ',' + field(shape.grid) + ',' + field(shape.block);
    for (const std::string& cell : rest) text += ',' + field(cell);
    text += '\n';
  };
  for (const Sweep& sweep : sweeps) {
    for (const Trial* trial : ranked(sweep.subject, sweep.trials))
      add(sweep, trial->configuration, csv_results(sweep, *trial, named));
    for (const Impossible& one : sweep.impossible) {
      Trial trial;
      trial.outcome = Invalid{one.reason};
      add(sweep, one.configuration, csv_results(sweep, trial, named));
    }
  }
  return text;
}

std::vector<BestFor> best_by(const std::vector<Sweep>& sweeps, const std::string& name) {
  std::vector<BestFor> all;
  if (sweeps.empty()) return all;
  const KernelSpec& spec = *sweeps.front().subject.spec;
  const TuningParameter* const parameter = spec.space.find(name);
  std::vector<std::string> known;
  for (const TuningParameter& one : spec.space.parameters()) known.push_back(one.name);
  for (const ChoiceSpec& one : spec.choices) known.push_back(one.name);
  for (const SizeSpec& one : spec.sizes) known.push_back(one.name);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error("kernel " + spec.name + " has no parameter, choice, type or size '" + name + "'" +
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
  for (const Sweep& sweep : sweeps) {
    for (const Trial* trial : ranked(sweep.subject, sweep.trials)) {
      if (!trial->measurement() || (sweep.subject.verified && !trial->verified)) continue;
      const std::string value = value_of(sweep, *trial);
      const auto at = std::find_if(all.begin(), all.end(), [&](const BestFor& one) { return one.value == value; });
      if (at == all.end()) continue;
      if (!at->trial || trial->measurement()->median_ns < at->trial->measurement()->median_ns)
        at->sweep = &sweep, at->trial = trial;
    }
  }
  std::erase_if(all, [](const BestFor& one) { return one.trial == nullptr; });
  return all;
}

std::string by_table(const std::vector<BestFor>& best, const std::string& name, const Style& style) {
  using enum Table::Align;
  Table table({{name, right},
               {"best", right},
               {"interval", right},
               {"rate", right},
               {"step", right},
               {"speed-up", right},
               {"configuration"}});
  for (std::size_t i = 0; i < best.size(); ++i) {
    const Measurement& here = *best[i].trial->measurement();
    const auto over = [&](std::size_t other) {
      return fmt::format("{:.2f}", best[other].trial->measurement()->median_ns / here.median_ns);
    };
    const Subject& subject = best[i].sweep->subject;
    const Throughput rate = throughput(*subject.spec, *subject.size, *subject.device, here.median_ns);
    table.add({best[i].value, format_ns(here.median_ns), format_interval(here.median_ns, here.low_ns, here.high_ns),
               rate.bytes_per_second ? format_rate(*rate.bytes_per_second) : "", i > 0 ? over(i - 1) : "", over(0),
               best[i].trial->configuration.text()});
  }
  return with_dim_titles(table.lines(), style);
}

Json json_by(const std::vector<BestFor>& best) {
  Json list = Json::array();
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double ns = best[i].trial->measurement()->median_ns;
    list.push_back({{"value", best[i].value},
                    {"problem", best[i].sweep->subject.size->text()},
                    {"median_ns", ns},
                    {"configuration_text", best[i].trial->configuration.text()},
                    {"speed_up", best[0].trial->measurement()->median_ns / ns}});
    if (i > 0) list.back()["step"] = best[i - 1].trial->measurement()->median_ns / ns;
  }
  return list;
}

}  // namespace tuner::cli
