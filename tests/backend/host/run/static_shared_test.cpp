// Accesses outside of static shared arrays: found, and harmless for the process.

#include <tuner/backend/host/run/sanitizer.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

/// The outcome of writing `part[at]` of an array of 64 numbers.
std::string outcome(const std::string& declaration, long at, bool interleaved = false) {
  CompileRequest kernel =
      request(declaration +
                  " void k(float* out, long at) {\n"
                  "  __shared__ float part[64];\n  part[at] = 1;\n  __syncthreads();\n  out[0] = part[at & 63];\n}\n",
              {declaration.starts_with("template") ? "k<int>" : "k"});
  kernel.interleaved = interleaved;
  const std::unique_ptr<Module> module = load(backend().compiler().compile(kernel));
  float out = 0;
  return text(launch(*module, 0, shape(1, 1), 20, backend(), &out, at));
}

class StaticSharedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (host::sanitizer::kActive) GTEST_SKIP() << "the sanitizer reports such accesses itself";
  }
};

TEST_F(StaticSharedMemory, IsGuardedOnBothSides) {
  const std::string beyond = "launch: k: writes beyond the end of its __shared__ arrays";
  const std::string before = "launch: k: writes before the beginning of its __shared__ arrays";
  for (const bool interleaved : {false, true}) {
    EXPECT_EQ(outcome("__global__", 63, interleaved), "done");
    for (const long at : {64, 100}) EXPECT_EQ(outcome("__global__", at, interleaved), beyond + " in block (0, 0, 0)");
    EXPECT_EQ(outcome("__global__", 1000, interleaved), beyond) << "far from it, found after the launch";
    EXPECT_EQ(outcome("__global__", -1, interleaved), before + " in block (0, 0, 0)");
    EXPECT_EQ(outcome("__global__", -100, interleaved), before);
  }
}

TEST_F(StaticSharedMemory, OfTemplatesIsGuardedToo) {
  EXPECT_EQ(outcome("template <typename T> __global__", 63), "done");
  EXPECT_THAT(outcome("template <typename T> __global__", 200), HasSubstr("writes beyond the end of its __shared__"));
}

TEST(HostDynamicShared, HoldsNothingOfTheLastBlockWhileOrdersAreChecked) {
  const auto module = load(
      "__global__ void k(int* out) { extern __shared__ int s[]; *out += s[threadIdx.x] == -1; s[threadIdx.x] = 5; }",
      {"k"}, backend<1>());
  for (const ThreadOrder::Kind kind : {ThreadOrder::Kind::reverse, ThreadOrder::Kind::interleaved}) {
    backend<1>().set_order({kind, 0});
    int out = 0;
    EXPECT_EQ(text(launch(*module, 0, shape(7, 4, 16), 20, backend<1>(), &out)), "done");
    EXPECT_EQ(out, 28);
  }
  backend<1>().set_order({});
}

TEST(HostStaticShared, HoldsNothingBeforeEachBlockWhileOrdersAreChecked) {
  const std::string body =
      " void k(int* out) {\n"
      "  __shared__ int s[4], one;\n  __shared__ double d;\n  extern __shared__ int dynamic[];\n"
      "  out[0] += s[threadIdx.x] == -1 && one == -1 && isnan(d) && dynamic[threadIdx.x] == -1;\n  __syncthreads();\n"
      "  s[threadIdx.x] = one = dynamic[threadIdx.x] = 5;\n  d = 5;\n}\n";
  for (const bool interleaved : {false, true}) {
    for (const std::string declaration :
         {"__global__", "extern \"C\" __global__", "template <typename T> __global__"}) {
      CompileRequest kernel = request(declaration + body, {declaration.starts_with("template") ? "k<int>" : "k"});
      kernel.interleaved = interleaved;
      const auto module = load(backend<1>().compiler().compile(kernel), backend<1>());
      backend<1>().set_order({ThreadOrder::Kind::reverse});
      int out = 0;
      EXPECT_EQ(text(launch(*module, 0, shape(7, 4, 16), 20, backend<1>(), &out)), "done");
      EXPECT_EQ(out, 28) << declaration;
    }
  }
  backend<1>().set_order({});
}

TEST(HostStaticShared, OfABlockThatIsTimedHoldsNothingOfTheLastBlock) {
  const auto module = load(
      "__global__ void k(int* out) {\n  __shared__ int s;\n  extern __shared__ int dynamic[];\n"
      "  *out += s == -1 && *dynamic == -1;\n  s = *dynamic = 5;\n}\n",
      {"k"}, backend<1>());
  int out = 0;
  const Launch one{module.get(), 0, shape(7, 1, 16), {Argument::of(&out)}};
  SampleRequest request;
  request.samples = 3;
  EXPECT_TRUE(std::holds_alternative<std::vector<Sample>>(backend<1>().sample({&one, 1}, request)));
  EXPECT_EQ(out, 7 * 3);
}

TEST(HostStaticShared, HoldsNothingEvenOutsideOfFunctionsOrWithAConstructor) {
  const auto module = load(
      "struct Pair { int a, b, c; __device__ Pair() {} };\n__shared__ int outside[3];\n"
      "namespace n { __shared__ int inside; }\nextern __shared__ int dynamic[];\n"
      "__global__ void k(int* out) {\n  __shared__ Pair pairs[2];\n  extern __shared__ int more[];\n"
      "  const int t = threadIdx.x;\n"
      "  out[0] += outside[t] == -1 && n::inside == -1 && pairs[t].b == -1 && dynamic[t] == -1 && more[t] == -1;\n"
      "  __syncthreads();\n  outside[t] = n::inside = pairs[t].b = dynamic[t] = 5;\n}\n",
      {"k"}, backend<1>());
  backend<1>().set_order({ThreadOrder::Kind::reverse});
  int out = 0;
  EXPECT_EQ(text(launch(*module, 0, shape(7, 2, 16), 20, backend<1>(), &out)), "done");
  EXPECT_EQ(out, 14);
  backend<1>().set_order({});
}

}  // namespace
}  // namespace tuner::host_test
