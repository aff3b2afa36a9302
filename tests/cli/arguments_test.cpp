#include <tuner/cli/options.hpp>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>

namespace tuner::cli {
namespace {

TEST(ParseCount, ReadsTheFormsThatPeopleWrite) {
  const std::pair<const char*, std::int64_t> table[] = {
      {"0", 0},          {"4096", 4096},       {"4k", 4096},
      {"4K", 4096},      {"16M", 16 << 20},    {"1G", 1 << 30},
      {"2T", 1ll << 41}, {"1e6", 1000000},     {"2.5e3", 2500},
      {"0.5k", 512},     {"2^24", 1 << 24},    {"2**10", 1024},
      {" 33 ", 33},      {"10^9", 1000000000}, {"9223372036854775807", 9223372036854775807ll}};
  for (const auto& [text, value] : table) EXPECT_EQ(parse_count(text, "--size"), value) << text;
}

TEST(ParseCount, RejectsWhatIsNoWholeNumber) {
  for (const char* text : {"",      " ",    "x",    "-1",   "1.5", "1e-3", "4kk",  "k",   "^",
                           "2^",    "^2",   "2^99", "1e30", "nan", "inf",  "0x10", "1,5", "99999999999999999999",
                           "2^0.5", "-2^4", "1 2"})
    EXPECT_THROW(parse_count(text, "--size"), UsageError) << text;
}

TEST(ParseCount, NamesTheOptionAndTheTextInItsMessage) {
  try {
    parse_count("much", "--trials");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), Holds("--trials: 'much'", "4k"));
  }
}

TEST(ParseCount, SaysWhetherANumberIsTooLargeOrTooSmall) {
  const auto complaint = [](const char* text, std::int64_t low) {
    return error_of<UsageError>([&] { parse_count(text, "--trials", low); });
  };
  EXPECT_EQ(complaint("1e18", 0), "--trials: '1e18' is too large: give at most 2^53");
  EXPECT_EQ(complaint("2^99", 0), "--trials: '2^99' is too large: give at most 2^53");
  EXPECT_EQ(complaint("-1", 1), "--trials: must be at least 1, not -1");
  EXPECT_EQ(complaint("0", 1), "--trials: must be at least 1, not 0");
  EXPECT_EQ(complaint("-2k", 0), "--trials: must be at least 0, not -2k");
}

TEST(ParseCount, NamesTheRangeThatItChecks) {
  EXPECT_EQ(parse_count("1k", "--repeats", 1, 10000), 1024);
  for (const char* text : {"0", "99999999999"}) try {
      parse_count(text, "--repeats", 1, 10000);
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "--repeats: " + std::string(text) + " is not between 1 and 10000");
    }
}

TEST(ParseDuration, ReadsUnitsAndTheirSums) {
  const std::pair<const char*, double> table[] = {{"30s", 30},   {"500ms", 0.5}, {"12us", 12e-6}, {"5m", 300},
                                                  {"2.5m", 150}, {"1h", 3600},   {" 1m30s ", 90}, {"1min", 60}};
  for (const auto& [text, seconds] : table) EXPECT_DOUBLE_EQ(parse_duration(text, "--budget").count(), seconds) << text;
}

TEST(ParseDuration, RejectsNothingAndNegativeAndMissingOrUnknownUnits) {
  for (const char* text : {"", "0", "90", "0s", "-5s", "5 parsecs", "s", "5s5", "5x5s", "1..5s", "soon"})
    EXPECT_THROW(parse_duration(text, "--budget"), UsageError) << text;
}

TEST(ParseNumber, ChecksItsRange) {
  EXPECT_DOUBLE_EQ(parse_number("0.25", "--until-unlikely", 0, 1), 0.25);
  for (const char* text : {"1.5", "-0.1", "half", "nan"})
    EXPECT_THROW(parse_number(text, "--until-unlikely", 0, 1), UsageError) << text;
}

TEST(ParseSizes, ReadsNamedSizes) {
  EXPECT_THAT(parse_sizes("nx=4k,ny=2^10", "--size"), ElementsAre(Pair("nx", 4096), Pair("ny", 1024)));
  EXPECT_THAT(parse_sizes(" nx = 3 , ny=4", "--size"), ElementsAre(Pair("nx", 3), Pair("ny", 4)));
  EXPECT_THAT(parse_sizes("nx=3 ny=4", "--size"), ElementsAre(Pair("nx", 3), Pair("ny", 4)));
}

TEST(ParseSizes, RejectsRepeatedNamesAndMissingParts) {
  for (const char* text : {"", "nx", "nx=", "=4", "nx=1,nx=2", "nx=one"})
    EXPECT_THROW(parse_sizes(text, "--size"), UsageError) << text;
}

TEST(Split, DropsBlanksAndEmptyParts) {
  EXPECT_THAT(split({"a; b ;;c", "", "d"}, ';'), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split({}, ','), IsEmpty());
}

}  // namespace
}  // namespace tuner::cli
