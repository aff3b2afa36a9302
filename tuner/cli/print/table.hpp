#pragma once
/// Rows of typed values, and their printers: a table for people, JSON and CSV for programs. tuner's types as JSON:
/// times are nanoseconds in fields ending in `_ns`, seconds in `_s`.

#include <concepts>
#include <optional>

#include <cache/records/json.hpp>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/print/terminal.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/measure/single_run.hpp>

namespace tuner {

// For conversions to Json.
void to_json(Json& json, const Value& value);
void to_json(Json& json, const Configuration& configuration);
void to_json(Json& json, const ProblemSize& size);
void to_json(Json& json, const Device& device);
void to_json(Json& json, const Resources& resources);
void to_json(Json& json, const Trial& trial);
void to_json(Json& json, const LaunchDetail& launch);
void to_json(Json& json, const Verdict& verdict);

}  // namespace tuner

namespace tuner::cli {

/// \p document and a line end, in ASCII: a terminal obeys none of it. Text that is not UTF-8 (compiler output) is
/// repaired. \p indent: -1 for one line.
std::string json_text(const Json& document, int indent = -1);
/// Writes \p document to stdout, in several lines.
void print_json(const Json& document);

/// A value for programs, and its text for people.
struct Cell {
  Json value = Json::value_t::discarded;  ///< discarded: JSON leaves the key out
  std::string text = {};
  bool is_right = false;  ///< aligned to the right, like a number

  Cell() = default;
  Cell(const char* word) : value(word), text(word) {}
  Cell(std::string_view word) : value(word), text(word) {}
  Cell(const std::string& word) : value(word), text(word) {}
  template <std::integral T>
  Cell(T number) : value(number), text(std::to_string(number)), is_right(true) {}
  template <std::floating_point T>
  Cell(T number) : Cell(Json(number), fmt::format("{:.6g}", number)) {}
  Cell(Json value_, std::string text_)
      : value(std::move(value_)), text(std::move(text_)), is_right(value.is_number()) {}

  /// Empty without a value.
  template <typename T, typename Format>
  static Cell of(const std::optional<T>& value, Format format) {
    return value ? Cell(Json(*value), format(*value)) : Cell();
  }
  /// Aligned to the right whatever its value is. For people only without a value.
  static Cell right(std::string text, Json value = Json::value_t::discarded);
  static Cell ns(double ns);
  /// Bytes.
  static Cell bytes(std::int64_t bytes);
  /// A large number, rounded for people.
  static Cell count(double number);
  /// A share of 1.
  static Cell percent(double share, int digits = 1);
  /// Milliseconds since 1970.
  static Cell instant(std::int64_t ms);
};

class Table {
 public:
  struct Column {
    Column(const char* name) : title(name), key(name) {}
    Column(std::string name) : title(name), key(std::move(name)) {}
    Column(std::optional<std::string> title_, std::optional<std::string> key_)
        : title(std::move(title_)), key(std::move(key_)) {}

    std::optional<std::string> title;  ///< for people; nothing: hidden from them
    std::optional<std::string> key;    ///< for programs; nothing: hidden from them
  };

  explicit Table(std::vector<Column> columns);
  /// Missing cells are empty. Throws std::invalid_argument for too many.
  void add(std::vector<Cell> cells);
  std::size_t rows() const { return rows_.size(); }

  /// One line a row with a line of titles first, each starting with \p indent and without blanks at its end.
  /// Columns that are empty in every row are left out.
  std::string text(std::string_view indent = "  ") const;
  /// The same with dim titles; empty without rows.
  std::string text(const Style& style) const;
  /// The same by lines, without line ends.
  std::vector<std::string> lines(std::string_view indent = "  ") const;
  /// An object for each row.
  Json json() const;
  /// RFC 4180, with a line of keys first.
  std::string csv() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

inline Table::Column named(std::string title, std::string key) { return {std::move(title), std::move(key)}; }
inline Table::Column people(std::string title) { return {std::move(title), std::nullopt}; }
inline Table::Column data(std::string key) { return {std::nullopt, std::move(key)}; }

/// The \p lines of a table below each other, their titles dim; empty for one without rows.
std::string with_dim_titles(const std::vector<std::string>& lines, const Style& style);

/// Columns a terminal needs for UTF-8 \p text (a column for each code point).
std::size_t display_width(std::string_view text);

using Facts = std::vector<std::pair<std::string, std::string>>;
/// `name   text` lines, names aligned as if one had \p width columns. A line without a name continues the line before
/// it.
std::string facts(const Facts& pairs, std::string_view indent = "", std::size_t width = 0);

/// The answer of a command, in the order in which people read it. One printer makes text of it, or one JSON document.
class Answer {
 public:
  Answer() = default;
  /// Facts begin with \p indent, and are aligned as if a name had \p width columns, so that parts that are shown one
  /// after the other are aligned too.
  explicit Answer(std::size_t width, std::string_view indent = "") : width_(width), indent_(indent) {}

  /// For people only. Control characters are shown as escapes.
  Answer& text(std::string_view text);
  template <typename First, typename... More>
  Answer& text(fmt::format_string<First, More...> form, First&& first, More&&... more) {
    return text(std::string_view(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...)));
  }
  /// The same of text that is printable already, and has the marks of a Style.
  Answer& styled(std::string_view text);
  /// For programs only.
  Answer& data(const std::string& key, Json value);
  /// A line of facts(): its name and text for people, its key and value for programs.
  Answer& fact(const Table::Column& column, const Cell& cell);
  /// All rows of \p table, for people and for programs.
  Answer& rows(const std::string& key, const Table& table, std::string_view indent = "  ");
  /// The text that was not shown yet, for whoever prints it. It is gone from the answer then.
  std::string text();
  const Json& document() const { return document_; }
  /// Prints the text so far at once. Does nothing with --json.
  void show(const Given& given);
  /// Prints the document with --json, else the text that was not shown yet. Returns \p code.
  int print(const Given& given, int code = kDone);

 private:
  void end_facts();

  std::size_t width_ = 0;
  std::string indent_;
  Json document_ = Json::object();
  std::string text_;
  Facts facts_;  // not yet in text_: they are aligned with those that follow
};

}  // namespace tuner::cli
