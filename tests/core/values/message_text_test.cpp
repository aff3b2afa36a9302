#include <tuner/core/values/message_text.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(NearestName, FindsMisspellingsOnly) {
  const std::vector<std::string> names{"block_x", "block_y", "vector", "n"};
  EXPECT_EQ(nearest_name("blok_x", names), "block_x");
  EXPECT_EQ(nearest_name("vecotr", names), "vector");
  EXPECT_EQ(nearest_name("m", names), std::nullopt);
  EXPECT_EQ(nearest_name("something", names), std::nullopt);
}

TEST(UnknownName, SuggestsTheNearestAndListsAll) {
  EXPECT_EQ(unknown_name("kernel", "reduse", {"gemm", "reduce"}),
            "unknown kernel 'reduse'; did you mean 'reduce'? Known: gemm, reduce.");
  EXPECT_EQ(unknown_name("kernel", "x", {"gemm"}), "unknown kernel 'x'; known: gemm.");
}

TEST(UnknownName, SaysThatThereIsNoneToKnow) {
  EXPECT_EQ(unknown_name("choice", "foo", {}), "unknown choice 'foo'; there is none");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2Jb\r\n\x7f"), "a\\x1b[2Jb\\x0d\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "a control sequence introducer of eight bits";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\u202etxt.exe");
  EXPECT_EQ(printable("\xef\xbf\xbe\xef\xbf\xbf"), "\\ufffe\\uffff") << "no characters";
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(printable("\xff"
                      "a\xc0\xaf\xed\xa0\x80\xe2\x82"),
            "\\xffa\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x82");
}

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("NVIDIA H200, 3 µs … \xf0\x9f\x9a\x80"), "NVIDIA H200, 3 µs … \xf0\x9f\x9a\x80");
}

TEST(Printable, KeepsTheLinesOfALog) { EXPECT_EQ(printable_lines("a\n\tb\r\n\x07"), "a\n\tb\\x0d\n\\x07"); }

TEST(InQuotes, CutsBetweenCharacters) {
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "µµ"), '\'' + std::string(59, 'x') + "…'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), '\'' + std::string(60, 'x') + '\'');
}

TEST(ShellWord, QuotesWhatAShellWouldDivideOrChange) {
  EXPECT_EQ(shell_word("src/a-2_b.cu"), "src/a-2_b.cu");
  EXPECT_EQ(shell_word("my 2.cu"), "'my 2.cu'");
  EXPECT_EQ(shell_word("it's.cu"), "'it'\\''s.cu'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace tuner
