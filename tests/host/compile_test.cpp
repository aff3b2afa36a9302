// The compiler: batches, diagnostics, the object cache, and what is missing.

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tuner/backend/host/object_cache.hpp>
#include <tuner/backend/host/private_directory.hpp>
#include <tuner/backend/host/sanitizer.hpp>
#include <tuner/backend/host/translation_unit.hpp>

#include "host_fixture.hpp"

namespace tuner::host_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Line : std::string {
  friend std::istream& operator>>(std::istream& in, Line& line) { return std::getline(in, line); }
};

CompileError error_of(const CompileResult& result) {
  const auto* error = std::get_if<CompileError>(&result);
  return error != nullptr ? *error : CompileError{"compiled", ""};
}

std::string script(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path) << "#!/bin/sh\n" << text;
  chmod(path.c_str(), 0700);
  return path.string();
}

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

TEST(HostCompile, TellsTheKernelFilesOwnLine) {
  const CompileError error =
      error_of(backend().compiler().compile(request("\n\n__global__ void k() {\n  int x = undeclared;\n}\n", {"k"})));
  EXPECT_THAT(error.message, AllOf(StartsWith("test.cu:4:"), HasSubstr("error"), HasSubstr("undeclared")));
  EXPECT_THAT(error.log, HasSubstr("test.cu"));
}

TEST(HostCompile, TellsTheLineThatAParametersMacroBreaks) {
  CompileRequest broken = request("\n__global__ void k() {\n  int bx = 0;\n}\n", {"k"});
  broken.macros = {"bx=64"};
  EXPECT_THAT(error_of(backend().compiler().compile(broken)).message, StartsWith("test.cu:3:"));
}

TEST(HostCompile, KeepsLineNumbersBelowADynamicArrayThatSpansLines) {
  const CompileError error = error_of(backend().compiler().compile(
      request("extern __shared__\n  int tile[\n];\n__global__ void k() { bad; }\n", {"k"})));
  EXPECT_THAT(error.message, StartsWith("test.cu:4:"));
}

TEST(HostCompile, NamesTheExpressionThatDoesNotExist) {
  const CompileError error =
      error_of(backend().compiler().compile(request("__global__ void k() {}\n", {"missing<3>"})));
  EXPECT_THAT(error.message, AllOf(HasSubstr("instantiation of missing<3>"), HasSubstr("missing")));
}

TEST(HostCompile, SaysWhereABraceIsLeftOpen) {
  const CompileError error = error_of(backend().compiler().compile(
      request("__global__ void k(int* x) {\n  if (x != nullptr) { *x = '}';  // }\n}\n", {"k"})));
  EXPECT_EQ(error.message, "test.cu: a '{' is not closed: the text ends inside of it");
}

TEST(HostCompile, GivesTheMessageOfAFailedStaticAssertion) {
  const CompileError error = error_of(backend().compiler().compile(
      request("template <int n> __global__ void k() { static_assert(n > 4, \"n must be above 4\"); }\n", {"k<3>"})));
  EXPECT_THAT(error.message, HasSubstr("n must be above 4"));
}

TEST(HostCompile, SaysWhatWasTriedWhenThereIsNoCompiler) {
  HostOptions options;
  options.compiler = "no-such-compiler";
  options.cache_objects = false;
  const auto compiler = make_host_compiler(options);
  const CompileError error = error_of(compiler->compile(request("__global__ void k() {}", {"k"})));
  EXPECT_THAT(error.message, AllOf(HasSubstr("no C++ compiler found (tried no-such-compiler)"), HasSubstr("CXX")));
}

/// What is said when the environment's CXX is \p cxx, and whether a kernel compiles all the same.
std::string said_of_cxx(const std::string& cxx) {
  const char* before = std::getenv("CXX");
  const std::string saved = before != nullptr ? before : "";
  setenv("CXX", cxx.c_str(), 1);
  std::string said;
  HostOptions options;
  options.cache_objects = false;
  options.warn = [&said](const std::string& message) { said += message; };
  const CompileResult result = make_host_compiler(options)->compile(request("__global__ void k() {}", {"k"}));
  before != nullptr ? setenv("CXX", saved.c_str(), 1) : unsetenv("CXX");
  EXPECT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).message;
  return said;
}

TEST(HostCompile, SaysWhyCxxIsNotUsedAndWhatIs) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  EXPECT_THAT(said_of_cxx("/no/such/c++"), AllOf(HasSubstr("CXX=/no/such/c++ is not used, because there is no program"),
                                                 HasSubstr("compiled with")));
  EXPECT_THAT(said_of_cxx("true"), HasSubstr("it does not say that it is g++ or clang++"));
  EXPECT_THAT(said_of_cxx("false"), HasSubstr("it fails when asked"));
}

