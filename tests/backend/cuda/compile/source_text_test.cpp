#include <tuner/backend/cuda/compile/source_text.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

std::string headers_of(const std::string& source, const std::vector<std::string_view>& macros = {},
                       const std::string& header = {}) {
  return source.substr(0, end_of_headers(source, {{"a.cu", source}, {"a.cuh", header}}, macros));
}

TEST(SourceText, HasHeadersUpToTheLastIncludeBeforeTheFirstDeclaration) {
  EXPECT_EQ(headers_of("// a\n#include <a>\n#define N 1\n#include \"b\"  // b\n\nint i;\n#include <c>\n"),
            "// a\n#include <a>\n#define N 1\n#include \"b\"  // b\n");
  EXPECT_EQ(headers_of("#include <a>"), "#include <a>");
  EXPECT_EQ(headers_of("#include <a>\r\nint i;\r\n"), "#include <a>\r\n");
  for (const char* none : {"", "\n", "int i;\n#include <a>\n", "#define N 1\n"})
    EXPECT_EQ(headers_of(none), "") << none;
}

TEST(SourceText, HasHeadersThatEndOutsideOfConditionsAndComments) {
  EXPECT_EQ(headers_of("#if A\n#include <a>\n#else\n#include <b>\n#endif\nint i;\n"),
            "#if A\n#include <a>\n#else\n#include <b>\n#endif\n");
  EXPECT_EQ(headers_of("#include <a>\n#if A\n#include <b>\nint i;\n#endif\n"), "#include <a>\n");
  EXPECT_EQ(headers_of("#include <a>  /* a\nb */\nint i;\n"), "");
}

TEST(SourceText, HasNoHeadersIfTheyDependOnMacros) {
  const std::string source = "#pragma tuner parameter tile = 1 2\n#include <a>\nint i = tile;\n";
  EXPECT_EQ(headers_of(source, {"tile"}), "#pragma tuner parameter tile = 1 2\n#include <a>\n");
  EXPECT_EQ(headers_of(source, {"tile"}, "int j = tile;"), "");
  EXPECT_EQ(headers_of("#ifndef tile\n#include <a>\n#endif\n", {"tile"}), "");
}

TEST(SourceText, DefinesMacrosAtItsBeginningOrAfterItsHeaders) {
  EXPECT_EQ(with_macros("int i;\n", "a.cu", {}), "int i;\n");
  EXPECT_EQ(with_macros("int i;\n", "a.cu", {"N=1", "B=a==1"}),
            "#define N 1\n#define B a==1\n#line 1 \"a.cu\"\nint i;\n");
  EXPECT_EQ(with_macros("#include <a>\nint i;\n", "a.cu", {"N=1"}, 13),
            "#include <a>\n#pragma nv_hdrstop\n#define N 1\n#line 2 \"a.cu\"\nint i;\n");
}

TEST(SourceText, KeepsThePlacesOfLinesOfAnotherFileBehindMacros) {
  const std::string before = "int j;\n#line 7 \"b.cu\"\n#include <b>\n";
  EXPECT_EQ(with_macros(before + "int i;\n", "a.cu", {"N=1"}, before.size()),
            before + "#pragma nv_hdrstop\n#define N 1\n#line 8 \"b.cu\"\nint i;\n");
}

}  // namespace
}  // namespace tuner::cuda
