#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tuner/report/columns.hpp>

namespace tuner::report {
namespace {

using Rows = std::vector<std::optional<double>>;

std::size_t digit(char c) { return kDigits.find(c); }

/// As decode.js does it.
std::size_t code_at(const std::string& text, std::size_t row, std::size_t width) {
  std::size_t code = 0;
  for (std::size_t k = 0; k < width; ++k) code = code * 64 + digit(text[row * width + k]);
  return code;
}

double value_at(const NumberColumn& column, std::size_t row) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (!column.values.empty())
    return column.places[row] < column.values.size() ? column.values[column.places[row]] : none;
  const std::size_t code = code_at(column.text, row, column.width);
  if (code == 0) return none;
  const double share = static_cast<double>(code - 1) / (std::pow(64, static_cast<double>(column.width)) - 2);
  return column.logarithmic ? column.low * std::pow(column.high / column.low, share)
                            : column.low + share * (column.high - column.low);
}

TEST(Columns, KeepsFewNumbersExactly) {
  const Rows rows{1.25, 3.0, std::nullopt, 1.25};
  const auto column = pack_numbers(rows, 3);
  ASSERT_TRUE(column);
  EXPECT_TRUE(column->absent);
  EXPECT_EQ(value_at(*column, 0), 1.25);
  EXPECT_EQ(value_at(*column, 1), 3.0);
  EXPECT_TRUE(std::isnan(value_at(*column, 2)));
  EXPECT_EQ(value_at(*column, 3), 1.25);
}

TEST(Columns, NeedNoTextForOneNumber) {
  const auto column = pack_numbers(Rows(1000, 7.0), 3);
  ASSERT_TRUE(column);
  EXPECT_EQ(column->values, std::vector<double>{7.0});
  EXPECT_TRUE(
      pack_places(std::vector<std::size_t>{1}, std::vector<std::vector<std::size_t>>{column->places}, 1000).empty());
}

TEST(Columns, AreNotThereWithoutANumber) {
  EXPECT_FALSE(pack_numbers(Rows{std::nullopt, std::numeric_limits<double>::quiet_NaN()}, 3));
  EXPECT_FALSE(pack_numbers(Rows{}, 3));
}

TEST(Columns, RoundManyNumbersInProportion) {
  Rows rows;
  for (int i = 0; i < 1000; ++i) rows.emplace_back(100 * std::pow(1.01, i));
  const auto column = pack_numbers(rows, 3);
  ASSERT_TRUE(column && column->logarithmic);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(value_at(*column, i) / *rows[i], 1, 3e-5);
}

TEST(Columns, RoundEqualStepsWhereAsked) {
  Rows rows;
  for (int i = 1; i <= 1000; ++i) rows.emplace_back(i * 0.1);
  const auto column = pack_numbers(rows, 2, Steps::equal);
  ASSERT_TRUE(column && !column->logarithmic);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(value_at(*column, i), *rows[i], 0.013);
}

TEST(Columns, NameTheRowsWhereFewHaveANumber) {
  Rows rows(5000);
  rows[17] = 2.5;
  rows[4321] = 3.5;
  const auto column = pack_numbers(rows, 2);
  ASSERT_TRUE(column);
  EXPECT_EQ(column->row_count, 2u);
  EXPECT_EQ(code_at(column->rows, 0, column->row_width), 17u);
  EXPECT_EQ(code_at(column->rows, 1, column->row_width), 4321u);
  EXPECT_EQ(value_at(*column, 1), 3.5);
}

TEST(Columns, ListWordsInTheOrderInWhichTheyCame) {
  const std::vector<std::string> rows{"ok", "wrong", "ok"};
  const WordColumn column = list_words(rows);
  EXPECT_EQ(column.words, (std::vector<std::string>{"ok", "wrong"}));
  EXPECT_EQ(column.places, (std::vector<std::size_t>{0, 1, 0}));
}

TEST(Columns, PackSeveralPlacesIntoOneNumber) {
  const std::vector<std::size_t> counts{3, 5, 2};
  std::vector<std::vector<std::size_t>> columns(3);
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t k = 0; k < 3; ++k) columns[k].push_back(i % counts[k]);
  const auto groups = pack_places(counts, columns, 30);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].width, 1u);  // 30 of 64
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t code = code_at(groups[0].text, i, 1);
    EXPECT_EQ(code % 3, i % 3);
    EXPECT_EQ(code / 3 % 5, i % 5);
    EXPECT_EQ(code / 15, i % 2);
  }
}

TEST(Columns, BeginANewGroupBeforeANumberGetsTooLong) {
  const std::vector<std::size_t> counts(12, 16);  // 48 bits: two groups of 24
  const std::vector<std::vector<std::size_t>> columns(12, {15});
  const auto groups = pack_places(counts, columns, 1);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].width, 4u);
  EXPECT_EQ(groups[0].text, "____");
}

}  // namespace
}  // namespace tuner::report