TEST(HostCompile, TakesACxxWithArguments) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "kernels need the compiler that this program was built with";
  EXPECT_EQ(said_of_cxx(" env  c++ -O1 "), "");
}

TEST(HostCompile, KillsACompilerThatDoesNotEnd) {
  const TemporaryFolder folder;
  HostOptions options;
  options.compiler = script(folder, "slow", "[ \"$1\" = --version ] && { echo slow 1.0; exit; }\nsleep 600 & wait\n");
  options.cache_objects = false;
  options.compile_timeout_s = 0.2;
  const auto compiler = make_host_compiler(options);
  EXPECT_THAT(error_of(compiler->compile(request("__global__ void k() {}", {"k"}))).message,
              HasSubstr("did not end within 0.2 s"));
}

TEST(HostCompile, PassesOnHowACompilerDied) {
  const TemporaryFolder folder;
  HostOptions options;
  options.compiler = script(folder, "dies", "[ \"$1\" = --version ] && { echo dies 1.0; exit; }\nkill -9 $$\n");
  options.cache_objects = false;
  EXPECT_THAT(error_of(make_host_compiler(options)->compile(request("__global__ void k() {}", {"k"}))).message,
              HasSubstr("exit code 137"));
}

/// Makes \p folder the one for temporary files.
class InTemporaryFolder {
 public:
  explicit InTemporaryFolder(const TemporaryFolder& folder) {
    if (const char* before = std::getenv("TMPDIR")) saved_ = before;
    setenv("TMPDIR", folder.path().c_str(), 1);
  }
  ~InTemporaryFolder() { saved_ ? setenv("TMPDIR", saved_->c_str(), 1) : unsetenv("TMPDIR"); }
  InTemporaryFolder(const InTemporaryFolder&) = delete;
  InTemporaryFolder& operator=(const InTemporaryFolder&) = delete;

 private:
  std::optional<std::string> saved_;
};

std::unique_ptr<Compiler> compiler_without_cache() {
  HostOptions options;
  options.cache_objects = false;
  return make_host_compiler(options);
}

TEST(HostCompile, TellsAFaultOfTheMachineFromOneOfTheSource) {
  const TemporaryFolder folder;
  const auto error = [&folder](const std::string& name, const std::string& end) {
    HostOptions options;
    options.compiler = script(folder, name, "[ \"$1\" = --version ] && { echo cxx 1.0; exit; }\n" + end);
    options.cache_objects = false;
    return error_of(make_host_compiler(options)->compile(request("__global__ void k() {}", {"k"})));
  };
  EXPECT_TRUE(error("killed", "kill -9 $$\n").machine_fault);
  EXPECT_TRUE(error("starved", "echo 'fatal error: Killed signal terminated program cc1plus'; exit 1\n").machine_fault);
  EXPECT_TRUE(error("full", "echo 'error: cannot write: No space left on device'; exit 1\n").machine_fault);
  EXPECT_FALSE(error("source", "echo 'unit.cpp:1:1: error: expected a type'; exit 1\n").machine_fault);
}

TEST(HostBackend, ThrowsWhereTheStacksOfItsThreadsHaveNoRoom) {
  HostOptions options;
  options.stack_bytes = std::size_t{1} << 44;
  EXPECT_THROW(make_host_backend(options), Error);
}

