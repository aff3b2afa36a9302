// The compiler: batches, diagnostics, the object cache, and what is missing.

#include <fstream>
#include <iterator>
#include <sstream>

#include <cache/query/image_files.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/in_threads.hpp>
#include <tests/support/no_descriptors.hpp>
#include <tuner/backend/host/compile/compiler.hpp>
#include <tuner/backend/host/compile/own_text.hpp>
#include <tuner/backend/host/compile/process.hpp>
#include <tuner/backend/host/compile/translation_unit.hpp>
#include <tuner/backend/host/run/block_runner.hpp>
#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/core/values/passing.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

/// The message of the backend's compiler about \p source.
std::string refusal(const std::string& source, const std::string& expression = "k") {
  return why_not(backend().compiler().compile(request(source, {expression})));
}

const CompileRequest& small_request() {
  static const CompileRequest one = request("__global__ void k(int* out) { *out = 1; }", {"k"});
  return one;
}

/// Options for a compiler that is the script \p text in \p folder, after it has told its version.
HostOptions scripted(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path path =
      folder.write("cxx", "#!/bin/sh\n[ \"$1\" = --version ] && { echo cxx 1.0; exit; }\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  HostOptions options = uncached_options();
  options.compiler = path.string();
  return options;
}

/// The compiler of the system, with a cache, that writes its arguments into a log, each time on a line.
class LoggedCompiler {
 public:
  LoggedCompiler() {
    options_.cache_objects = true;
    options_.cache_directory = cache();
  }
  CompileResult operator()(const CompileRequest& wanted) const { return make_host_compiler(options_)->compile(wanted); }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  /// The arguments of the compiler's calls, without those that make guards of shared memory.
  std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::ifstream file(folder_ / "log");
    for (std::string line; std::getline(file, line);)
      if (line.find("guard_after.cpp") == std::string::npos && line.find("guard_before.cpp") == std::string::npos)
        lines.push_back(line);
    return lines;
  }

 private:
  const TemporaryFolder folder_;
  HostOptions options_ = scripted(folder_, "echo \"$@\" >> " + (folder_ / "log").string() + "\nexec c++ \"$@\"\n");
};

