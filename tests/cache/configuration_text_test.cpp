// Configurations have the same grammar in the cache and in core: each accepts the other's texts.

#include <stdexcept>

#include <gtest/gtest.h>

#include <cache/fields.hpp>

#include <tuner/core/configuration.hpp>

namespace tuner::cache::test {
namespace {

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
