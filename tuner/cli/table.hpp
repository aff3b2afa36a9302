#pragma once
/// Tables of text, aligned: numbers to the right, words to the left.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/cli/terminal.hpp>

namespace tuner::cli {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);
  /// Missing cells are empty. Throws std::invalid_argument for too many.
  void add(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }

  /// One line a row with a line of titles first, each starting with \p indent and without blanks at its end.
  /// Columns that are empty in every row are left out.
  std::string text(std::string_view indent = "  ") const;
  /// The same by lines, without line ends.
  std::vector<std::string> lines(std::string_view indent = "  ") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The \p lines of a table below each other, their titles dim; empty for one without rows.
std::string with_dim_titles(const std::vector<std::string>& lines, const Style& style);

/// Columns a terminal needs for UTF-8 \p text (a column for each code point).
std::size_t display_width(std::string_view text);

/// `name   text` lines for a few facts, names aligned.
std::string facts(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view indent = "");

}  // namespace tuner::cli