std::size_t files_in(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator files(folder, error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(HostCompile, CompilesManyInstantiationsAtOnce) {
  std::vector<std::string> expressions;
  for (int i = 0; i < 16; ++i) expressions.push_back("put<" + std::to_string(i) + ", (" + std::to_string(i) + " > 7)>");
  const std::unique_ptr<Module> module =
      load("template <int v, bool big> __global__ void put(int* out) { *out = v + (big ? 100 : 0); }", expressions);
  for (std::size_t i = 0; i < 16; ++i) {
    int out = -1;
    EXPECT_EQ(text(launch(*module, i, shape(1, 1), 5, backend(), &out)), "done");
    EXPECT_EQ(out, static_cast<int>(i) + (i > 7 ? 100 : 0));
  }
}

TEST(HostCompile, NeedsOnlyTheKernelsThatItIsAskedFor) {
  int out = 0;
  const char* const source =
      "__global__ void other(int* out) { *out = of_another_machine(); }\n__global__ void k(int* out) { *out = 1; }\n";
  EXPECT_EQ(text(launch(*load(source, {"k"}), 0, shape(1, 1), 5, backend(), &out)), "done");
  EXPECT_THAT(refusal(source, "other"), HasSubstr("of_another_machine"));
}

TEST(HostCompile, LetsKernelsReadMemoryAsAnotherType) {
  int out = 0;
  const auto module = load(
      "__global__ void k(int* out) {\n  float given[4] = {1, 2, 3, 4}; short parts[8] = {};\n"
      "  *(int4*)parts = *(int4*)given;\n  for (int i = 0; i < 8; ++i) *out += parts[i];\n}\n",
      {"k"});
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
  EXPECT_EQ(out, 0x3f80 + 0x4000 + 0x4040 + 0x4080);
}

TEST(HostCompile, TellsTheKernelFilesOwnLine) {
  EXPECT_THAT(refusal("\n\n__global__ void k() {\n  int x = undeclared;\n}\n"),
              AllOf(StartsWith("test.cu:4:"), HasSubstr("error"), HasSubstr("undeclared")));
}

TEST(HostCompile, TellsTheLineThatAParametersMacroBreaks) {
  CompileRequest broken = request("\n__global__ void k() {\n  int bx = 0;\n}\n", {"k"});
  broken.macros = {"bx=64"};
  EXPECT_THAT(why_not(backend().compiler().compile(broken)), StartsWith("test.cu:3:"));
}

TEST(HostCompile, KeepsLineNumbersBelowADynamicArrayThatSpansLines) {
  EXPECT_THAT(refusal("extern __shared__\n  int tile[\n];\n__global__ void k() { bad; }\n"), StartsWith("test.cu:4:"));
}

TEST(HostCompile, NamesTheExpressionThatDoesNotExist) {
  EXPECT_THAT(refusal("__global__ void k() {}\n", "missing<3>"), HasSubstr("instantiation of missing<3>"));
}

TEST(HostCompile, SaysWhereABraceIsLeftOpen) {
  EXPECT_THAT(refusal("__global__ void k(int* x) {\n  if (x != nullptr) { *x = '}';  // }\n}\n"),
              StartsWith("test.cu: a '{' is not closed before the end of the text\n"));
}

TEST(HostCompile, GivesTheMessageOfAFailedStaticAssertion) {
  EXPECT_THAT(
      refusal("template <int n> __global__ void k() { static_assert(n > 4, \"n must be above 4\"); }\n", "k<3>"),
      HasSubstr("n must be above 4"));
}

TEST(HostCompile, SaysWhatWasTriedWhenThereIsNoCompiler) {
  HostOptions options = uncached_options();
  options.compiler = "no-such-compiler";
  EXPECT_THAT(why_not(make_host_compiler(options)->compile(small_request())),
              AllOf(HasSubstr("no C++ compiler found (tried no-such-compiler)"), HasSubstr("CXX")));
}

/// The warnings when the environment's CXX is \p cxx. Checks that a kernel compiles nevertheless.
std::string said_of_cxx(const std::string& cxx) {
  const testing::EnvironmentVariable variable("CXX", cxx);
  std::string said;
  HostOptions options = uncached_options();
  options.warn = [&said](const std::string& message) { said += message; };
  EXPECT_EQ(why_not(make_host_compiler(options)->compile(small_request())), "");
  return said;
}

TEST(HostCompile, SaysWhyCxxIsNotUsedAndWhatIs) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  EXPECT_THAT(said_of_cxx("/no/such/c++"), AllOf(HasSubstr("CXX=/no/such/c++ is not used, because there is no program"),
                                                 HasSubstr("compiled with")));
  EXPECT_THAT(said_of_cxx("true"), HasSubstr("its --version names neither g++ nor clang++"));
  EXPECT_THAT(said_of_cxx("false"), HasSubstr("it fails with --version"));
}

TEST(HostCompile, TakesACxxWithArguments) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  EXPECT_EQ(said_of_cxx(" env  c++ -O1 "), "");
}

/// A compiler of the system behind a script that does \p first when it is asked for its version for the first time.
HostOptions bad_at_first(const TemporaryFolder& folder, const std::string& first) {
  const std::string mark = (folder / "asked").string();
  const auto path = folder.write(
      "cxx", "#!/bin/sh\n[ -e " + mark + " ] || { touch " + mark + "; " + first + "; }\nexec c++ \"$@\"\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  HostOptions options = uncached_options();
  options.compiler = path.string();
  return options;
}

TEST(HostCompile, AsksACompilerAgainThatCouldNotAnswerOnce) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  for (const std::string first : {"kill -9 $$", "echo Cannot allocate memory >&2; exit 1"}) {
    const TemporaryFolder folder;
    const auto compiler = make_host_compiler(bad_at_first(folder, first));
    const CompileResult result = compiler->compile(small_request());
    const auto* const failed = std::get_if<CompileError>(&result);
    ASSERT_NE(failed, nullptr) << first;
    EXPECT_TRUE(failed->machine_fault) << first;
    EXPECT_THAT(failed->message, HasSubstr("does not report its version now")) << first;
    EXPECT_EQ(why_not(compiler->compile(small_request())), "") << first;
  }
}

