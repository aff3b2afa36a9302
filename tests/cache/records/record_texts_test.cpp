// Texts of records: digests, sizes, and configurations, whose grammar is the same in the cache and in core.
#include <stdexcept>

#include <cache/records/record_checks.hpp>
#include <cache/records/stored_records.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/core/values/configuration.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

TEST(Sha256, GivesThePublishedDigests) {
  // FIPS 180-4 examples and NIST's SHA-256 test vectors.
  const std::pair<std::string, std::string> vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [text, digest] : vectors) EXPECT_EQ(sha256_hex(text), digest) << text.substr(0, 60);
}

TEST(Sha256, OfARememberedTextIsThatOfTheText) {
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 40; ++i) {
      const std::string text(1000, static_cast<char>('!' + i));
      EXPECT_EQ(sha256_of_text(text), sha256_hex(text));
    }
}

TEST(Sha256, OfAPartOfARememberedTextIsNotThatOfTheText) {
  const PartOfText half = [](std::string_view whole) { return std::string(whole.substr(0, whole.size() / 2)); };
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(sha256_of_text("abcd", half), sha256_hex("ab"));
    EXPECT_EQ(sha256_of_text("abcd"), sha256_hex("abcd"));
  }
}

TEST(Sha256, OfPartsDependsOnWhereTheyAreParted) {
  EXPECT_EQ(sha256_of_parts({"a", "bc"}), sha256_hex("1:a2:bc"));
  EXPECT_NE(sha256_of_parts({"a", "bc"}), sha256_of_parts({"ab", "c"}));
  EXPECT_NE(sha256_of_parts({}), sha256_of_parts({""}));
}

TEST(Checksum, GivesThePublishedCrc) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32("56789", crc32("1234")), 0xcbf43926u);
}

TEST(SizesText, HasOneFormOnly) {
  EXPECT_EQ(sizes_text({{"ny", 2}, {"nx", 4096}}), "nx=4096 ny=2");
  EXPECT_EQ(parse_sizes("nx=4096 ny=2"), (Sizes{{"nx", 4096}, {"ny", 2}}));
  EXPECT_EQ(parse_sizes(""), Sizes{});
  for (const char* bad : {"nx", "nx=", "=1", "nx=-1", "nx=1 ", " nx=1", "ny=1 nx=1", "nx=1 nx=1", "nx=01", "nx=1  ny=2",
                          "nx=1x", "nx=99999999999999999999", "nx=1,ny=2"}) {
    EXPECT_FALSE(parse_sizes(bad)) << bad;
  }
}

/// Whether Configuration::text() writes \p text and parse() reads it.
bool is_text_of_a_configuration(const std::string& text) {
  try {
    const auto configuration = Configuration::parse(text);
    return !configuration.empty() && configuration.text() == text;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

TEST(ConfigurationText, HoldsNamesWordsAndNumbersAndNothingElse) {
  for (const std::string text :
       {"block=32;x", "block=a-b", "a=b=c", "block=x()", "1st=3", "a.b=1", "block=-", "block=1.5f", "block=inf)",
        "block=\"s\"", "block=//", "b\\=1", "block=0x10", "block=-inf", "block=+1"})
    EXPECT_TRUE(problem_with_configuration(text)) << text;
  for (const std::string text : {"a=1 b_2=word c=-1.5e-3 d=true e=1.0", "step=.5"})
    EXPECT_EQ(problem_with_configuration(text), std::nullopt) << text;
}

TEST(ConfigurationText, IsTheSameToTheCacheAndToTheTuner) {
  for (const std::string text : {"block=32",
                                 "block=32 vector=true",
                                 "block=-1",
                                 "block=9223372036854775807",
                                 "block=9223372036854775808",
                                 "block=1.5",
                                 "step=warp_shuffle",
                                 "",
                                 "block",
                                 "block=",
                                 "=32",
                                 "block=32 ",
                                 " block=32",
                                 "block=32  vector=4",
                                 "vector=4 block=32",
                                 "block=32 block=32",
                                 "block=032",
                                 "block=-0",
                                 "block=32,vector=4",
                                 "block=3,2",
                                 "block=32\tvector=4",
                                 "block=32\n",
                                 "\n",
                                 ",",
                                 " "})
    EXPECT_EQ(!problem_with_configuration(text), is_text_of_a_configuration(text)) << "'" << text << "'";
}

}  // namespace
}  // namespace tuner::cache::test
