#include <gtest/gtest.h>

#include <cache/records.hpp>
#include <cache/sha256.hpp>

#include "fixture.hpp"

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

}  // namespace
}  // namespace tuner::cache::test