TEST(HostCompile, FindsACompilerThatIsInstalledLater) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  const TemporaryFolder folder;
  HostOptions options = uncached_options();
  options.compiler = (folder / "cxx").string();
  const auto compiler = make_host_compiler(options);
  EXPECT_THAT(why_not(compiler->compile(small_request())), HasSubstr("no C++ compiler found"));
  (void)bad_at_first(folder, "true");
  EXPECT_EQ(why_not(compiler->compile(small_request())), "");
}

TEST(HostCompile, NamesTheLackOfDescriptorsAndFindsTheCompilerWhenSomeAreFree) {
  const auto compiler = make_host_compiler(uncached_options());
  {
    const testing::FewDescriptors none;
    EXPECT_THAT(why_not(compiler->compile(small_request())), HasSubstr("the process has no free file descriptors"));
    EXPECT_THROW((void)host_device(uncached_options()), Passing);
  }
  EXPECT_EQ(why_not(compiler->compile(small_request())), "");
}

TEST(HostCompile, KillsACompilerThatDoesNotEnd) {
  const TemporaryFolder folder;
  HostOptions options = scripted(folder, "sleep 600 & wait\n");
  options.compile_timeout_s = 0.2;
  EXPECT_THAT(why_not(make_host_compiler(options)->compile(small_request())), HasSubstr("did not end within 0.2 s"));
}

TEST(HostCompile, BlamesTheMachineForACompilerThatWaitsButNotForOneThatComputes) {
  const auto is_machine_fault = [](const std::string& script, double limit_s) {
    const TemporaryFolder folder;
    HostOptions options = scripted(folder, script);
    options.compile_timeout_s = limit_s;
    return std::get<CompileError>(make_host_compiler(options)->compile(small_request())).machine_fault;
  };
  EXPECT_TRUE(is_machine_fault("kill -STOP $$\n", 0.5));
  // Eight, so that other programs cannot keep all of them waiting for long.
  const std::string computes = "for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait\n";
  double limit_s = 1;
  while (is_machine_fault(computes, limit_s) && limit_s < 30) limit_s *= 2;
  EXPECT_LT(limit_s, 30);
}

TEST(HostCompile, TellsAFaultOfTheMachineFromOneOfTheSourceAndHowTheCompilerDied) {
  const auto error = [](const std::string& end) {
    const TemporaryFolder folder;
    return std::get<CompileError>(make_host_compiler(scripted(folder, end))->compile(small_request()));
  };
  const CompileError killed = error("kill -9 $$\n");
  EXPECT_TRUE(killed.machine_fault);
  EXPECT_THAT(killed.message, HasSubstr("exit code 137"));
  EXPECT_TRUE(error("echo 'fatal error: Killed signal terminated program cc1plus'; exit 1\n").machine_fault);
  EXPECT_TRUE(error("echo 'error: cannot write: No space left on device'; exit 1\n").machine_fault);
  EXPECT_FALSE(error("echo 'unit.cpp:1:1: error: expected a type'; exit 1\n").machine_fault);
}

TEST(HostBackend, ThrowsWhereTheStacksOfItsThreadsHaveNoRoom) {
  EXPECT_THROW(host::StackPool(1024, std::size_t{1} << 44), Error);
}

/// The folder for temporary files is an empty one.
class InTemporaryFolder : public ::testing::Test {
 protected:
  std::size_t files() const { return files_in(folder_.path()); }

  const TemporaryFolder folder_;
  const testing::EnvironmentVariable variable_{"TMPDIR", folder_.path().string()};
};
using HostCompileFiles = InTemporaryFolder;

