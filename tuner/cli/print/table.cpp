#include <tuner/cli/print/table.hpp>

#include <algorithm>

#include <fmt/ranges.h>

#include <tuner/core/values/format.hpp>

namespace tuner {

void to_json(Json& json, const Value& value) {
  if (value.is_boolean())
    json = value.boolean();
  else if (value.is_integer())
    json = value.integer();
  else
    json = value.string();
}

void to_json(Json& json, const Configuration& configuration) {
  json = Json::object();
  for (const auto& [name, value] : configuration.entries()) json[name] = value;
}

void to_json(Json& json, const ProblemSize& size) {
  json = {{"choices", size.choices}, {"sizes", size.sizes}, {"text", size.text()}};
}

void to_json(Json& json, const Device& device) {
  const DeviceLimits& limits = device.limits;
  json = {{"name", device.name},
          {"index", device.index},
          {"key", device.key.text()},
          {"backend", device.key.backend},
          {"compute_capability", device.key.compute_capability},
          {"sm_count", device.key.sm_count},
          {"l2_bytes", device.key.l2_bytes},
          {"memory_bus_bits", device.key.memory_bus_bits},
          {"driver", device.environment.driver},
          {"compiler", device.environment.compiler}};
  json["limits"] = {{"warp_size", limits.warp_size},
                    {"max_threads_per_block", limits.max_threads_per_block},
                    {"max_block", limits.max_block},
                    {"max_grid", limits.max_grid},
                    {"shared_bytes_per_block", limits.shared_bytes_per_block},
                    {"max_shared_bytes", limits.max_shared_bytes},
                    {"shared_bytes_per_sm", limits.shared_bytes_per_sm},
                    {"registers_per_block", limits.registers_per_block},
                    {"registers_per_sm", limits.registers_per_sm},
                    {"max_registers_per_thread", limits.max_registers_per_thread},
                    {"max_threads_per_sm", limits.max_threads_per_sm},
                    {"max_blocks_per_sm", limits.max_blocks_per_sm}};
  if (device.ceilings.read > 0) json["read_ceiling_bytes_per_s"] = device.ceilings.read;
  if (device.ceilings.copy > 0) json["copy_ceiling_bytes_per_s"] = device.ceilings.copy;
  if (device.ceilings.write > 0) json["write_ceiling_bytes_per_s"] = device.ceilings.write;
  if (device.ceilings.loaded_latency_ns > 0) json["loaded_latency_ns"] = device.ceilings.loaded_latency_ns;
  if (device.peaks.launch_ns > 0) json["floor_ns"] = device.peaks.launch_ns;
  if (const DevicePeaks& peaks = device.peaks; peaks.fp32 > 0)
    json["peaks"] = {
        {"fp32_flops_per_s", peaks.fp32}, {"fp64_flops_per_s", peaks.fp64}, {"integer_operations_per_s", peaks.integer},
        {"latency_ns", peaks.latency_ns}, {"launch_ns", peaks.launch_ns},   {"block_ns", peaks.block_ns}};
}

void to_json(Json& json, const Resources& resources) {
  json = {{"registers", resources.registers},
          {"spill_bytes", resources.spill_bytes},
          {"stack_bytes", resources.stack_bytes},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"constant_bytes", resources.constant_bytes},
          {"blocks_per_sm", resources.blocks_per_sm},
          {"occupancy", resources.occupancy}};
  if (!resources.target.empty()) json["target"] = resources.target;
}

void to_json(Json& json, const LaunchDetail& launch) {
  json = launch.resources;
  if (launch.occupancy) json["limited_by"] = name(launch.occupancy->limiter);
  json["expression"] = launch.expression;
  json["block"] = launch.shape.block;
  json["grid"] = launch.shape.grid;
  json["dynamic_shared_bytes"] = launch.shape.shared_bytes;
  json["cooperative"] = launch.shape.cooperative;
  json["cluster"] = launch.shape.cluster;
  if (launch.clusters) json["resident_clusters"] = *launch.clusters;
  json["dependent"] = launch.shape.dependent;
  if (launch.shape.carveout != LaunchShape::kNoCarveout) json["carveout_percent"] = launch.shape.carveout;
  json["timed"] = launch.timed;
}

void to_json(Json& json, const Trial& trial) {
  json = {{"configuration", trial.configuration},
          {"configuration_text", trial.configuration.text()},
          {"outcome", kind(trial.outcome)}};
  if (const Measurement* const measured = trial.measurement()) {
    json["median_ns"] = measured->median_ns;
    json["low_ns"] = measured->low_ns;
    json["high_ns"] = measured->high_ns;
    json["relative_noise"] = measured->relative_noise;
    json["samples_ns"] = measured->samples_ns;
    json["cold"] = measured->cold;
    json["throttled"] = measured->throttled;
    json["converged"] = measured->converged;
    json["abandoned"] = measured->abandoned;
    json["clock_mhz"] = measured->clock_mhz;
    if (!measured->metrics.empty()) json["metrics"] = measured->metrics;
    if (!measured->no_metrics.empty()) json["why_no_metrics"] = measured->no_metrics;
  } else {
    json["message"] = message(trial.outcome);
  }
  if (const auto* const failed = std::get_if<CompileError>(&trial.outcome)) json["log"] = failed->log;
  json["verified"] = trial.verified;
  if (trial.lane > 0) json["lane"] = trial.lane;
  if (trial.search)
    json["search"] = {
        {"median_ns", trial.search->median_ns}, {"low_ns", trial.search->low_ns}, {"high_ns", trial.search->high_ns}};
  if (trial.resources) json["resources"] = *trial.resources;
  json["times_s"] = {{"compile", trial.times.compile},
                     {"load", trial.times.load},
                     {"verify", trial.times.verify},
                     {"measure", trial.times.measure},
                     {"wait", trial.times.wait}};
}

