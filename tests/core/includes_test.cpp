// The files that a kernel file reads: found in every way in which a directive can be written, and only there.
#include <tuner/core/includes.hpp>

#include <fstream>

#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>

namespace tuner {
namespace {

class IncludesTest : public ::testing::Test {
 protected:
  void write(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
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
  write("h.cuh", "int x;\n");
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
           "#if 0\nit's\n#endif\n#include \"h.cuh\"\n",
           "#define N 4\r\n#include \"h.cuh\"\r\n",
       }) {
    EXPECT_THAT(names(source), ElementsAre("h.cuh")) << source;
    EXPECT_EQ(of(source).unknown, std::nullopt) << source;
  }
}

TEST_F(IncludesTest, ReadsNothingOutOfCommentsAndStrings) {
  write("h.cuh", "");
  for (const char* source :
       {"// #include \"h.cuh\"\n", "/*\n#include \"h.cuh\"\n*/\n", "auto s = R\"(\n#include \"h.cuh\"\n)\";\n",
        "// continued \\\n#include \"h.cuh\"\n", "int include; \"h.cuh\"\n"})
    EXPECT_THAT(names(source), IsEmpty()) << source;
}

TEST_F(IncludesTest, FollowsHeadersIntoTheirOwnFolders) {
  write("a/one.cuh", "#include \"two.cuh\"\n");
  write("a/two.cuh", "#include \"../three.cuh\"\n#include \"one.cuh\"\n");
  write("three.cuh", "#include <stdio.h>\n");
  EXPECT_THAT(names("#include \"a/one.cuh\"\n"), ElementsAre("a/one.cuh", "a/two.cuh", "three.cuh"));
  EXPECT_EQ(of("#include \"a/one.cuh\"\n").files[2].text, "#include <stdio.h>\n");
}

TEST_F(IncludesTest, LooksWhereTheEnvironmentTellsCompilersToLook) {
  write("more/h.cuh", "");
  EXPECT_THAT(names("#include \"h.cuh\"\n"), IsEmpty());
  setenv("CPATH", ("/no/such/folder:" + (folder_ / "more").string()).c_str(), 1);
  EXPECT_THAT(names("#include \"h.cuh\"\n"), ElementsAre("more/h.cuh"));
  unsetenv("CPATH");
}

TEST_F(IncludesTest, SaysWhenAMacroNamesTheFile) {
  EXPECT_THAT(of("#define H \"h.cuh\"\n#include H\n").unknown.value_or(""), HasSubstr("#include H in"));
}

TEST_F(IncludesTest, TakesFoldersAndPipesForNoFiles) {
  std::filesystem::create_directory(folder_ / "h.cuh");
  EXPECT_THAT(names("#include \"h.cuh\"\n"), IsEmpty());
}

}  // namespace
}  // namespace tuner