TEST_F(HostCompileFiles, AreGoneInTheEnd) {
  EXPECT_EQ(why_not(make_host_compiler(uncached_options())->compile(small_request())), "");
  EXPECT_EQ(files(), 0u);
}

TEST_F(HostCompileFiles, AreSharedByThreadsThatUseOneCompiler) {
  const auto compiler = make_host_compiler(uncached_options());
  std::vector<std::string> messages(4, "not compiled");
  testing::in_threads(messages.size(), [&](std::size_t t) {
    CompileRequest interleaved = request("__global__ void k(int* a) { *a += " + std::to_string(t) + "; }", {"k"});
    interleaved.interleaved = true;  // all of them need the hooks
    messages[t] = why_not(compiler->compile(interleaved));
  });
  EXPECT_THAT(messages, Each(""));
}

TEST_F(HostCompileFiles, HoldTheShimOnceAndAgainOnlyIfSomethingRemovesIt) {
  const auto compiler = make_host_compiler(uncached_options());
  std::set<std::filesystem::path> folders;
  const auto compiles = [&](const std::string& name) {
    EXPECT_EQ(why_not(compiler->compile(request("__global__ void " + name + "() {}", {name}))), "");
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) folders.insert(entry.path());
  };
  compiles("a");
  compiles("b");
  ASSERT_EQ(folders.size(), 1u);
  std::filesystem::remove_all(*folders.begin());
  compiles("c");
  EXPECT_EQ(folders.size(), 2u);
}

TEST(HostCompile, IsImmuneToTheMacrosOfAKernelFileAndOfItsOptions) {
  const char* source = R"(
#define K 8
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <assert.h>
extern __shared__ int s[];
template <int n> __global__ void k(int* out) {
  assert(n > 0);
  s[threadIdx.x] = (int)threadIdx.x * K;
  __syncthreads();
  __half2 h = __float2half2_rn((float)s[blockDim.x - 1 - threadIdx.x]);
  out[threadIdx.x] = (int)__half2float(h.x) + (int)(blockIdx.x + gridDim.x) + (int)cooperative_groups::this_thread_block().size();
})";
  CompileRequest wanted = request(source, {"k<1>"});
  std::istringstream names(
      "T N P I A B R V a b n_ block thread index context api run info value bits mask lane file line dim grid shared "
      "order next live stop fail kernel arguments sizes type types Value Index Block Kernel Entry EntryOf tuner "
      "tuner_host visibility aligned noreturn always_inline linear result address width delta source std");
  for (std::string name; names >> name;) wanted.defines.push_back(name + "=@");
  const auto module = load(backend().compiler().compile(wanted));
  std::vector<int> out(4);
  EXPECT_EQ(text(launch(*module, 0, shape(1, 4, 16), 5, backend(), out.data())), "done");
  EXPECT_THAT(out, ElementsAre(29, 21, 13, 5));
}

TEST(HostCompile, TakesAssertionsOutWhenAnOptionSaysSo) {
  CompileRequest wanted = request("__global__ void k() { assert(1 == 2); }", {"k"});
  wanted.defines = {"NDEBUG"};
  const auto module = load(backend().compiler().compile(wanted));
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend())), "done");
}

TEST(HostCompile, ReadsWhatARequestCarriesAsItsFiles) {
  CompileRequest wanted = request(
      "#include \"near.h\"\n#include <named.h>\n__global__ void add(int* x) { *x = near_one() + kNamed; }\n", {"add"});
  wanted.file_name = "/nowhere/kernels/mine.cu";
  wanted.include_paths = {"/nowhere/include"};
  EXPECT_THAT(why_not(backend().compiler().compile(wanted)), HasSubstr("near.h"));
  wanted.carried = {
      {"/nowhere/kernels/near.h", "#include \"../common/far.h\"\n__device__ int near_one() { return far_one(); }\n"},
      {"/nowhere/kernels/../common/far.h", "__device__ int far_one() { return 1; }\n"},
      {"/nowhere/include/named.h", "constexpr int kNamed = 2;\n"}};
  EXPECT_EQ(why_not(backend().compiler().compile(wanted)), "");
  wanted.carried.back().text = "constexpr int kNamed = missing;\n";
  EXPECT_THAT(why_not(backend().compiler().compile(wanted)), StartsWith("/nowhere/include/named.h:1:"));
}

