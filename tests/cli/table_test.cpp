#include <tuner/cli/table.hpp>

#include <stdexcept>

#include <gtest/gtest.h>

namespace tuner::cli {
namespace {

TEST(Table, AlignsNumbersRightAndWordsLeft) {
  Table table({{"name"}, {"count", Table::Align::right}, {"note"}});
  table.add({"a", "1", "x"});
  table.add({"long one", "12345"});
  EXPECT_EQ(table.text(""),
            "name      count  note\n"
            "a             1  x\n"
            "long one  12345\n");
}

TEST(Table, LeavesOutColumnsThatAreEmptyEverywhere) {
  Table table({{"a"}, {"b"}, {"c"}});
  table.add({"1", "", "3"});
  EXPECT_EQ(table.text("> "), "> a  c\n> 1  3\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"x"}, {"y"}});
  table.add({"µs", "1"});
  table.add({"ms", "2"});
  EXPECT_EQ(table.text(""), "x   y\nµs  1\nms  2\n");
}

TEST(Table, RefusesMoreCellsThanColumns) {
  Table table({{"only"}});
  EXPECT_THROW(table.add({"1", "2"}), std::invalid_argument);
}

TEST(Facts, AlignsNames) { EXPECT_EQ(facts({{"a", "1"}, {"long", "2"}}, " "), " a     1\n long  2\n"); }

}  // namespace
}  // namespace tuner::cli