TEST(HostCompile, LeavesNothingBehindInTheTemporaryFolder) {
  const TemporaryFolder folder;
  {
    const InTemporaryFolder here(folder);
    EXPECT_EQ(error_of(compiler_without_cache()->compile(request("__global__ void k() {}", {"k"}))).message,
              "compiled");
  }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(HostCompile, ServesSeveralThreadsWithOneCompiler) {
  const TemporaryFolder folder;
  const InTemporaryFolder here(folder);
  const auto compiler = compiler_without_cache();
  std::vector<std::thread> threads;
  std::vector<std::string> messages(4);
  for (std::size_t t = 0; t < messages.size(); ++t) {
    threads.emplace_back([&, t] {
      CompileRequest interleaved = request("__global__ void k(int* a) { *a += " + std::to_string(t) + "; }", {"k"});
      interleaved.interleaved = true;  // all of them need the hooks
      messages[t] = error_of(compiler->compile(interleaved)).message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(messages, ::testing::Each("compiled"));
}

TEST(HostCompile, WritesTheShimOnceAndAgainOnlyIfSomethingRemovesIt) {
  const TemporaryFolder folder;
  const InTemporaryFolder here(folder);
  const auto compiler = compiler_without_cache();
  std::set<std::filesystem::path> folders;
  const auto compiles = [&](const std::string& name) {
    const CompileResult result = compiler->compile(request("__global__ void " + name + "() {}", {name}));
    EXPECT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).log;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) folders.insert(entry.path());
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
  for (const char* name : {"T",          "K",          "N",       "P",        "I",
                           "A",          "B",          "R",       "V",        "a",
                           "b",          "n_",         "block",   "thread",   "index",
                           "context",    "api",        "run",     "info",     "value",
                           "bits",       "mask",       "lane",    "file",     "line",
                           "dim",        "grid",       "shared",  "order",    "next",
                           "live",       "stop",       "fail",    "kernel",   "arguments",
                           "sizes",      "type",       "types",   "Value",    "Index",
                           "Block",      "Kernel",     "Entry",   "EntryOf",  "tuner",
                           "tuner_host", "visibility", "aligned", "noreturn", "always_inline",
                           "linear",     "result",     "address", "width",    "delta",
                           "source",     "std"})
    wanted.defines.push_back(std::string(name) + "=@");
  std::erase(wanted.defines, "K=@");
  std::erase(wanted.defines, "s=@");
  const CompileResult result = backend().compiler().compile(wanted);
  ASSERT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).log;
  const auto module = std::move(std::get<0>(backend().load(std::get<Image>(result))));
  std::vector<int> out(4);
  EXPECT_EQ(text(launch(*module, 0, shape(1, 4, 16), 5, backend(), out.data())), "done");
  EXPECT_THAT(out, ::testing::ElementsAre(29, 21, 13, 5));
}

TEST(HostCompile, TakesAssertionsOutWhenAnOptionSaysSo) {
  CompileRequest wanted = request("__global__ void k() { assert(1 == 2); }", {"k"});
  wanted.defines = {"NDEBUG"};
  const CompileResult result = backend().compiler().compile(wanted);
  const auto module = std::move(std::get<0>(backend().load(std::get<Image>(result))));
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend())), "done");
}

TEST(HostCompile, ReadsWhatARequestCarriesAsItsFiles) {
  CompileRequest wanted = request(
      "#include \"near.h\"\n#include <named.h>\n__global__ void add(int* x) { *x = near_one() + kNamed; }\n", {"add"});
  wanted.file_name = "/nowhere/kernels/mine.cu";
  wanted.include_paths = {"/nowhere/include"};
  EXPECT_THAT(error_of(backend().compiler().compile(wanted)).message, HasSubstr("near.h"));
  wanted.carried = {
      {"/nowhere/kernels/near.h", "#include \"../common/far.h\"\n__device__ int near_one() { return far_one(); }\n"},
      {"/nowhere/kernels/../common/far.h", "__device__ int far_one() { return 1; }\n"},
      {"/nowhere/include/named.h", "constexpr int kNamed = 2;\n"}};
  EXPECT_EQ(error_of(backend().compiler().compile(wanted)).message, "compiled");
  wanted.carried.back().text = "constexpr int kNamed = missing;\n";
  EXPECT_THAT(error_of(backend().compiler().compile(wanted)).message, StartsWith("/nowhere/include/named.h:1:"));
}

