#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <cache/checksum.hpp>
#include <cache/records.hpp>
#include <cache/samples.hpp>
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

TEST(Sha256, DoesNotDependOnHowTheBytesAreCutUp) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i * 7));
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto part = text.substr(0, length);
    Sha256 hash;
    for (const char c : part) hash.update({&c, 1});
    ASSERT_EQ(hash.hex(), sha256_hex(part)) << length;
  }
}

TEST(Sha256, OfPartsDependsOnWhereTheyAreParted) {
  EXPECT_EQ(sha256_of_parts({"a", "bc"}), sha256_hex("1:a2:bc"));
  EXPECT_NE(sha256_of_parts({"a", "bc"}), sha256_of_parts({"ab", "c"}));
  EXPECT_NE(sha256_of_parts({}), sha256_of_parts({""}));
}

TEST(Checksum, GivesThePublishedCrc) { EXPECT_EQ(crc32("123456789"), 0xcbf43926u); }

TEST(Checksum, TellsFieldsApart) {
  EXPECT_NE(Checksum().add("ab").add("c").value(), Checksum().add("a").add("bc").value());
  EXPECT_NE(Checksum().add(1.0).value(), Checksum().add(-1.0).value());
  EXPECT_EQ(Checksum().add(std::nan("1")).value(), Checksum().add(-std::nan("2")).value());
}

TEST(Samples, ComeBackBitForBit) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0, 1, 2, 10, 1000}) {
    std::vector<double> samples;
    for (std::size_t i = 0; i < count; ++i) samples.push_back(1e5 + static_cast<double>(random() % 100000) / 7);
    EXPECT_EQ(unpack_samples(pack_samples(samples)), samples) << count;
  }
}

TEST(Samples, OfAnUnhurriedClockTakeLittleRoom) {
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(25600 + 32 * (i % 9));
  EXPECT_LT(pack_samples(samples).size(), 2500u);
}

TEST(Samples, RefusesBlobsThatItDidNotMake) {
  const auto good = pack_samples({1, 2, 3, 4});
  EXPECT_FALSE(unpack_samples("x"));
  EXPECT_FALSE(unpack_samples(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(unpack_samples(std::string("\x01\xff\xff\xff\x7f", 5) + good.substr(5)));
  EXPECT_FALSE(unpack_samples(std::string("\x01\x04\0\0\0", 5) + "garbage"));
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