TEST(HostCache, AnswersTheSecondCompileWithoutACompiler) {
  const LoggedCompiler compile;
  const Image first = image(compile(small_request()));
  EXPECT_EQ(image(compile(small_request())).code, first.code);
  EXPECT_EQ(compile.log().size(), 1u);
  EXPECT_EQ(std::filesystem::status(compile.cache() / "images/host").permissions(), std::filesystem::perms::owner_all);
}

TEST(HostCompile, GivesTheKernelItsMacros) {
  CompileRequest wanted = request(
      "#ifndef block_size_x\n#define block_size_x 1\n#endif\n"
      "extern \"C\" __global__ void k(T* out) {\n#if padded\n  T parts[block_size_x];\n  *out = "
      "sizeof(parts);\n#endif\n}",
      {"k"});
  for (const int block : {4, 8}) {
    wanted.macros = {"T=int", "block_size_x=" + std::to_string(block), "padded=true"};
    const auto module = load(backend().compiler().compile(wanted));
    int out = 0;
    EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
    EXPECT_EQ(out, 4 * block);
  }
}

TEST(HostCompile, ShowsTheErrorOfAKernelAndWhatWasLeftOutBefore) {
  const CompileRequest wanted =
      request("int helper() { return no_such_thing; }\n__global__ void k(int* out) { *out = no_such_value; }\n", {"k"});
  const CompileResult result = backend().compiler().compile(wanted);
  const auto* const error = std::get_if<CompileError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(error->message, HasSubstr("no_such_value"));
  EXPECT_THAT(error->message, HasSubstr("(left out as host code: test.cu:1: int helper() {"));
  EXPECT_THAT(error->log, HasSubstr("no_such_thing"));
}

/// What programs have beside their kernels, and nvcc accepts.
TEST(HostCompile, LeavesOutCodeThatOnlyNvccCompiles) {
  for (const char* const code : {
           "#include <cublasLt.h>\nusing matmul = cublasLtMatmulDesc_t;\nstruct Plan { matmul m; int n; };\nPlan plan;",
           "#include <cuda_runtime.h>\nusing launch_config = cudaLaunchConfig_t2;\ntypedef cudaGraphExec_t2 graph;",
           "static struct { int code; const char* name; } errors[] = {{cudaErrorUnknown2, \"a\"}};\n"
           "struct Timer { cudaEvent_t2 a; Timer() { cudaEventCreate2(&a); } };\nTimer timer;",
           "namespace d { template <class T> auto make(T t) -> T* { return nullptr; } }\n"
           "template <class T> struct Holder { using P = decltype(d::make<T>(T{})); P p; };\n"
           "inline void wait() { cudaDeviceSynchronize2(); }\nHolder<float> holder;",
           "template <class T> T deep(T t) { return t.x; }\ntemplate <class T> T mid(T t) { return deep(t); }\n"
           "int go() { return mid(3); }",
           "void elsewhere();\nint main() { elsewhere(); }",
       })
    (void)image(
        backend().compiler().compile(request(code + std::string("\n__global__ void k(int* x) { *x = 1; }\n"), {"k"})));
  (void)image(backend().compiler().compile(
      request("namespace d { template <class T> auto make(T t) -> T* { return nullptr; } }\n"
              "template <class T> struct Holder { using P = decltype(d::make<T>(T{})); P p; };\n"
              "inline void wait() { cudaDeviceSynchronize2(); }\n"
              "__global__ void k(float* x) { Holder<float> h{x}; h.p[0] = 1; }",
              {"k"})));
}

