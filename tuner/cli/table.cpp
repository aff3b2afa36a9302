#include <tuner/cli/table.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <tuner/core/message_text.hpp>

namespace tuner::cli {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument("Table::add: more cells than columns");
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> Table::lines(std::string_view indent) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(columns_[i].title));

  const auto line = [&](auto&& cell) {
    std::string text(indent);
    bool first = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!std::exchange(first, false)) text += "  ";
      const std::string& value = cell(i);
      const std::string padding(widths[i] - display_width(value), ' ');
      text += columns_[i].align == Align::right ? padding + value : value + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::vector<std::string> result;
  result.push_back(line([&](std::size_t i) -> const std::string& { return columns_[i].title; }));
  for (const auto& row : rows_) result.push_back(line([&](std::size_t i) -> const std::string& { return row[i]; }));
  return result;
}

std::string Table::text(std::string_view indent) const {
  std::string all;
  for (const std::string& line : lines(indent)) all += line + '\n';
  return all;
}

std::string with_dim_titles(const std::vector<std::string>& lines, const Style& style) {
  std::string text;
  if (lines.size() < 2) return text;
  for (const std::string& line : lines) text += (text.empty() ? style.dim(line) : line) + '\n';
  return text;
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view indent) {
  std::size_t width = 0;
  for (const auto& [name, text] : pairs) width = std::max(width, display_width(name));
  std::string all;
  for (const auto& [name, text] : pairs) {
    all += indent;
    all += name + std::string(width - display_width(name) + 2, ' ') + printable(text) + '\n';
  }
  return all;
}

}  // namespace tuner::cli
