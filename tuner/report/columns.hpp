#pragma once
/// Columns of numbers and words as short text, so that a page with ten thousand trials stays small: a few digits of
/// base 64 (kDigits) a row, where several columns of few values share their digits. Read back by decode.js.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

/// The digits 0 to 63.
inline constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// \p number in \p width digits, the highest first.
void put_digits(std::string& text, std::size_t number, std::size_t width);
/// Digits that numbers below \p count need; at least 1.
std::size_t digits_for(std::size_t count);

/// Words as places in a list.
struct WordColumn {
  std::vector<std::string> words;  ///< in the order in which they came
  std::vector<std::size_t> places;
};
WordColumn list_words(std::span<const std::string> rows);

/// Numbers as places in a list where few differ, else as steps between the lowest and the highest.
struct NumberColumn {
  std::vector<double> values;       ///< ascending; empty: steps
  bool absent = false;              ///< some rows have none: their place is the one behind the values
  std::vector<std::size_t> places;  ///< of each row, where there are values
  bool logarithmic = false;         ///< equal steps of the logarithm
  double low = 0, high = 0;
  std::size_t width = 1;
  std::string text;  ///< steps: code 0 is absent, code 1 low
  /// Not empty: the rows that the places or steps are about, row_width digits each; the others have no number.
  std::string rows;
  std::size_t row_width = 0, row_count = 0;
};
/// How numbers are rounded where they need steps: all by the same amount, or those of more than one octave in
/// proportion.
enum class Steps { equal, fitting };
/// \p width: digits where steps are needed; their number is 64^width - 2. nullopt when no row has a number.
std::optional<NumberColumn> pack_numbers(std::span<const std::optional<double>> rows, std::size_t width,
                                         Steps steps = Steps::fitting);

/// Several columns of places in lists as one number a row.
struct PlaceGroup {
  std::vector<std::size_t> columns;  ///< the first counts least
  std::size_t width = 1;
  std::string text;
};
/// \p counts: how many values each column has; \p columns[column][row] < counts[column], all of \p rows rows. Columns
/// of one value take no room.
std::vector<PlaceGroup> pack_places(std::span<const std::size_t> counts,
                                    std::span<const std::vector<std::size_t>> columns, std::size_t rows);

}  // namespace tuner::report
