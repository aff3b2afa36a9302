#include <tuner/core/cpp/definitions.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

/// \p text without its definitions of TILE and without blanks at its end.
std::string without_tile(const std::string& text) {
  std::string rest = without_definitions(text, {"TILE"});
  EXPECT_EQ(rest.size(), text.size()) << "places must stay";
  rest.erase(rest.find_last_not_of(" \n") + 1);
  return rest;
}

TEST(Definitions, AreMacrosAndConstantsOfOneName) {
  for (const char* const definition :
       {"#define TILE 16", "const int TILE = 16;", "static constexpr unsigned TILE = 16;", "constexpr int TILE{16};",
        "constexpr std::size_t TILE = 16;", "static const int TILE =\n16;"}) {
    const auto found = definitions_of(definition, "TILE");
    ASSERT_EQ(found.size(), 1u) << definition;
    EXPECT_EQ(found.front().value, "16") << definition;
    EXPECT_EQ(without_tile(definition), "") << definition;
    EXPECT_EQ(without_tile("int a; " + std::string(definition)).substr(0, 6), "int a;");
  }
  EXPECT_EQ(without_tile("__global__ void k() { const int TILE = 4; f(TILE); }"),
            "__global__ void k() {                     f(TILE); }");
}

TEST(Definitions, AreNothingElse) {
  for (const char* const other :
       {"int TILE = 16;", "const int TILE = 16, ROWS = 2;", "template <int TILE = 16> void f();",
        "void f(const int TILE = 16);", "for (const int TILE = 1; a; b) c();", "const int* TILE = p;",
        "const bool b = TILE == 16;", "const int TILE = blockIdx.x * 4;", "const int TILE = sizes[2];",
        "#define TILE(x) x", "// const int TILE = 16;", "constexpr int TILES = 16;"})
    EXPECT_EQ(without_tile(other), other);
}

TEST(Definitions, HaveValuesAlsoWhereADeclarationHasSeveralNames) {
  const auto value = [](const char* code, const char* name) {
    const auto found = values_of(code, name);
    return found.size() == 1 ? found[0].value : "none";
  };
  const char* const sizes = "static const int mx = 64, my = f(2, 3), mz{4};";
  EXPECT_EQ(value(sizes, "mx"), "64");
  EXPECT_EQ(value(sizes, "my"), "f(2, 3)");
  EXPECT_EQ(value(sizes, "mz"), "4");
  EXPECT_EQ(value("int mx = 64, my = 32;", "my"), "none") << "it may change";
  EXPECT_EQ(value("for (const int i = 0, n = 3; a; b) c();", "n"), "none");
}

}  // namespace
}  // namespace tuner
