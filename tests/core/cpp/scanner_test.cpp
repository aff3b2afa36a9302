#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(Code, IsTheTextWithBlanksForCommentsAndLiterals) {
  struct Example {
    std::string text, code;
  };
  for (const Example& one : {
           Example{"a = \"}\\\"{\"; /* { */ b = '\"'; c = '\\''; d = 1'000'000; // '{'\ne",
                   "a =       ;         b =    ; c =     ; d = 1'000'000;       \ne"},
           Example{"s = R\"x(\n\")\" )x\";", "s = R   \n       ;"},
           Example{"u8'\\'' L'\"' 0x8'8", "u8     L    0x8'8"},
           Example{"// on \\\nhere\nb", "       \n    \nb"},
           Example{"#error don't\nb", "#error don  \nb"},
           Example{"a /* no end", "a          "},
           Example{"R\"too(", "R     "},
       }) {
    std::string expected = one.code;
    expected.resize(one.text.size(), ' ');
    EXPECT_EQ(code_of(one.text), expected) << one.text;
  }
  EXPECT_EQ(code_of("f(\"//\", '\"'); // \"c\"\nR\"(\")\"", Literals::kept), "f(\"//\", '\"');       \nR     ");
}

/// The text of \p line, read from the places of its runs.
std::string text_at_runs(const std::string& code, const DirectiveLine& line) {
  std::string text;
  for (std::size_t i = 0; i < line.runs.size(); ++i) {
    const std::size_t end = i + 1 < line.runs.size() ? line.runs[i + 1].begin : line.text.size();
    text += code.substr(line.runs[i].place, end - line.runs[i].begin);
  }
  return text;
}

TEST(Code, MayBeCutOffAnywhere) {
  const std::string text = "a /\\\n* b */ R\"x(y)x\" '\\'' \"c\\\nd\" // e \\\r\n#define f \\\n g <h[{(i)}]>";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string code = code_of(text.substr(0, length));
    EXPECT_EQ(code.size(), length);
    for (auto aside = next_non_code(text.substr(0, length), 0); aside;
         aside = next_non_code(text.substr(0, length), aside->end))
      EXPECT_LE(aside->end, length);
    for (const DirectiveLine& line : directives_of(code)) EXPECT_EQ(text_at_runs(code, line), line.text);
  }
}

TEST(Directives, AreFoundWithTheirWordsAndPlaces) {
  const std::string code = "int a = 5 % 3;\n  # define \\\n  A(x) #x \\\r\n + 1 \nint b;\n%:endif";
  const std::vector<DirectiveLine> lines = directives_of(code);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name(), "define");
  EXPECT_EQ(lines[0].rest(), "A(x) #x  + 1");
  EXPECT_EQ(code[lines[0].end], '\n');
  EXPECT_EQ(text_at_runs(code, lines[0]), lines[0].text);
  EXPECT_EQ(lines[1].text, "endif");
}

TEST(Statements, EndBeforeAPlace) {
  const auto before = [](const std::string& code) {
    return std::string(trimmed(statement_before(code, find_word(code, "here"))));
  };
  EXPECT_EQ(before("a; static int here"), "static int");
  EXPECT_EQ(before("struct S { int here"), "int");
  EXPECT_EQ(before("int a = 5 % here"), "int a = 5 %");
  EXPECT_EQ(before("#define PASTE(a, b) a ## b\nconst int here"), "const int");
  EXPECT_EQ(before("#define here"), "");
  EXPECT_EQ(before("here"), "");
}

TEST(Statements, CostNoMoreInAListThatIsLong) {
  std::string code = "const Body all[] = {";
  for (int i = 0; i < 20'000; ++i) code += "Body(1),\n";
  std::size_t characters = 0;
  for (std::size_t at = find_word(code, "Body", 20); at != npos; at = find_word(code, "Body", at + 1))
    characters = std::max(characters, statement_before(code, at).size());
  EXPECT_EQ(characters, 4096u);
}

TEST(Words, AreFoundWhereTheyStandAlone) {
  EXPECT_EQ(find_word("nn n1 _n n", "n"), 9u);
  EXPECT_EQ(find_word("nn", "n"), std::string::npos);
  EXPECT_THAT(words_of(std::string_view("a1 + 1u * _b(0x1F)")), ElementsAre("a1", "_b"));
  EXPECT_EQ(substitute_words("n + 1n + m.n", {{"n", "4"}}), "4 + 1n + m.4");
  EXPECT_TRUE(occurs_in_code("#pragma omp n\n", "n"));
  EXPECT_FALSE(occurs_in_code("// n\n#pragma tuner size n \\\n  n\n\"n\"", "n"));
}

TEST(Brackets, AreClosedByTheirOwn) {
  EXPECT_EQ(after_brackets("f(a[2], {b})+c", 1), 12u);
  EXPECT_EQ(after_brackets("(a", 0), std::string::npos);
  EXPECT_EQ(after_angles("<a<b>, (c > d), 1 << 2>x", 0), 23u);
  EXPECT_THAT(at_commas("layout<a, b>, f(c, d) , "), ElementsAre("layout<a, b>", "f(c, d)"));
  EXPECT_THAT(at_commas("a < b, c > d", true), ElementsAre("a < b", "c > d"));
  EXPECT_THAT(at_commas(" "), IsEmpty());
}

}  // namespace
}  // namespace tuner
