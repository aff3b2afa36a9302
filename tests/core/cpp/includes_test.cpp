// Types and constants of a kernel that stand in the files that it includes.

#include <filesystem>

#include <tests/support/environment_variable.hpp>
#include <tests/support/processor_time.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scoped_code.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

class IncludedTypes : public ::testing::Test {
 protected:
  /// A kernel with one buffer, `y`, and one scalar, `by`, of types that \p text has to tell.
  KernelSpec read(const std::string& text, const std::string& lines = "", const std::string& by = "real") const {
    const std::string scalar = lines.find("scalar") == std::string::npos ? "#pragma tuner scalar by = 2\n" : "";
    folder_.write(
        "k.cu",
        "#pragma tuner kernel    scale\n#pragma tuner size n = 1000\n#pragma tuner parameter p = 1 2\n"
        "#pragma tuner out y[n]\n" +
            scalar + lines +
            "#pragma tuner grid 1\n#pragma tuner block 32\n#pragma tuner reference default\n#pragma tuner default "
            "p=1\n" +
            text + "\n__global__ void scale(real* y, const " + by + " by, int n) { y[0] = p; }\n");
    return read_kernel_file(folder_ / "k.cu");
  }
  std::string type(const std::string& text, const std::string& lines = "") const {
    return read(text, lines).find_buffer("y")->type;
  }
  std::string error(const std::string& text, const std::string& lines = "") const {
    return error_of([&] { read(text, lines); });
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(IncludedTypes, AreReadHoweverAHeaderNamesThem) {
  for (const char* const header : {"typedef double real;\n", "using real = double;\n", "#define real double\n",
                                   "#ifndef COMMON_H\n#define COMMON_H\ntypedef double real;\n#endif  // COMMON_H\n",
                                   "#pragma once\n#ifdef __cplusplus\nextern \"C\" {\n#endif\ntypedef double "
                                   "real;\n#ifdef __cplusplus\n}\n#endif\n",
                                   "#ifndef __COMMON_H__\n#define __COMMON_H__\nnamespace a { using wide = double; "
                                   "}\ntypedef a::wide real;\n#endif\n",
                                   "#ifdef SINGLE\ntypedef float real;\n#else\ntypedef double real;\n#endif\n"}) {
    folder_.write("common.h", header);
    const KernelSpec spec = read("#include \"common.h\"\n#include \"common.h\"");
    EXPECT_EQ(spec.find_buffer("y")->type, "double") << header;
    EXPECT_EQ(spec.scalars[0].type, "double") << header;
  }
}

TEST_F(IncludedTypes, AreThoseThatTheTextChooses) {
  folder_.write("common.h", "#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n");
  EXPECT_EQ(type("#include \"common.h\""), "float");
  EXPECT_EQ(type("#define DOUBLE\n#include \"common.h\""), "double");
  EXPECT_EQ(type("#if 0\n#include \"common.h\"\n#else\ntypedef half real;\n#endif"), "half");
  EXPECT_EQ(type("#include \"common.h\"", "#pragma tuner define DOUBLE = p - 1\n"), "double");
  folder_.write("common.h", "#if DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n");
  EXPECT_EQ(type("#include \"common.h\""), "float");
  EXPECT_THAT(error("#include \"common.h\"", "#pragma tuner define DOUBLE = p - 1\n"),
              HasSubstr("'real', the type that 'scale' has for it, has several meanings, or one under an '#if' that"));
}

TEST_F(IncludedTypes, AreFoundInHeadersOfHeadersAndInNamedFolders) {
  folder_.write("include/types/real.h", "#pragma once\n#include \"../config.h\"\ntypedef REAL real;\n");
  folder_.write("include/config.h", "#define REAL double\n");
  folder_.write("outer.h", "#include <types/real.h>\n");
  EXPECT_EQ(type("#include \"outer.h\"", "#pragma tuner include_path \"include\"\n"), "double");
  folder_.write("sources/part.cu", "#include \"beside.h\"\n");
  folder_.write("sources/beside.h", "typedef int real;\n");
  EXPECT_EQ(type("", "#pragma tuner source \"sources/part.cu\"\n"), "int");
}

TEST_F(IncludedTypes, AreStructsWithConstantLengths) {
  folder_.write("sizes.h", "#define ROWS 2\nconst int COLUMNS = ROWS * (1 + 1);\n");
  folder_.write(
      "common.h",
      "#include \"sizes.h\"\ntypedef struct { float at[ROWS][COLUMNS]; int id; } Cell;\ntypedef Cell real;\n");
  const KernelSpec spec = read("#include \"common.h\"", "#pragma tuner scalar by = { 1, 2, 3 }\n", "int3");
  ASSERT_TRUE(spec.find_buffer("y")->record);
  EXPECT_EQ(spec.find_buffer("y")->record->bytes, 36u);
  folder_.write("common.h", "struct Params { double scale; int rows, columns; };\ntypedef float real;\n");
  EXPECT_EQ(
      read("#include \"common.h\"", "#pragma tuner scalar by = { 0.5, n, 3 }\n", "Params").scalars[0].record->bytes,
      16u);
}

TEST_F(IncludedTypes, AreThoseOfConstantMemory) {
  folder_.write("common.h", "typedef float real;\n#define TAPS 9\n__constant__ double filter[TAPS];\n");
  const KernelSpec spec = read("#include \"common.h\"", "#pragma tuner constant filter[TAPS]\n");
  EXPECT_EQ(spec.find_buffer("filter")->type, "double");
  EXPECT_EQ(spec.find_buffer("filter")->count.evaluate_integer({}), 9);
}

TEST_F(IncludedTypes, ThatAreNotFoundAreNamedWithThePlacesThatWereRead) {
  folder_.write("common.h", "#include \"missing/config.h\"\n");
  const std::string folder = folder_.path().string() + '/';
  EXPECT_THAT(
      error("#include \"common.h\""),
      HasSubstr("k.cu:4:19: an element type is needed, as in ': float' or ': { float x; int id; }': the kernel has no "
                "'type' to use instead, and 'real', the type that 'scale' has for it, is not defined in " +
                folder + "k.cu, " + folder +
                "common.h ('missing/config.h' was not found: give its folder, as in 'include_path \"include\"')"));
  folder_.write("common.h", "struct real { float* data; int n; };\n");
  EXPECT_THAT(error("#include \"common.h\""),
              HasSubstr("'real', the type that 'scale' has for it, has members that are not numbers"));
  folder_.write("common.h", "typedef float real;\n");
  EXPECT_THAT(error("#include \"common.h\"", "#pragma tuner scratch other[n]\n"),
              HasSubstr("'other' is not an argument of the kernel"));
  EXPECT_THAT(
      error("#include \"common.h\"", "#pragma tuner scratch other[n], more[n], last[n] : int\n"),
      HasSubstr("'other' is not an argument of the kernel (a type after ':' is that of one buffer, here of 'last' "
                "alone)"));
}

TEST_F(IncludedTypes, StandBesideConstantsForExpressions) {
  folder_.write("common.h",
                "typedef float real;\n#define BLOCK (1 << 7)\nconst unsigned HALF = BLOCK / 2u;\n"
                "int const BITS = sizeof(unsigned long long) * 8, WORDS = 3;\n");
  const auto shared = [&](const std::string& expression) {
    return read("#include \"common.h\"", "#pragma tuner shared " + expression + "\n")
        .launches[0]
        .shared_bytes.evaluate_integer({});
  };
  EXPECT_EQ(shared("BLOCK * 4 + HALF"), 576);
  EXPECT_EQ(shared("BITS * WORDS"), 192);
  EXPECT_THAT(error("#include \"common.h\"", "#pragma tuner shared BLOK\n"), HasSubstr("unknown name 'BLOK'"));
  EXPECT_THAT(error("#include \"common.h\"\nvoid f() { const int INSIDE = 3; }", "#pragma tuner shared INSIDE\n"),
              HasSubstr("unknown name 'INSIDE'"));
  EXPECT_THAT(error("#include \"common.h\"\n#define BLOCK 3", "#pragma tuner shared BLOCK\n"),
              HasSubstr("unknown name 'BLOCK'"));
}

TEST_F(IncludedTypes, StandBesideValuesOfParameters) {
  folder_.write("common.h", "typedef float real;\n#ifndef TILE\n#define TILE 4\n#endif\n");
  const std::string file =
      "#pragma tuner kernel scale\n#pragma tuner parameter TILE = 2 4\n#pragma tuner inout y[1]\n#pragma tuner grid 1\n"
      "#pragma tuner block 32\n#pragma tuner instantiate scale\n#pragma tuner reference default\n#include "
      "\"common.h\"\n"
      "__global__ void scale(real* y) { y[0] = TILE; }\n";
  folder_.write("k.cu", file);
  const KernelSpec spec = read_kernel_file(folder_ / "k.cu");
  ASSERT_EQ(spec.program.macros.size(), 1u) << "without it the parameter would have no effect";
  EXPECT_EQ(spec.default_configuration->text(), "TILE=4");
}

TEST_F(IncludedTypes, AreFoundAfterManyGuardsInABranchThatOnlyACompilerDecides) {
  constexpr int count = 40;
  for (int i = 0; i < count; ++i) {
    const std::string name = "H" + std::to_string(i), next = "#include \"h" + std::to_string(i + 1) + ".h\"\n";
    const bool is_pragma = i % 2 == 0;
    folder_.write("h" + std::to_string(i) + ".h",
                  (is_pragma ? "#pragma once\n" : "#ifndef " + name + "\n#define " + name + "\n") + next + next +
                      (is_pragma ? "" : "#endif\n"));
  }
  folder_.write("h" + std::to_string(count) + ".h", "#pragma once\n");
  folder_.write("last.h", "typedef double real;\n");
  EXPECT_EQ(type("#ifdef __OTHER__\n#include \"h1.h\"\n#include \"h0.h\"\n#endif\n#include \"last.h\""), "double");
}

TEST_F(IncludedTypes, AreNotThoseOfAnIncludeThatMayNotCount) {
  folder_.write(
      "cell.h",
      "#pragma once\n#ifdef WIDE\nstruct real { double x; int id; };\n#else\nstruct real { float x; int id; };\n"
      "#endif\n");
  const std::string scalar = "#pragma tuner scalar by = { 1, 2 }\n";
  const auto bytes = [&](const std::string& text) { return read(text, scalar).scalars[0].record->bytes; };
  EXPECT_EQ(bytes("#define WIDE\n#include \"cell.h\""), 16u);
  EXPECT_EQ(bytes("#ifdef __OTHER__\n#include \"cell.h\"\n#endif"), 8u) << "else there is no such type";
  EXPECT_THAT(error("#ifdef __OTHER__\n#include \"cell.h\"\n#endif\n#define WIDE\n#include \"cell.h\"", scalar),
              HasSubstr("k.cu:4:19: an element type is needed"));
}

TEST_F(IncludedTypes, AreThoseOfTheNamespaceThatCppFinds) {
  folder_.write(
      "types.h",
      "namespace a { using real = double; namespace b { using real = half; } struct Cell { real x; int id; }; }\n"
      "namespace c { using real = int; struct Cell { float x; int id; }; }\n");
  const auto type_by = [&](const std::string& before, const std::string& name) {
    return type("#include \"types.h\"\n" + before + "using real_type = " + name + ";\n#define real real_type");
  };
  EXPECT_EQ(type_by("", "a::real"), "double");
  EXPECT_EQ(type_by("", "::a::b::real"), "half");
  EXPECT_EQ(type_by("using namespace c;\n", "real"), "int");
  EXPECT_EQ(type_by("using a::b::real;\n", "real"), "half");
  EXPECT_EQ(type_by("namespace c { using other = real; }\n", "c::other"), "int");
  EXPECT_EQ(type_by("using namespace a;\n", "b::real"), "half");
  EXPECT_EQ(read("#include \"types.h\"\n#define real a::Cell", "#pragma tuner scalar by = { 1, 2 }\n")
                .scalars[0]
                .record->bytes,
            16u);
  for (const char* const unknown : {"real", "d::real", "a::c::real", "b::real", "c::b::real"})
    EXPECT_THAT(error_of([&] { type_by("", unknown); }), HasSubstr("an element type is needed")) << unknown;
  EXPECT_THAT(error_of([&] { type_by("using namespace a;\nusing namespace c;\n", "real"); }),
              HasSubstr("an element type is needed"));
}

TEST_F(IncludedTypes, AreLookedForFromTheNamespaceOfTheKernel) {
  const auto type_in = [&](const std::string& text) {
    folder_.write(
        "k.cu",
        "#pragma tuner kernel k\n#pragma tuner parameter p = 1 2\n#pragma tuner out y[1]\n#pragma tuner grid 1\n"
        "#pragma tuner block 32\n#pragma tuner reference default\n#pragma tuner default p=1\n" +
            text);
    const KernelSpec spec = read_kernel_file(folder_ / "k.cu");
    return spec.find_buffer("y")->record ? "struct" : spec.find_buffer("y")->type;
  };
  const std::string kernel = "__global__ void k(real* y) { y[0] = p; }\n";
  EXPECT_EQ(type_in("typedef float real;\nnamespace a { typedef double real;\n" + kernel + "}\n"), "double");
  EXPECT_EQ(type_in("typedef float real;\nnamespace a { typedef double real; }\n" + kernel), "float");
  EXPECT_EQ(type_in("typedef float real;\nnamespace a {\n" + kernel + "typedef double real; }\n"), "float");
  EXPECT_EQ(type_in("namespace a { inline namespace v1 { typedef double real; } namespace {\n" + kernel + "} }\n"),
            "double");
  EXPECT_EQ(type_in("namespace a { struct float2 { float x; int n; };\n__global__ void k(float2* y) { y->x = p; } }\n"),
            "struct");
}

TEST_F(IncludedTypes, AreReadInLinearTimeHoweverOftenTheyAreDefined) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "typedef double real;\n";
  folder_.write("many.h", many);
  const double start = testing::processor_seconds();
  EXPECT_EQ(type("#include \"many.h\""), "double");
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "namespace a {\n#if __A__\n";
  EXPECT_TRUE(ScopedCode(deep).is_conditional(deep.size()));
  EXPECT_LT(testing::processor_seconds() - start, 5);
}

TEST_F(IncludedTypes, StandBesideMacrosOfBranchesThatAreTaken) {
  const auto read_with = [&](const std::string& header, const std::string& more = "") {
    folder_.write("common.h", header);
    folder_.write("k.cu",
                  "#pragma tuner kernel scale\n#pragma tuner parameter TILE = 2 4 8\n#pragma tuner inout y[1] : float\n"
                  "#pragma tuner grid 1\n#pragma tuner block 32\n#pragma tuner instantiate scale<TILE>\n" +
                      more +
                      "#pragma tuner reference default\n#include \"common.h\"\n"
                      "template <int n> __global__ void scale(float* y) { y[0] = n; }\n");
    return read_kernel_file(folder_ / "k.cu");
  };
  const std::string given = "#pragma tuner default TILE=2\n";
  EXPECT_THAT(read_with("#if 0\n#define TILE 4\n#endif\n", given).program.macros, IsEmpty());
  EXPECT_THAT(read_with("#ifdef _WIN32\n#define TILE 4\n#endif\n", given).program.macros, IsEmpty());
  EXPECT_EQ(read_with("#ifdef __OTHER__\n#define TILE 4\n#endif\n", given).program.macros.size(), 1u);
  const std::string define = "#pragma tuner define TILE\n" + given;
  for (const char* const harmless :
       {"#ifndef TILE\n#define TILE(x) x\n#endif\n", "#if 0\n#undef TILE\n#endif\n", "// #undef TILE\n"})
    EXPECT_EQ(read_with(harmless, define).program.macros.size(), 1u) << harmless;
  for (const char* const overrides :
       {"\n#define TILE(x) x\n", "\n#undef TILE\n", "#if __OTHER__ > 1\n#undef TILE\n#endif\n"})
    EXPECT_THAT(error_of([&] { read_with(overrides, define); }),
                HasSubstr("k.cu:7:22: line 2 of " + (folder_ / "common.h").string() + " undefines 'TILE'"))
        << overrides;
  const auto default_of = [&](const std::string& header) { return read_with(header).default_configuration->text(); };
  EXPECT_EQ(default_of("#define TILE 4\n"), "TILE=4");
  EXPECT_EQ(default_of("#ifdef WIDE\n#define TILE 8\n#else\n#ifndef TILE\n#define TILE 4\n#endif\n#endif\n"), "TILE=4");
}

class IncludesTest : public ::testing::Test {
 protected:
  Includes of(const std::string& source) const { return included_files(source, folder_ / "kernel.cu"); }
  std::vector<std::string> names(const std::string& source) const {
    std::vector<std::string> result;
    for (const IncludedFile& file : of(source).files)
      result.push_back(std::filesystem::relative(file.path, folder_.path()).string());
    return result;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(IncludesTest, FindsAHeaderHoweverTheDirectiveIsWritten) {
  folder_.write("h.cuh", "int x;\n");
  for (const char* source : {
           "#include \"h.cuh\"",
           "  #  include   \"h.cuh\" // why",
           "#include <h.cuh>",
           "/* a */ # /* b */ include \"h.cuh\"\n",
           "#inc\\\nlude \"h.cuh\"\n",
           "%:include \"h.cuh\"\n",
           "#include_next \"h.cuh\"\n",
           "int a;\n/* \n */ #include \"h.cuh\"",
           "char c = '\"'; // \"\n#include \"h.cuh\"\n",
           "auto n = 1'000;\n#include \"h.cuh\"\n",
           "const char* s = R\"x(\n)y\" )x\"\n#include \"h.cuh\"\n",
           "#if __has_include(\"h.cuh\")\n#endif\n",
           "#if defined(__has_include) && (__has_include ( <h.cuh> ))\n#endif\n",
           "#define HAS(file) __has_include(file)\n#if HAS(\"h.cuh\")\n#endif\n",
           "#if 0\nit's\n#endif\n#include \"h.cuh\"\n",
           "#define N 4\r\n#include \"h.cuh\"\r\n",
       }) {
    EXPECT_THAT(names(source), ElementsAre("h.cuh")) << source;
    EXPECT_EQ(of(source).unknown, std::nullopt) << source;
  }
}

TEST_F(IncludesTest, ReadsNothingOutOfCommentsAndStrings) {
  folder_.write("h.cuh", "");
  for (const char* source :
       {"// #include \"h.cuh\"\n", "/*\n#include \"h.cuh\"\n*/\n", "auto s = R\"(\n#include \"h.cuh\"\n)\";\n",
        "// continued \\\n#include \"h.cuh\"\n", "int include; \"h.cuh\"\n"})
    EXPECT_THAT(names(source), IsEmpty()) << source;
}

TEST_F(IncludesTest, FollowsHeadersIntoTheirOwnFolders) {
  folder_.write("a/one.cuh", "#include \"two.cuh\"\n");
  folder_.write("a/two.cuh", "#include \"../three.cuh\"\n#include \"one.cuh\"\n");
  folder_.write("three.cuh", "#include <stdio.h>\n");
  EXPECT_THAT(names("#include \"a/one.cuh\"\n"), ElementsAre("a/one.cuh", "a/two.cuh", "three.cuh"));
  EXPECT_EQ(of("#include \"a/one.cuh\"\n").files[2].text, "#include <stdio.h>\n");
}

TEST_F(IncludesTest, LooksWhereTheEnvironmentTellsCompilersToLook) {
  folder_.write("more/h.cuh", "");
  EXPECT_THAT(names("#include \"h.cuh\"\n"), IsEmpty());
  setenv("CPATH", ("/no/such/folder:" + (folder_ / "more").string()).c_str(), 1);
  EXPECT_THAT(names("#include \"h.cuh\"\n"), ElementsAre("more/h.cuh"));
  unsetenv("CPATH");
}

TEST(IncludeNext, NamesTheFileInAFolderAfterItsOwn) {
  const auto place = [](const std::filesystem::path& path) {
    return path == "b/h.cuh" ? std::string("places/b/h.cuh") : path == "a/h.cuh" ? "places/a/h.cuh" : "";
  };
  const auto of = [&](const char* path, const char* text) {
    return with_places(text, path, IncludeFolders("k.cu", {"a", "b"}), place);
  };
  EXPECT_EQ(of("a/h.cuh", "#include_next <h.cuh>\nint a;\n"), "#include      <places/b/h.cuh>\nint a;\n");
  EXPECT_EQ(of("b/h.cuh", "#include_next <h.cuh>\n"), "#include_next <h.cuh>\n") << "the toolkit may have one";
  EXPECT_EQ(of("a/h.cuh", "#include <h.cuh>\n"), "#include <places/a/h.cuh>\n");
}

TEST_F(IncludesTest, LooksWhereOptionsOfTheCompilerTellItToLook) {
  folder_.write("sub/h.cuh", "");
  folder_.write("given.h", "#include \"h.cuh\"\n");
  const std::string sub = (folder_ / "sub").string(), given = (folder_ / "given.h").string();
  const testing::EnvironmentVariable nothing("CXX", "g++");
  EXPECT_THAT(names("#include <h.cuh>\n"), IsEmpty());
  for (const char* const option : {"-I", "-I ", "-isystem ", "-iquote", "-idirafter ", "--include-directory="}) {
    const testing::EnvironmentVariable variable("CXX", "ccache g++ -O2 " + (option + sub) + " -g");
    EXPECT_THAT(names("#include <h.cuh>\n"), ElementsAre("sub/h.cuh")) << option;
  }
  const testing::EnvironmentVariable variable("CXX", "g++ -include " + given + " -I" + sub);
  EXPECT_THAT(names(""), ElementsAre("given.h", "sub/h.cuh"));
}

TEST_F(IncludesTest, FollowsAMacroThatNamesAFileInQuotes) {
  folder_.write("h.cuh", "#define NEXT \"next.cuh\"\n");
  folder_.write("g.cuh", "");
  folder_.write("next.cuh", "");
  EXPECT_THAT(names("#define H \"h.cuh\"\n#include H\n"), ElementsAre("h.cuh"));
  EXPECT_THAT(names("#ifdef G\n#define H \"g.cuh\"\n#else\n#define H \"h.cuh\"\n#endif\n#include H\n"),
              UnorderedElementsAre("g.cuh", "h.cuh"));
  EXPECT_THAT(names("#define G H\n#include NEXT\n#include G\n#define H \"h.cuh\"\n"),
              UnorderedElementsAre("h.cuh", "next.cuh"));
  EXPECT_THAT(names("#define H \"h.cuh\"\n#if __has_include(H)\n#endif\n"), ElementsAre("h.cuh"));
  EXPECT_FALSE(of("#define H \"h.cuh\"\n#include H\n").unknown);
  EXPECT_FALSE(of("#define H \"h.cuh\"\n#if __has_include(H) && __has_builtin(H)\n#endif\n").unknown);
}

TEST_F(IncludesTest, SaysWhenAMacroMayNameAnotherFile) {
  folder_.write("h.cuh", "");
  for (const char* const text :
       {"#include H\n", "#define H <h.cuh>\n#include H\n", "#define Q(x) #x\n#include Q(h.cuh)\n",
        "#define H \"h.cuh\"\n#define H Q(h.cuh)\n#include H\n",
        "#pragma tuner compile -DH=X\n#define H \"h.cuh\"\n#include H\n", "#if __has_include(H)\n#endif\n",
        "#define Q(x) #x\n#if X && __has_include(Q(h.cuh))\n#endif\n",
        "#define HAS(x) __has_include(x)\n#if HAS(H)\n#endif\n"})
    EXPECT_THAT(of(text).unknown.value_or(""), HasSubstr(" names its file by a macro")) << text;
}

TEST_F(IncludesTest, TakesFoldersAndPipesForNoFiles) {
  std::filesystem::create_directory(folder_ / "h.cuh");
  EXPECT_THAT(names("#include \"h.cuh\"\n"), IsEmpty());
}

}  // namespace
}  // namespace tuner
