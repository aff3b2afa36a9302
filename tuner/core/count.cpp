#include <tuner/core/count.hpp>

#include <cmath>

#include <tuner/core/characters.hpp>

namespace tuner {
namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53: up to here a double holds every whole number

std::optional<double> read_double(std::string_view text) {
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// `2^24` and `2**24`.
std::optional<std::int64_t> read_power(std::string_view text) {
  std::size_t at = text.find('^'), length = 1;
  if (at == std::string_view::npos) at = text.find("**"), length = 2;
  if (at == std::string_view::npos) return std::nullopt;
  const auto base = read_double(text.substr(0, at)), exponent = read_double(text.substr(at + length));
  if (!base || !exponent || *base < 0 || *exponent < 0) return std::nullopt;
  const double value = std::pow(*base, *exponent);
  if (value > std::ldexp(1.0, 62) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

int suffix_shift(char suffix) {
  constexpr std::string_view suffixes = "kMGT";
  const auto at = suffixes.find(suffix == 'K' ? 'k' : suffix);
  return at == std::string_view::npos ? 0 : 10 * (static_cast<int>(at) + 1);
}

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
  if (const auto exact = number_of<std::int64_t>(text)) return *exact < 0 ? std::nullopt : exact;
  if (const auto power = read_power(text)) return power;
  const int shift = text.empty() ? 0 : suffix_shift(text.back());
  const auto value = read_double(shift ? text.substr(0, text.size() - 1) : text);
  if (!value || *value < 0) return std::nullopt;
  const double scaled = std::ldexp(*value, shift);
  if (scaled != std::floor(scaled) || scaled > kLargest) return std::nullopt;
  return static_cast<std::int64_t>(scaled);
}

}  // namespace tuner
