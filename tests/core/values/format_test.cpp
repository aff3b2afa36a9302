#include <tuner/core/values/format.hpp>

#include <cmath>
#include <limits>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(FormatNs, ShowsThreeDigitsAndAUnit) {
  const std::pair<double, const char*> table[] = {{812, "812 ns"},   {12345, "12.3 us"},  {1.05e6, "1.05 ms"},
                                                  {2.4e9, "2.40 s"}, {999.7, "1.00 us"},  {0, "0.00 ns"},
                                                  {99.96, "100 ns"}, {9.999e6, "10.0 ms"}};
  for (const auto& [ns, text] : table) EXPECT_EQ(format_ns(ns), text);
  EXPECT_EQ(format_ns(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(FormatSeconds, SwitchesToAClockForLongTimes) {
  const std::pair<double, const char*> table[] = {{0.25, "0.2 s"}, {2.8, "2.8 s"}, {9.96, "10 s"},   {59.4, "59 s"},
                                                  {59.7, "1:00"},  {108, "1:48"},  {7390, "2:03:10"}};
  for (const auto& [seconds, text] : table) EXPECT_EQ(format_seconds(seconds), text) << seconds;
  EXPECT_EQ(format_seconds(-1), "-");
}

TEST(FormatRate, UsesPowersOfAThousand) {
  EXPECT_EQ(format_rate(4.21e12), "4.21 TB/s");
  EXPECT_EQ(format_rate(812e9), "812 GB/s");
  EXPECT_EQ(format_rate(0), "0.00 B/s");
}

TEST(FormatBytes, UsesPowersOf1024) {
  EXPECT_EQ(format_bytes(768), "768 B");
  EXPECT_EQ(format_bytes(232448), "227 KiB");
  EXPECT_EQ(format_bytes(60 << 20), "60 MiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
}

TEST(FormatCount, GroupsDigitsUntilTheyStopHelping) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(123), "123");
  EXPECT_EQ(format_count(12345), "12,345");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(1.2e12), "1.2e+12");
  EXPECT_EQ(format_count(-123), "-123");
}

TEST(FormatInterval, IsHalfTheWidthRelativeToTheCentre) {
  EXPECT_EQ(format_interval(100, 99, 101), "+-1.0%");
  EXPECT_EQ(format_interval(0, 0, 0), "-");
  EXPECT_EQ(format_interval(100, std::numeric_limits<double>::quiet_NaN(), 101), "-");
}

TEST(FormatInstant, IsUtcToTheMinute) { EXPECT_EQ(format_instant(86'400'000ll * 365 + 5'400'000), "1971-01-01 01:30"); }

TEST(Plural, AddsAnSExceptForOne) {
  EXPECT_EQ(plural(1, "trial"), "1 trial");
  EXPECT_EQ(plural(0, "trial"), "0 trials");
  EXPECT_EQ(plural(1200, "trial"), "1,200 trials");
}

TEST(Format, WhatIsNoNumberIsADash) {
  for (const double none : {std::nan(""), -std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(format_percent(none), "-");
    EXPECT_EQ(format_ns(none), "-");
    EXPECT_EQ(format_rate(none), "-");
  }
}

}  // namespace
}  // namespace tuner