TEST(HostCompile, NamesAllMissingHeadersAtOnce) {
  EXPECT_THAT(
      refusal("#include \"a.h\"\n#include <b/c.h>\n#include \"d.h\"\n__global__ void k(int* x) { *x = 1; }\n", "k"),
      AllOf(HasSubstr("test.cu:1:"), HasSubstr(", and also missing: \"b/c.h\", \"d.h\": name")));
}

TEST(HostCompile, TakesKernelsAsCxx20IfAnOptionSaysSo) {
  CompileRequest wanted =
      request("consteval int one() { return 1; }\n__global__ void k(int* out) { *out = one(); }", {"k"});
  EXPECT_THAT(why_not(backend().compiler().compile(wanted)), HasSubstr("consteval"));  // not a word of C++17
  wanted.options = {{"--std=c++20", {}}};
  EXPECT_EQ(why_not(backend().compiler().compile(wanted)), "");
}

TEST(HostCompile, TakesDeviceDebugAsNotOptimisedAndLeavesOutTheOtherOptions) {
  const LoggedCompiler compile;
  CompileRequest wanted = small_request();
  const auto compiles = [&](std::vector<CompileOption> given) {
    wanted.options = std::move(given);
    EXPECT_EQ(why_not(compile(wanted)), "");
    return compile.log();
  };
  EXPECT_THAT(compiles({}), ElementsAre(Not(HasSubstr("-O0"))));
  EXPECT_EQ(compiles({{"-use_fast_math", {}}, {"--maxrregcount=32", {}}}).size(), 1u) << "the object of before";
  EXPECT_THAT(compiles({{"--device-debug", {}}}), ElementsAre(::testing::_, HasSubstr("-O0")));
  EXPECT_EQ(compiles({{"-G", {}}}).size(), 2u);
}

TEST(HostCache, CompilesAgainWhenAHeaderHasChanged) {
  const TemporaryFolder folder;
  HostOptions options;
  options.cache_directory = folder / "cache";
  const auto compiler = make_host_compiler(options);
  CompileRequest wanted = request("#  include \"h.h\"\n__global__ void k(int* out) { *out = kValue; }", {"k"});
  wanted.file_name = (folder.path() / "k.cu").string();
  for (const int value : {1, 2, 1}) {
    folder.write("h.h", "constexpr int kValue = " + std::to_string(value) + ";\n");
    const auto module = load(compiler->compile(wanted));
    int out = 0;
    EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
    EXPECT_EQ(out, value);
  }
  EXPECT_EQ(cache::kept_images(folder / "cache").images, 2 + 2) << "two programs, and two guards of shared memory";
}

TEST(HostCache, KeepsTheHooksOfInterleavedObjects) {
  const LoggedCompiler compile;
  for (const std::string name : {"a", "b"}) {
    CompileRequest wanted = request("__global__ void " + name + "(int* out) { *out = 1; }", {name});
    wanted.interleaved = true;
    EXPECT_EQ(why_not(compile(wanted)), "");
  }
  EXPECT_THAT(compile.log(), ElementsAre(HasSubstr("hooks.cpp"), HasSubstr("unit.cpp"), HasSubstr("hooks.o"),
                                         HasSubstr("unit.cpp"), HasSubstr("hooks.o")));
}

TEST(HostCache, CostsNothingButTimeWhenItCannotBeUsed) {
  const TemporaryFolder folder;
  std::string said;
  HostOptions options;
  options.warn = [&said](const std::string& message) { said += message; };
  options.cache_directory = folder.write("file", "not a folder");
  EXPECT_EQ(why_not(make_host_compiler(options)->compile(small_request())), "");
  options.cache_directory = folder.path();
  std::filesystem::create_directories(folder / "images/host");
  std::filesystem::permissions(folder / "images/host", std::filesystem::perms::all);
  said.clear();
  EXPECT_EQ(why_not(make_host_compiler(options)->compile(small_request())), "");
  EXPECT_THAT(said, HasSubstr("images/host"));
}

