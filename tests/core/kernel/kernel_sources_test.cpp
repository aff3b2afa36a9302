#include <tuner/core/kernel_file/kernel_file.hpp>

#include <filesystem>
#include <fstream>

#include <tests/support/temporary_folder.hpp>

#include <tests/core/kernel_texts.hpp>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/compile_values.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>

namespace tuner {
namespace {

class KernelElsewhere : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  /// kVectorAdd, followed by \p lines.
  KernelSpec with(const std::string& lines) const {
    return read_kernel_file(write("tuned/add.cu", kVectorAdd + lines));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(KernelElsewhere, StandsWhereItsSourceIsNamed) {
  const std::string path = write("kernels/add.cu", "template <typename T> void add();");
  const KernelSpec spec = with("// before\n#pragma tuner source \\\n  \"../kernels/add.cu\"\n// behind\n");
  EXPECT_EQ(program_text(spec), kVectorAdd +
                                    std::string("// before\n#pragma tuner source \\\n  \"../kernels/add.cu\"\n"
                                                "#line 1 \"") +
                                    path + "\"\ntemplate <typename T> void add();\n#line 23 \"" + spec.program.file +
                                    "\"\n// behind\n");
  EXPECT_THAT(spec.program.include_paths, ElementsAre((folder_ / "kernels").string()));
}

TEST_F(KernelElsewhere, KeepsItsDefinitionsOnlyOfWhatIsNoParameter) {
  write("kernels/fixed.cu",
        "#define BLOCK 256\n#define ITEMS \\\n  4  // each\n#define OTHER BLOCK\n__global__ void k(int* a) {}\n");
  const std::string file =
      "#pragma tuner kernel k\n#pragma tuner parameter BLOCK = 64 256\n#pragma tuner parameter ITEMS = 1 4\n"
      "#pragma tuner define BLOCK ITEMS\n#pragma tuner inout a[1] : int\n#pragma tuner grid 1\n"
      "#pragma tuner block BLOCK\n#pragma tuner arguments a\n#pragma tuner reference default\n";
  const auto read = [&](const std::string& more) {
    return read_kernel_file(write("tuned/k.cu", file + more + "#pragma tuner source \"../kernels/fixed.cu\"\n"));
  };
  EXPECT_THAT(program_text(read("")), AllOf(HasSubstr("fixed.cu\"\n                 \n"),
                                            HasSubstr("#define OTHER BLOCK\n"), Not(HasSubstr("ITEMS \\"))));
  EXPECT_EQ(read("").default_configuration->text(), "BLOCK=256 ITEMS=4");
  EXPECT_EQ(read("#pragma tuner default BLOCK=64\n").default_configuration->text(), "BLOCK=64 ITEMS=4");
}

TEST_F(KernelElsewhere, IsReadOnceForWhoeverKnowsItAlready) {
  const std::string path = write("add.cu", "int before;\n");
  const KernelSpec first = with("#pragma tuner source \"../add.cu\"");
  std::ofstream(path) << "int after;\n";
  const KernelSpec again = parse_kernel_file(first.program.text, first.program.file, first.program.sources);
  EXPECT_EQ(program_text(again), program_text(first));
  EXPECT_THAT(program_text(with("#pragma tuner source \"../add.cu\"")), HasSubstr("int after;"));
}

TEST_F(KernelElsewhere, HasTheHeadersBesideItAndThoseOfIncludePaths) {
  write("kernels/add.cu", "#include \"beside.h\"\n#include <far.h>\n");
  write("kernels/beside.h", "int beside;");
  write("include/far.h", "int far;");
  const KernelSpec spec =
      with("#pragma tuner include_path \"../include\"\n#pragma tuner source \"../kernels/add.cu\"\n");
  ASSERT_TRUE(spec.program.includes);
  ASSERT_EQ(spec.program.includes->files.size(), 2u);
  EXPECT_EQ(spec.program.includes->files[0].text, "int beside;");
  EXPECT_EQ(spec.program.includes->files[1].text, "int far;");
  EXPECT_THAT(spec.program.include_paths, ElementsAre((folder_ / "kernels").string(), (folder_ / "include").string()));
}

TEST_F(KernelElsewhere, UsesTheParametersThatItNames) {
  write("add.cu",
        "template <typename T, int block, int items, Load load>\n__global__ void add(T* a) { a[items] = block; }");
  EXPECT_THAT(unused_parameters(with("#pragma tuner source \"../add.cu\"\n")), ElementsAre("load"));
  EXPECT_THAT(unused_parameters(with("#pragma tuner source \"../add.cu\"\n#pragma tuner define load\n")),
              ElementsAre());
}

TEST_F(KernelElsewhere, IsToldWhereAMacroIsRemoved) {
  write("add.cu", "\n#undef TILE\n");
  EXPECT_THAT(error_of([&] { with("#pragma tuner define TILE = tile\n#pragma tuner source \"../add.cu\"\n"); }),
              HasSubstr("line 2 of " + (folder_ / "add.cu").string() + " undefines 'TILE'"));
}

TEST_F(KernelElsewhere, LeavesTheReferenceToSourcesOfItsOwn) {
  write("add.cu", "int kernels;\n");
  write("naive.cu", "#include \"naive.h\"\n#define TILE 1\n");
  write("naive.h", "int in_header;\n");
  const KernelSpec spec = with(
      "#pragma tuner source \"../add.cu\"\n#pragma tuner define TILE = tile\n#pragma tuner define N = 7\n"
      "#pragma tuner reference_source \"../naive.cu\"\nint ours;\n");
  EXPECT_THAT(program_text(spec), AllOf(HasSubstr("int kernels;"), HasSubstr("int ours;"), Not(HasSubstr("naive.h"))));
  EXPECT_THAT(program_text(spec, ProgramPart::reference),
              AllOf(HasSubstr("#include \"naive.h\""), HasSubstr("int ours;"), Not(HasSubstr("int kernels;"))));
  EXPECT_EQ(spec.program.includes, nullptr);
  ASSERT_TRUE(spec.program.reference_includes);
  EXPECT_EQ(spec.program.reference_includes->files[0].text, "int in_header;\n");
  EXPECT_THAT(reference_macros(spec, complete(spec, {}), {}), ElementsAre("N=7"));
}

TEST_F(KernelElsewhere, IsPreparedByWhatTheReferenceIsCompiledWithToo) {
  write("add.cu", "__global__ void zero(float* c, int n);\n");
  write("naive.cu", "int naive;\n");
  const std::string directives =
      "#pragma tuner source \"../add.cu\"\n#pragma tuner reference_source \"../naive.cu\"\n"
      "#pragma tuner inout d[n] : float\n#pragma tuner prepare zero\n#pragma tuner arguments d, n\n";
  EXPECT_THAT(error_of([&] { with(directives); }),
              HasSubstr("the reference is compiled from its own sources and needs 'zero' too: define it in the kernel "
                        "file, which is part of both programs"));
  EXPECT_EQ(with(directives + "__global__ void zero(float* c, int n) {}\n").prepare.size(), 1u);
}

TEST_F(KernelElsewhere, IsNoKernelFileOfItsOwn) {
  write("add.cu", kVectorAdd);
  EXPECT_THAT(error_of([&] { with("#pragma tuner source \"../add.cu\"\n"); }),
              HasSubstr("add.cu is a kernel file itself: it has '#pragma tuner' lines"));
}

}  // namespace
}  // namespace tuner