TEST(HostCache, AnswersTheSecondCompileWithoutACompiler) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  HostOptions options;
  options.compiler = script(folder, "cxx", "[ \"$1\" = --version ] || echo x >> " + log + "\nexec c++ \"$@\"\n");
  options.cache_directory = folder.path() / "cache";
  const CompileRequest wanted = request("__global__ void k(int* out) { *out = 1; }", {"k"});
  const CompileResult first = make_host_compiler(options)->compile(wanted);
  const CompileResult second = make_host_compiler(options)->compile(wanted);
  ASSERT_TRUE(std::holds_alternative<Image>(first)) << error_of(first).log;
  ASSERT_TRUE(std::holds_alternative<Image>(second));
  EXPECT_EQ(std::get<Image>(first).code, std::get<Image>(second).code);
  EXPECT_EQ(std::filesystem::file_size(log), 2u);  // one line
  struct stat status {};
  ASSERT_EQ(stat((folder.path() / "cache" / "host-objects").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST(HostCompile, GivesTheKernelItsMacros) {
  CompileRequest wanted = request(
      "#ifndef block_size_x\n#define block_size_x 1\n#endif\n"
      "extern \"C\" __global__ void k(T* out) {\n#if padded\n  T parts[block_size_x];\n  *out = "
      "sizeof(parts);\n#endif\n}",
      {"k"});
  for (const int block : {4, 8}) {
    wanted.macros = {"T=int", "block_size_x=" + std::to_string(block), "padded=true"};
    CompileResult result = backend().compiler().compile(wanted);
    ASSERT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).log;
    const auto module = std::move(std::get<0>(backend().load(std::get<Image>(result))));
    int out = 0;
    EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
    EXPECT_EQ(out, 4 * block);
  }
}

TEST(HostCompile, TakesDeviceDebugAsNotOptimisedAndLeavesOutTheOtherOptions) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  HostOptions options;
  options.compiler = script(folder, "cxx", "[ \"$1\" = --version ] || echo \"$@\" >> " + log + "\nexec c++ \"$@\"\n");
  options.cache_directory = folder.path() / "cache";
  const auto compiler = make_host_compiler(options);
  CompileRequest wanted = request("__global__ void k(int* out) { *out = 1; }", {"k"});
  const auto compiles = [&](std::vector<CompileOption> given) {
    wanted.options = std::move(given);
    EXPECT_TRUE(std::holds_alternative<Image>(compiler->compile(wanted)));
    std::ifstream file(log);
    return std::vector<std::string>{std::istream_iterator<Line>(file), {}};
  };
  EXPECT_THAT(compiles({}), ElementsAre(Not(HasSubstr("-O0"))));
  EXPECT_EQ(compiles({{"-use_fast_math", {}}, {"--maxrregcount=32", {}}}).size(), 1u) << "the object of before";
  EXPECT_THAT(compiles({{"--device-debug", {}}}), ElementsAre(::testing::_, HasSubstr("-O0")));
  EXPECT_EQ(compiles({{"-G", {}}}).size(), 2u);
}

TEST(HostCache, CompilesAgainWhenAHeaderHasChanged) {
  const TemporaryFolder folder;
  HostOptions options;
  options.cache_directory = folder.path() / "cache";
  const auto compiler = make_host_compiler(options);
  CompileRequest wanted = request("#  include \"h.h\"\n__global__ void k(int* out) { *out = kValue; }", {"k"});
  wanted.file_name = (folder.path() / "k.cu").string();
  for (const int value : {1, 2, 1}) {
    std::ofstream(folder.path() / "h.h") << "constexpr int kValue = " << value << ";\n";
    const CompileResult result = compiler->compile(wanted);
    ASSERT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).log;
    const auto module = std::move(std::get<0>(backend().load(std::get<Image>(result))));
    int out = 0;
    EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), &out)), "done");
    EXPECT_EQ(out, value);
  }
  EXPECT_EQ(files_in(folder.path() / "cache" / "host-objects"), 2u);
}

TEST(HostCache, KeepsTheHooksOfInterleavedObjects) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  HostOptions options;
  options.compiler = script(folder, "cxx", "[ \"$1\" = --version ] || echo \"$@\" >> " + log + "\nexec c++ \"$@\"\n");
  options.cache_directory = folder.path() / "cache";
  for (const std::string name : {"a", "b"}) {
    CompileRequest wanted = request("__global__ void " + name + "(int* out) { *out = 1; }", {name});
    wanted.interleaved = true;
    const CompileResult result = make_host_compiler(options)->compile(wanted);
    ASSERT_TRUE(std::holds_alternative<Image>(result)) << error_of(result).log;
  }
  std::ifstream file(log);
  const std::vector<std::string> compiles{std::istream_iterator<Line>(file), {}};
  EXPECT_THAT(compiles, ElementsAre(HasSubstr("hooks.cpp"), HasSubstr("unit.cpp"), HasSubstr("hooks.o"),
                                    HasSubstr("unit.cpp"), HasSubstr("hooks.o")));
}

TEST(HostCache, CompilesAgainWhenAnObjectWasDamaged) {
  const TemporaryFolder folder;
  HostOptions options;
  options.cache_directory = folder.path();
  const CompileRequest wanted = request("__global__ void k(int* out) { *out = 2; }", {"k"});
  const CompileResult first = make_host_compiler(options)->compile(wanted);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "host-objects")) {
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  const CompileResult second = make_host_compiler(options)->compile(wanted);
  ASSERT_TRUE(std::holds_alternative<Image>(second));
  EXPECT_EQ(std::get<Image>(first).code.size(), std::get<Image>(second).code.size());
}

TEST(HostCache, CostsNothingButTimeWhenItCannotBeWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  HostOptions options;
  options.cache_directory = folder.path() / "file";
  const auto compiler = make_host_compiler(options);
  EXPECT_TRUE(std::holds_alternative<Image>(compiler->compile(request("__global__ void k() {}", {"k"}))));
}

