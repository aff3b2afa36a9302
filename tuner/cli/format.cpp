#include <tuner/cli/format.hpp>

#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace tuner::cli {
namespace {

/// Three significant digits, without an exponent for what is printed here.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

template <std::size_t N>
std::string scaled(double value, double step, const std::array<std::string_view, N>& units) {
  if (!std::isfinite(value)) return "-";
  std::size_t unit = 0;
  // 999.6 would print as 1000 of the smaller unit.
  while (unit + 1 < N && std::fabs(value) >= step * 0.9995) value /= step, ++unit;
  return fmt::format("{} {}", three_digits(value), units[unit]);
}

}  // namespace

std::string format_ns(double ns) { return scaled(ns, 1000, std::array<std::string_view, 4>{"ns", "us", "ms", "s"}); }

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_rate(double bytes_per_second) {
  return scaled(bytes_per_second, 1000, std::array<std::string_view, 5>{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

std::string format_flops(double flops_per_second) {
  return scaled(flops_per_second, 1000,
                std::array<std::string_view, 5>{"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"});
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::fabs(value) >= 1024) value /= 1024, ++unit;
  if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string format_percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f}%", fraction * 100) : "-";
}

std::string format_count(double count) {
  if (count >= 1e12) return fmt::format("{:.1e}", count);
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string format_interval(double centre, double low, double high) {
  if (!(centre > 0) || !(high >= low)) return "-";
  return fmt::format("+-{:.1f}%", (high - low) / 2 / centre * 100);
}

std::string format_instant(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / 1000;
  std::tm calendar{};
  if (gmtime_r(&seconds, &calendar) == nullptr) return "-";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", calendar.tm_year + 1900, calendar.tm_mon + 1, calendar.tm_mday,
                     calendar.tm_hour, calendar.tm_min);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(static_cast<double>(count)), noun, count == 1 ? "" : "s");
}

}  // namespace tuner::cli