void to_json(Json& json, const Verdict& verdict) {
  json = {{"limit", name(verdict.limit)}, {"reason", verdict.reason},   {"counted", verdict.counted},
          {"busiest", verdict.busiest},   {"numbers", verdict.numbers}, {"remarks", verdict.remarks}};
}

}  // namespace tuner

namespace tuner::cli {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_text(const Json& value) {
  if (value.is_discarded() || value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : text_of_json(value);
}

}  // namespace

std::string json_text(const Json& document, int indent) { return text_of_json(document, indent, true) + '\n'; }

void print_json(const Json& document) { print(json_text(document, 2)); }

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Cell Cell::right(std::string text, Json value) {
  Cell cell(std::move(value), std::move(text));
  cell.is_right = true;
  return cell;
}

Cell Cell::ns(double ns) { return {ns, format_ns(ns)}; }
Cell Cell::bytes(std::int64_t bytes) { return {bytes, format_bytes(bytes)}; }
Cell Cell::count(double number) { return {number, format_count(number)}; }
Cell Cell::percent(double share, int digits) { return {share, format_percent(share, digits)}; }

Cell Cell::instant(std::int64_t ms) {
  Cell cell{ms, format_instant(ms)};
  cell.is_right = false;
  return cell;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<Cell> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument("Table::add: more cells than columns");
  cells.resize(columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::string> Table::lines(std::string_view indent) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<bool> right(columns_.size(), false);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].title) continue;
    for (const auto& row : rows_) {
      widths[i] = std::max(widths[i], display_width(row[i].text));
      if (row[i].is_right) right[i] = true;
    }
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(*columns_[i].title));
  }
  const auto line = [&](auto&& cell) {
    std::string text(indent);
    bool first = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!std::exchange(first, false)) text += "  ";
      const std::string& value = cell(i);
      const std::string padding(widths[i] - display_width(value), ' ');
      text += right[i] ? padding + value : value + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::vector<std::string> result;
  result.push_back(line([&](std::size_t i) -> const std::string& { return *columns_[i].title; }));
  for (const auto& row : rows_)
    result.push_back(line([&](std::size_t i) -> const std::string& { return row[i].text; }));
  return result;
}

Json Table::json() const {
  Json list = Json::array();
  for (const auto& row : rows_) {
    Json& object = list.emplace_back(Json::object());
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns_[i].key && !row[i].value.is_discarded()) object[*columns_[i].key] = row[i].value;
  }
  return list;
}

std::string Table::csv() const {
  std::vector<std::string> names;
  for (const Column& column : columns_)
    if (column.key) names.push_back(csv_field(*column.key));
  std::string all = fmt::format("{}\n", fmt::join(names, ","));
  for (const auto& row : rows_) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns_[i].key) fields.push_back(csv_field(csv_text(row[i].value)));
    all += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return all;
}

std::string Table::text(std::string_view indent) const {
  std::string all;
  for (const std::string& line : lines(indent)) all += line + '\n';
  return all;
}

std::string Table::text(const Style& style) const { return with_dim_titles(lines(), style); }

std::string with_dim_titles(const std::vector<std::string>& lines, const Style& style) {
  std::string text;
  if (lines.size() < 2) return text;
  for (const std::string& line : lines) text += (text.empty() ? style.dim(line) : line) + '\n';
  return text;
}

std::string facts(const Facts& pairs, std::string_view indent, std::size_t width) {
  for (const auto& [name, text] : pairs) width = std::max(width, display_width(name));
  std::string all;
  for (const auto& [name, text] : pairs) {
    all += indent;
    all += name + std::string(width - display_width(name) + 2, ' ') + printable(text) + '\n';
  }
  return all;
}

Answer& Answer::text(std::string_view text) { return styled(printable_lines(text)); }

Answer& Answer::styled(std::string_view text) {
  end_facts();
  text_ += text;
  return *this;
}

Answer& Answer::data(const std::string& key, Json value) {
  document_[key] = std::move(value);
  return *this;
}

Answer& Answer::fact(const Table::Column& column, const Cell& cell) {
  if (column.title) facts_.emplace_back(*column.title, cell.text);
  if (column.key) document_[*column.key] = cell.value;
  return *this;
}

Answer& Answer::rows(const std::string& key, const Table& table, std::string_view indent) {
  return text(table.text(indent)).data(key, table.json());
}

std::string Answer::text() {
  end_facts();
  return std::exchange(text_, {});
}

void Answer::show(const Given& given) {
  if (given.flag("json")) return;
  cli::print(text());
  std::fflush(stdout);
}

int Answer::print(const Given& given, int code) {
  if (given.flag("json"))
    print_json(document_);
  else
    cli::print(text());
  return code;
}

void Answer::end_facts() { text_ += facts(std::exchange(facts_, {}), indent_, width_); }

}  // namespace tuner::cli