TEST(HostCache, TrustsNoFolderThatOthersMayWriteTo) {
  const TemporaryFolder folder;
  const host::ObjectCache cache(folder.path() / "objects", 1 << 20);
  ASSERT_TRUE(cache.store("aa", {std::byte{1}}));
  EXPECT_TRUE(cache.find("aa").has_value());
  chmod((folder.path() / "objects").c_str(), 0777);
  EXPECT_FALSE(cache.find("aa").has_value());
  EXPECT_FALSE(cache.store("bb", {std::byte{1}}));
}

TEST(HostCache, SaysWhyItKeepsNothing) {
  const TemporaryFolder folder;
  std::string said;
  const auto warn = [&said](const std::string& message) { said = message; };
  const host::ObjectCache missing(folder.path() / "objects", 1 << 20, warn);
  EXPECT_EQ(said, "");
  std::filesystem::create_directory(folder.path() / "objects");
  chmod((folder.path() / "objects").c_str(), 0777);
  const host::ObjectCache open(folder.path() / "objects", 1 << 20, warn);
  EXPECT_THAT(said, AllOf(HasSubstr("compiled objects are not kept"), HasSubstr("may be written to by others")));
  std::filesystem::create_directory_symlink(folder.path() / "objects", folder.path() / "link");
  const host::ObjectCache link(folder.path() / "link", 1 << 20, warn);
  EXPECT_THAT(said, HasSubstr("is no folder"));
}

TEST(HostCache, TakesNoObjectThatIsALinkAFolderAPipeOrOthersToWrite) {
  const TemporaryFolder folder;
  const host::ObjectCache cache(folder.path() / "objects", 1 << 20);
  ASSERT_TRUE(cache.store("aa", {std::byte{1}}));
  const auto object = [&folder](const std::string& key) { return folder.path() / "objects" / (key + ".so"); };
  std::filesystem::create_symlink("aa.so", object("bb"));
  std::filesystem::create_directory(object("cc"));
  ASSERT_EQ(mkfifo(object("dd").c_str(), 0600), 0);
  EXPECT_TRUE(cache.find("aa").has_value());
  for (const char* key : {"bb", "cc", "dd"}) EXPECT_FALSE(cache.find(key).has_value()) << key;
  EXPECT_FALSE(cache.store("cc", {std::byte{1}}));
  EXPECT_TRUE(cache.store("bb", {std::byte{2}}));
  EXPECT_EQ(cache.find("aa")->at(0), std::byte{1}) << "a link is replaced, not followed";
  chmod(object("aa").c_str(), 0666);
  EXPECT_FALSE(cache.find("aa").has_value());
  EXPECT_EQ(files_in(folder.path() / "objects"), 4u) << "nothing half written stays behind";
}

TEST(HostCache, DropsTheObjectsThatWereUsedLongestAgo) {
  const TemporaryFolder folder;
  const host::ObjectCache cache(folder.path() / "objects", 3500);
  const std::vector<std::byte> object(1000);
  const auto age = [&](const char* key, int hours) {
    std::filesystem::last_write_time(folder.path() / "objects" / (std::string(key) + ".so"),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* key : {"aa", "bb", "cc"}) ASSERT_TRUE(cache.store(key, object));
  age("aa", 3);
  age("bb", 2);
  age("cc", 1);
  EXPECT_TRUE(cache.find("aa").has_value());  // used again
  ASSERT_TRUE(cache.store("dd", object));
  EXPECT_TRUE(cache.find("aa").has_value());
  EXPECT_FALSE(cache.find("bb").has_value());
  EXPECT_TRUE(cache.find("cc").has_value());
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
  for (const char* stays : {"extern int x; external __shared__; extern __shared__ int fixed[4];",
                            "volatile __shared__ int x; __shared__ volatile int y[2]; static int __shared__x; extern"})
    EXPECT_EQ(host::own_text(stays), stays);
  EXPECT_THAT(host::own_text("extern __shared__ float s[];"),
              AllOf(HasSubstr("* const s = ::__tuner_dynamic_shared< float >()"), Not(HasSubstr("extern"))));
  for (const char* array : {"__shared__ extern float s[];", "extern volatile __shared__ __align__(16) float s[];",
                            "volatile extern __shared__ float s[];", "extern __shared__ volatile float s[];"})
    EXPECT_THAT(host::own_text(array), AllOf(HasSubstr("* const s"), Not(HasSubstr("extern")))) << array;
  EXPECT_EQ(host::own_text("static __shared__ float s[32]; __device__ __noinline__ int f();"),
            " __shared__ float s[32]; __device__ __tuner_noinline__ int f();");
}

}  // namespace
}  // namespace tuner::host_test
