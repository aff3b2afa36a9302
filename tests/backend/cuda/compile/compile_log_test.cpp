#include <tuner/backend/cuda/compile/compile_log.hpp>

#include <tuner/core/values/message_text.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

constexpr const char* kCuda13 =
    "mine.cu(5): warning #177-D: variable \"u\" was declared but never referenced\n"
    "  int u;\n"
    "\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z5spillILi300EEvPfi' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z5spillILi300EEvPfi\n"
    "ptxas         .     1536 bytes stack frame, 536 bytes spill stores, 328 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers, 1536 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 127.389 ms\n"
    "ptxas info    : Compiling entry function '_Z1kIfLi128EEvPT_i' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z1kIfLi128EEvPT_i\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 1 barriers, 512 bytes smem\n";

constexpr const char* kCuda12 =
    "ptxas info    : 400 bytes gmem, 16 bytes cmem[3]\n"
    "ptxas info    : Compiling entry function 'add' for 'sm_86'\n"
    "ptxas info    : Function properties for add\n"
    "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
    "ptxas info    : Function properties for helper\n"
    "    64 bytes stack frame, 60 bytes spill stores, 60 bytes spill loads\n"
    "ptxas info    : Used 40 registers, 2048 bytes smem, 380 bytes cmem[0], 8 bytes cmem[2]\n";

TEST(CompileLog, GivesTheResourcesOfEachKernel) {
  const auto kernels = resources_in_log(kCuda13);
  ASSERT_EQ(kernels.size(), 2u);
  const Resources& spill = kernels.at("_Z5spillILi300EEvPfi");
  EXPECT_EQ(spill.registers, 255);
  EXPECT_EQ(spill.stack_bytes, 1536);
  EXPECT_EQ(spill.spill_bytes, 536 + 328);
  const Resources& small = kernels.at("_Z1kIfLi128EEvPT_i");
  EXPECT_EQ(small.registers, 12);
  EXPECT_EQ(small.static_shared_bytes, 512);
  EXPECT_EQ(small.spill_bytes, 0);
}

TEST(CompileLog, NamesTheMacroToWhichAnErrorPoints) {
  const std::string log = "a.h(1): error: expected an identifier\n  struct S { int threads; };\n                 ^\n";
  EXPECT_EQ(first_error(log, {"rows", "threads"}),
            "a.h:1: expected an identifier (a parameter is a macro there: 'threads')");
  EXPECT_EQ(first_error(log, {"rows"}), "a.h:1: expected an identifier");
}

TEST(CompileLog, ReadsOlderLogsAndLeavesCalledFunctionsOut) {
  const auto kernels = resources_in_log(kCuda12);
  ASSERT_EQ(kernels.size(), 1u);
  const Resources& add = kernels.at("add");
  EXPECT_EQ(add.registers, 40);
  EXPECT_EQ(add.stack_bytes, 8);
  EXPECT_EQ(add.spill_bytes, 8);
  EXPECT_EQ(add.static_shared_bytes, 2048);
  EXPECT_EQ(add.constant_bytes, 388);
}

TEST(CompileLog, CountsTheStackOfCalledFunctionsWhereItIsAddedUp) {
  const auto kernels = resources_in_log(
      "ptxas info    : Function properties for _Z4bodyPfi\n"
      "ptxas         .     232 bytes stack frame, 72 bytes spill stores, 72 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'plain' for 'sm_90'\n"
      "ptxas info    : Function properties for plain\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers, 232 bytes cumulative stack size\n");
  EXPECT_EQ(kernels.at("plain").stack_bytes, 232);
}

TEST(CompileLog, HasNoKernelsInAnEmptyOrBrokenLog) {
  for (const char* log :
       {"", "\n\n", "ptxas info    : Used 40 registers\n", "Compiling entry function '", "bytes stack frame"}) {
    EXPECT_TRUE(resources_in_log(log).empty()) << log;
  }
}

TEST(CompileLog, FindsTheFirstErrorWithFileAndLine) {
  const std::pair<std::string, std::string> rows[] = {
      {"a.cu(3): warning #1: x\n\ndir/a.cu(14): error: expected a \";\"\n  int x\n\n1 error detected\n",
       "dir/a.cu:14: expected a \";\""},
      {"ptxas error   : Entry function 'f' uses too much shared data\n",
       "ptxas error   : Entry function 'f' uses too much shared data"},
      {"a.h(1): error: x\n\na.h(2): catastrophic error: cannot open source file \"b.h\"\n",
       "a.h(2): catastrophic error: cannot open source file \"b.h\"" + std::string(kNameItsFolder)},
      {"a.cu(1): catastrophic error: cannot open source file \"cuda_fp8.h\"\n",
       "a.cu(1): catastrophic error: cannot open source file \"cuda_fp8.h\", which comes with CUDA 11.8 and later" +
           std::string(kNameItsFolder)},
      {"nvrtc: error: invalid value for --gpu-architecture\n", "nvrtc: error: invalid value for --gpu-architecture"},
      {"odd\nlog", "odd"},
      {"", ""}};
  for (const auto& [log, error] : rows) EXPECT_EQ(first_error(log), error);
}

TEST(CompileLog, NamesThePlacesThatInstantiateRefusedCodeAlsoAfterNotes) {
  const auto refused = refused_code(
      "a.cu(28): error: more than one operator \"*\" matches these operands:\n    y = 2 * x;\n          ^\n"
      "b.h(9): note #3326-D: function \"operator*\" does not match\n  half operator*(half, half);\n       ^\n"
      "          detected during instantiation of \"void f<T>() [with T=half]\" at line 33\n");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].place.line, 28);
  ASSERT_EQ(refused[0].instantiated_at.size(), 1U);
  EXPECT_EQ(refused[0].instantiated_at[0].line, 33);
}

TEST(CompileLog, NamesAFunctionWithoutABodyWhoseAddressIsTaken) {
  const auto refused = refused_code(
      "ptxas fatal   : Cannot take address of function '_ZN1G2onEv'\nptxas fatal   : Cannot take address of function "
      "'plain'\nptxas fatal   : Unresolved extern function 'other'\n");
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0].function, "on");
  EXPECT_EQ(refused[1].function, "plain");
}

TEST(CompileLog, KeepsWarningsAndDropsResourceLines) {
  EXPECT_EQ(without_resource_lines(kCuda13),
            "mine.cu(5): warning #177-D: variable \"u\" was declared but never referenced\n  int u;");
  EXPECT_EQ(without_resource_lines(kCuda12), "");
}

}  // namespace
}  // namespace tuner::cuda
