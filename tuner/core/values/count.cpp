#include <tuner/core/values/count.hpp>

#include <cmath>

#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {
namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53: up to here a double holds every whole number

std::optional<double> read_double(std::string_view text) {
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// The value of `2^24` and `2**24`.
std::optional<double> read_power(std::string_view text) {
  std::size_t at = text.find('^'), length = 1;
  if (at == std::string_view::npos) at = text.find("**"), length = 2;
  if (at == std::string_view::npos) return std::nullopt;
  const auto base = read_double(text.substr(0, at)), exponent = read_double(text.substr(at + length));
  if (!base || !exponent || *base < 0 || *exponent < 0) return std::nullopt;
  return std::pow(*base, *exponent);
}

int suffix_shift(char suffix) {
  constexpr std::string_view suffixes = "kMGT";
  const auto at = suffixes.find(suffix == 'K' ? 'k' : suffix);
  return at == std::string_view::npos ? 0 : 10 * (static_cast<int>(at) + 1);
}

/// A number in one of the forms of a count, which may be negative, a fraction or too large.
struct WrittenNumber {
  double value;
  double largest;  ///< for a count in this form
};

std::optional<WrittenNumber> read_number(std::string_view text) {
  if (const auto power = read_power(text)) return WrittenNumber{*power, std::ldexp(1.0, 62)};
  const int shift = text.empty() ? 0 : suffix_shift(text.back());
  const auto value = read_double(shift ? text.substr(0, text.size() - 1) : text);
  if (!value) return std::nullopt;
  return WrittenNumber{std::ldexp(*value, shift), kLargest};
}

bool is_whole(double value) { return value >= 0 && value == std::floor(value); }

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
  if (const auto exact = number_of<std::int64_t>(text)) return *exact < 0 ? std::nullopt : exact;
  const auto number = read_number(text);
  if (!number || !is_whole(number->value) || number->value > number->largest) return std::nullopt;
  return static_cast<std::int64_t>(number->value);
}

std::string not_a_count(std::string_view text) {
  if (const auto number = read_number(text); number && is_whole(number->value))
    return in_quotes(text) + " is too large: give at most 2^53";
  return in_quotes(text) + " is not a whole number such as 4096, 4k, 16M, 1e6 or 2^24";
}

}  // namespace tuner