TEST(HostModule, RefusesWhatIsNoSharedObject) {
  Image image;
  image.code.assign(100, std::byte{7});
  const auto loaded = backend().load(image);
  ASSERT_TRUE(std::holds_alternative<LaunchError>(loaded));
  EXPECT_THAT(std::get<LaunchError>(loaded).message, HasSubstr("cannot load the kernel"));
}

TEST(HostModule, KeepsModulesOfTheSameNamesApart) {
  const auto source = [](int value) {
    return "template <int n> __global__ void k(int* out) { __shared__ int s[n]; s[0] = " + std::to_string(value) +
           "; __syncthreads(); *out = s[0]; }";
  };
  int out = 0;
  for (int round = 0; round < 3; ++round) {
    const auto one = load(source(1), {"k<8>"}), two = load(source(2), {"k<8>"});
    EXPECT_EQ(text(launch(*one, 0, shape(1, 4), 5, backend(), &out)), "done");
    EXPECT_EQ(out, 1);
    EXPECT_EQ(text(launch(*two, 0, shape(1, 4), 5, backend(), &out)), "done");
    EXPECT_EQ(out, 2);
  }
}

TEST(HostUnit, RewritesOnlyWhatNoHeaderCanDefine) {
  for (const char* stays : {"extern int x; external __shared__; extern \"C\" { int y; }",
                            "volatile __shared__ int x; __shared__ volatile int y[2]; static int __shared__x; extern"})
    EXPECT_EQ(host::own_text(stays), stays);
  EXPECT_EQ(host::own_text("void f() { extern __shared__ float s[]; }"),
            "void f() { static thread_local float (&s)[] = ::__tuner_dynamic_shared(); }");
  EXPECT_EQ(host::own_text("extern __shared__ float s[];"),
            "extern __tuner_dynamic float (&s)[] __tuner_dynamic_name;");
  for (const char* array : {"__shared__ extern float s[];", "extern volatile __shared__ __align__(16) float s[];",
                            "volatile extern __shared__ float s[];", "extern __shared__ volatile float s[];",
                            "extern float __shared__ s[];", "extern __shared__ float alignas(16) s[];"})
    EXPECT_THAT(host::own_text(array), AllOf(HasSubstr("(&s)[]"), Not(HasSubstr("__shared__")))) << array;
  EXPECT_EQ(host::own_text("static __shared__ float s[32]; __device__ __noinline__ int f();"),
            " __shared__ float s[32]; __device__ __tuner_noinline__ int f();");
}

TEST(HostUnit, HasTheBoundsOfAKernelOnlyWhereTheyAreSureToHold) {
  EXPECT_THAT(host::own_text("__global__ void __launch_bounds__(8 * 2) k(int n) { }"),
              HasSubstr("k(int n) { ::__tuner_require_bounds(8 * 2);"));
  EXPECT_EQ(
      host::own_text("__global__ void\n__launch_bounds__(\n    8,\n    2)\nk(int n) {\n}"),
      "__global__ void\n__launch_bounds__(\n    8,\n    2)\nk(int n) { ::__tuner_require_bounds(     8,     2);\n}")
      << "lines keep their numbers";
  for (const char* none : {"// __launch_bounds__(32) saves registers\n__global__ void k(int n) { }",
                           "const char* s = \"__launch_bounds__(32)\"; __global__ void k(int n) { }",
                           "#define BOUNDS __launch_bounds__(32)\n__global__ void BOUNDS k(int n) { }",
                           "__global__ void\n#if X\n__launch_bounds__(32)\n#endif\nk(int n) { }",
                           "__global__ void __launch_bounds__(32) k(int n); void f(int n) { }"})
    EXPECT_THAT(host::own_text(none), Not(HasSubstr("require_bounds"))) << none;
  EXPECT_THAT(host::own_text("#pragma once\n__global__ void f() {\n#if X\n#endif\n}\n"
                             "__global__ void __launch_bounds__(32) k(int n) { }"),
              HasSubstr("k(int n) { ::__tuner_require_bounds(32);"));
}

}  // namespace
}  // namespace tuner::host_test
