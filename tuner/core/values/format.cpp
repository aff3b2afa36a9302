#include <tuner/core/values/format.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <initializer_list>

namespace tuner {
namespace {

std::string text_of(double value, std::chars_format format, int digits) {
  std::array<char, 400> text{};  // holds any double in full
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr};
}

std::string fixed(double value, int digits) { return text_of(value, std::chars_format::fixed, digits); }

/// `07`, as in times of the day.
std::string two_digits(std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

/// Three significant digits, never with an exponent.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string scaled(double value, std::initializer_list<std::string_view> units) {
  if (!std::isfinite(value)) return "-";
  auto unit = units.begin();
  // 999.6 would print as 1000 of the smaller unit.
  while (unit + 1 != units.end() && std::fabs(value) >= 999.5) value /= 1000, ++unit;
  return three_digits(value) + ' ' + std::string(*unit);
}

}  // namespace

std::string format_ns(double ns) { return scaled(ns, {"ns", "us", "ms", "s"}); }

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return fixed(seconds, 1) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + ':' + two_digits(whole % 60);
  return std::to_string(whole / 3600) + ':' + two_digits(whole / 60 % 60) + ':' + two_digits(whole % 60);
}

std::string format_rate(double bytes_per_second) {
  return scaled(bytes_per_second, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

std::string format_flops(double flops_per_second) {
  return scaled(flops_per_second, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"});
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::fabs(value) >= 1024) value /= 1024, ++unit;
  return fixed(value, value == std::floor(value) ? 0 : 1) + ' ' + std::string(units[unit]);
}

std::string format_percent(double fraction, int digits) {
  return std::isfinite(fraction) ? fixed(fraction * 100, digits) + '%' : "-";
}

std::string format_count(double count) {
  if (count >= 1e12) return text_of(count, std::chars_format::scientific, 1);
  std::string digits = fixed(count, 0);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string_view count_word(SpaceCount::Kind kind) {
  constexpr std::string_view words[] = {"exact", "about", "more than"};
  return words[static_cast<std::size_t>(kind)];
}

std::string format_count(const SpaceCount& count) {
  using enum SpaceCount::Kind;
  if (count.kind == exact) return format_count(count.number);
  if (count.kind == more_than) return "more than " + format_count(count.number);
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(count.number, 1.0))) - 1);  // two digits
  return "about " + format_count(std::round(count.number / unit) * unit);
}

std::string format_interval(double centre, double low, double high) {
  if (!(centre > 0) || !(high >= low)) return "-";
  return "+-" + fixed((high - low) / 2 / centre * 100, 1) + "%";
}

std::string format_instant(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm calendar{};
  if (gmtime_r(&seconds, &calendar) == nullptr) return "-";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &calendar)};
}

}  // namespace tuner
