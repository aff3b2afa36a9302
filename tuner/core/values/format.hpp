#pragma once
/// Formats numbers for people: three significant digits and a unit; `-` for a value that is not a number. Pure.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tuner/core/values/space_count.hpp>

namespace tuner {

/// `812 ns`, `12.3 us`, `1.05 ms`, `2.4 s`.
std::string format_ns(double ns);
/// A duration: `2.8 s`, `1:48`, `2:03:10`.
std::string format_seconds(double seconds);
/// `4.21 TB/s`, `812 GB/s`: powers of 1000, as vendors give bandwidth.
std::string format_rate(double bytes_per_second);
/// `1.25 TFLOP/s`.
std::string format_flops(double flops_per_second);
/// `227 KiB`, `60 MiB`, `768 B`: powers of 1024.
std::string format_bytes(std::int64_t bytes);
/// `87.2%` for 0.872, with \p digits after the point.
std::string format_percent(double fraction, int digits = 1);
/// `123`, `12,345`; from 10^12 on `1.2e+12`.
std::string format_count(double count);
/// `4,641`, `about 1.1e+12`, `more than 67,108,864`.
std::string format_count(const SpaceCount& count);
std::string format_count(std::integral auto count) { return format_count(static_cast<double>(count)); }
/// `exact`, `about` or `more than`.
std::string_view count_word(SpaceCount::Kind kind);
/// `+-0.4%`: half the width of [low, high] relative to \p centre.
std::string format_interval(double centre, double low, double high);
/// `2026-03-01 12:30` (UTC), from milliseconds since 1970.
std::string format_instant(std::int64_t milliseconds);
/// \p count with its noun: `1 trial`, `3 trials`.
std::string plural(std::integral auto count, std::string_view noun) {
  return format_count(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace tuner
