// `tune init` writes a first kernel file, and `tune check` tells after each edit what is wrong.

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

class FirstFile : public ProgramTest {
 protected:
  /// The kernel file for \p kernel of \p source, or for its only one. It must pass a check.
  std::string checked(const std::string& source, const std::string& kernel = "") {
    file("mine.cu", source);
    return checked_again(kernel);
  }
  /// The same for another kernel of the source.
  std::string checked_again(const std::string& kernel) {
    const Finished made = call("init mine.cu " + kernel + " -o mine.tuner.cu --force");
    EXPECT_EQ(made.code, 0) << made.err;
    const Finished check = call("check ./mine.tuner.cu");
    EXPECT_EQ(check.code, 0) << check.out << check.err << contents(folder() / "mine.tuner.cu");
    return contents(folder() / "mine.tuner.cu");
  }
};

TEST_F(FirstFile, OfAPlainKernelPassesItsCheckAtOnce) {
  const std::string text = checked(R"(
__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)");
  EXPECT_THAT(text, Holds("kernel      saxpy\n", "size        n : int = 16777216\n", "scalar      a : float = 1\n",
                          "in          x[n] : float\n", "inout       y[n] : float\n",
                          "grid        max(1, ceil_div(n, block))\n", "arguments   n, a, x, y\n",
                          "source      \"mine.cu\"\n", "// ? "));
}

TEST_F(FirstFile, OfATemplateNamesItsTypesAndParameters) {
  const std::string text = checked(R"(
template <typename T, int threads, bool twice>
__global__ void scale(T* data, size_t n) {
  const size_t i = size_t(blockIdx.x) * threads + threadIdx.x;
  if (i < n) data[i] *= twice ? T(2) : T(1);
}
)");
  EXPECT_THAT(text, Holds("type        T = float\n", "parameter   threads = 32", "parameter   twice = false true\n",
                          "size        n : uint64", "block       threads\n", "instantiate scale<T, threads, twice>\n"));
}

TEST_F(FirstFile, DeclaresTheBuffersThatAStructLeadsTo) {
  EXPECT_THAT(
      checked(R"(
struct Fields { float *vx, *to; const float* p; int n; float dt; };
__global__ void step(Fields f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < f.n) f.to[i] = f.vx[i] + f.dt * f.p[i];
}
)"),
      Holds("size        n : int = 16777216\n", "in          vx[n] : float\n", "out         to[n] : float\n",
            "in          p[n] : float\n",
            "scalar      f : { float* vx; float* to; const float* p; int n; float dt; } = { vx, to, p, n, 1 }\n",
            "arguments   f\n"));
  EXPECT_THAT(
      checked(R"(
struct Pair { double* a[2]; int n; unsigned char const* mask; };
__global__ void add(Pair p, Pair q, const float* by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.a[0][i] += q.a[1][i] * by[i];
}
)"),
      Holds("inout       p_a_0[n] : double\n", "inout       q_a_1[n] : double\n", "in          q_mask[n] : uint8\n",
            "scalar      p : { double* a[2]; int n; const unsigned char* mask; } = { p_a_0, p_a_1, n, p_mask }\n",
            "scalar      q : { double* a[2]; int n; const unsigned char* mask; } = { q_a_0, q_a_1, n, q_mask }\n"));
}

TEST_F(FirstFile, ReadsTheFilesOfItsProject) {
  std::filesystem::create_directories(folder() / "project/include/theirs");
  std::filesystem::create_directories(folder() / "project/src/kernels");
  file("project/include/theirs/types.h",
       "#pragma once\n#include \"../config.h\"\n#define BLOCK_SIZE 96\ntypedef unsigned char BYTE;\n"
       "struct Point { float x; int id; };\nstruct Shape { int rows, cols; };\n");
  file("project/src/kernels/mine.cu", R"(
#  include "theirs/types.h"
#  include "absent.h"
__global__ void paint(BYTE* to, const Point* from, cudaTextureObject_t image, Shape shape, int n) {
  const int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  if (i < n) to[i] = from[i].id + shape.rows;
}
)");
  EXPECT_EQ(call("init project/src/kernels/mine.cu -o mine.tuner.cu").code, 0);
  EXPECT_THAT(contents(folder() / "mine.tuner.cu"),
              Holds("parameter   BLOCK_SIZE = 32 64 128 256 512 1024 96\n", "out         to[n] : uint8\n",
                    "in          from[n]\n", "texture     image = image_data[n]\n",
                    "scalar      shape : { int rows; int cols; } = { 1, 1 }\n", "default     BLOCK_SIZE=96\n",
                    "include_path \"project/include\"\n", "source      \"project/src/kernels/mine.cu\"\n"));
  file("project/include/config.h", "");
  file("project/src/kernels/absent.h", "");
  const Finished check = call("check ./mine.tuner.cu --size n=1000");
  EXPECT_EQ(check.code, 0) << check.out;
}

TEST_F(FirstFile, AsksForTheBufferOfATensorMap) {
  file("tiles.cu", R"(
__global__ void tiles(const __grid_constant__ CUtensorMap from, float* y, int m, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * k) y[i] = 1;
}
)");
  EXPECT_EQ(call("init tiles.cu -o mine.cu").code, 0);
  EXPECT_THAT(contents(folder() / "mine.cu"),
              Holds("in          from_data[m * k] : float\n", "tensormap   from = from_data[m, k] box 64, 64\n"));
  EXPECT_THAT(call("check ./mine.cu").out, HasSubstr("skipped: the kernel is given a tensor map, which is for GPUs"));
}

TEST_F(FirstFile, SaysWhyAKernelHasNothingToCompare) {
  file("hello.cu", "__global__ void hello() {}\n");
  expect_failures(1, "'hello' takes no pointer, so it has no result", {"init hello.cu"});
}

TEST_F(FirstFile, OfAKernelWithInlinePtxIsCheckedWhereItRuns) {
  checked("__global__ void lane(int* a) { asm(\"mov.u32 %0, %%smid;\" : \"=r\"(a[threadIdx.x])); }\n");
  EXPECT_THAT(call("check ./mine.tuner.cu").out, HasSubstr("this is inline PTX, which only a GPU runs"));
}

TEST_F(FirstFile, AKernelThatEndsItsProcessDoesNotEndTheCheck) {
  file("wild.cu",
       "__global__ void wild(int* a, int n) { volatile int* nowhere = (int*)(16 + n); *nowhere = 1; a[0] = 1; }\n");
  EXPECT_EQ(call("init wild.cu -o wild.tuner.cu").code, 0);
  EXPECT_THAT(out_of("check ./wild.tuner.cu", 1), HasSubstr("host    failed: "));
}

TEST_F(FirstFile, AsksForAKernelThatTheSourceHas) {
  file("two.cu", "__global__ void first(int* a) { a[0] = 1; }\n__global__ void second(int* b) { b[0] = 1; }\n");
  expect_failures(2, "first, second", {"init two.cu"});
  expect_failures(2, "'secnd'; did you mean 'second'?", {"init two.cu secnd"});
  EXPECT_THAT(call("init two.cu second -o 'my 2.cu'").err, HasSubstr("; then: tune check 'my 2.cu'\n"));
  EXPECT_THAT(call("init two.cu second").out,
              AllOf(HasSubstr("kernel      second\n"), HasSubstr("source      \"two.cu\"")));
  file("none.cu", "int main() {}\n");
  expect_failures(1, "no __global__ function", {"init none.cu"});
}

TEST_F(FirstFile, NeverReplacesItsSourceOrWhatWasEdited) {
  file("one.cu", "__global__ void one(int* a) { a[0] = 1; }\n");
  file("edited.cu", "edited");
  expect_failures(2, "is the source itself", {"init one.cu -o one.cu --force"});
  expect_failures(1, "edited.cu exists and may have your changes; give another name, or --force",
                  {"init one.cu -o edited.cu"});
  EXPECT_EQ(contents(folder() / "edited.cu"), "edited");
}

TEST_F(FirstFile, TakesTheShapeOfALaunchInItsText) {
  const std::string text = checked(R"(
#define DIGEST_BLOCK_SIZE 32
#define SIDE 16
#define WIDE 32
#define ROWS 8
#define EACH 2
__global__ void hash(unsigned* to, unsigned n) {
  unsigned part[DIGEST_BLOCK_SIZE] = {};
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < n) to[thread] = part[thread % DIGEST_BLOCK_SIZE];
}
__global__ void rows(float* sums, int columns, int filters) {
  if (threadIdx.x == 0) sums[blockIdx.x * columns] += 1;
}
__global__ void square(float* to, int w, int h) {
  extern __shared__ float tile[];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  tile[threadIdx.y * SIDE + threadIdx.x] = x;
  if (x < w && y < h) to[y * w + x] = tile[threadIdx.y * SIDE + threadIdx.x];
}
__global__ void match(float* to, int n) {
  const int i = blockIdx.x * WIDE + threadIdx.x;
  if (threadIdx.y + 1 == ROWS / EACH && i < n) to[i] += 1;
}
template <typename T, int W> __global__ void scale(T* to, int n) {
  const int i = blockIdx.x * W + threadIdx.x;
  if (i < n) to[i] *= 2;
}
void run(unsigned* d, float* f, unsigned batch, int rows_, int n) {
  unsigned thread = 512;
  unsigned blocks = (batch + thread - 1) / thread;
  hash << < blocks, thread >> > (d, batch);
  rows<<<n, WIDE>>>(f, rows_, n);
  dim3 threads(SIDE, SIDE), grid((n + SIDE - 1) / SIDE, rows_);
  int bytes = SIDE * SIDE * sizeof(float);
  square<<<grid, threads, bytes, 0>>>(f, n, rows_);
  dim3 shape;
  shape = dim3(WIDE, ROWS / EACH);
  match<<<dim3(divUp(n, WIDE)), shape>>>(f, n);
  scale<float, 128><<<(n + 127) / 128, 128>>>(f, n);
}
)",
                                   "hash");
  EXPECT_THAT(text, Holds("parameter   block = 32 64 128 256 512 1024\n", "block       block\n",
                          "grid        max(1, (n + block - 1) / block)\n", "default     block=512\n"));
  EXPECT_THAT(call("init mine.cu rows").out,
              Holds("parameter   WIDE = 32 64", "block       WIDE\n", "grid        filters\n"));
  EXPECT_THAT(checked_again("square"), Holds("parameter   SIDE = 8 16 32\n", "block       SIDE, SIDE\n",
                                             "grid        max(1, (w + SIDE - 1) / SIDE), h\n",
                                             "shared      SIDE * SIDE * sizeof(float)\n", "default     SIDE=16\n"));
  EXPECT_THAT(checked_again("match"),
              Holds("parameter   WIDE = 32 64", "parameter   ROWS = 8\n", "parameter   EACH = 2\n",
                    "? Which other values may ROWS, EACH have?\n", "block       WIDE, ROWS / EACH\n",
                    "grid        max(1, ceil_div(n, WIDE))\n", "default     WIDE=32 ROWS=8 EACH=2\n"));
  EXPECT_THAT(call("init mine.cu scale").out, Holds("block       W\n", "grid        max(1, (n + (W - 1)) / W)\n",
                                                    "default     W=128\n", "instantiate scale<T, W>\n"));
}

TEST_F(FirstFile, OfAHeaderWithoutKernelsNamesTheFilesThatHaveThem) {
  std::filesystem::create_directories(folder() / "kernels");
  file("kernels/local.h", "__global__ void local(int* a) { a[0] = 1; }\n");
  file("kernels/types.h", "typedef int number;\n");
  file("all.h", "#include \"kernels/types.h\"\n#include \"kernels/local.h\"\n");
  expect_failures(1, "name that one: kernels/local.h\n", {"init all.h"});
}

class Check : public ProgramTest {};

TEST_F(Check, OfARightKernelSaysSoAndStoresNothing) {
  EXPECT_THAT(out_of("check scale.cu"), Holds("host    runs, and is right: "));
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
}

TEST_F(Check, GoesOnAfterAFailureAndGivesEachMessageItsPlace) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  std::string broken = contents(small_kernel());
  const std::size_t body = broken.find('{', broken.find("void scale("));
  ASSERT_NE(body, std::string::npos);
  broken.insert(body + 1, " unknown_name = 1;");
  file("broken.cu", broken);
  EXPECT_THAT(out_of("check ./broken.cu --arch sm_80,sm_90", 1),
              Holds("host    failed", "sm_80   failed", "sm_90   failed", "unknown_name", "broken.cu"));
}

TEST_F(Check, PrintsTheFirstLinesOfALongLog) {
  std::string broken = contents(small_kernel());
  const std::size_t body = broken.find('{', broken.find("void scale("));
  ASSERT_NE(body, std::string::npos);
  for (int i = 0; i < 40; ++i) broken.insert(body + 1, " unknown_" + std::to_string(i) + " = 1;\n");
  file("broken.cu", broken);
  const std::string out = call("check ./broken.cu").out;
  EXPECT_THAT(out, Holds("unknown_39", " more lines; --json prints all)"));
  EXPECT_THAT(out, Not(HasSubstr("unknown_0 ")));
}

TEST_F(Check, FindsAWrongResult) {
  std::string wrong = contents(small_kernel());
  const std::size_t at = wrong.find("if (", wrong.find("__global__"));
  ASSERT_NE(at, std::string::npos);
  wrong.insert(at, "if (block == 32 && threadIdx.x == 3) return;\n  ");
  file("wrong.cu", wrong);
  const Finished check = call("check ./wrong.cu --json --config block=32");
  EXPECT_EQ(check.code, 1);
  const auto document = nlohmann::json::parse(check.out);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["steps"][0]["where"], "host");
  EXPECT_THAT(document["steps"][0]["message"].get<std::string>(), HasSubstr("y[3] was not written"));
}

TEST_F(Check, FailsWithoutAReferenceAndSaysHowToGetOne) {
  std::string text = contents(small_kernel());
  text.erase(text.find("#pragma tuner reference"));
  text += contents(small_kernel()).substr(contents(small_kernel()).find("template"));
  EXPECT_THAT(out_of("check " + file("unsure.cu", text), 1),
              Holds("host    runs; nothing to compare with", "unsure.cu: kernel 'scale' has no reference",
                    "'#pragma tuner reference default'"));
}

TEST_F(Check, ListsTheQuestionsThatAreStillInTheFile) {
  file("mine.cu", "__global__ void one(int* a) { a[0] = 1; }\n");
  EXPECT_EQ(call("init mine.cu -o mine.tuner.cu").code, 0);
  EXPECT_THAT(call("check ./mine.tuner.cu").out,
              Holds("host    runs; nothing else checks its result yet, as the default configuration is the reference: ",
                    "3 questions are still open; remove the line of each that you have answered:\n",
                    "mine.tuner.cu:5: How many blocks does a launch have?", "mine.tuner.cu:6: How many elements",
                    ": What is right?"));
  const auto document = nlohmann::json::parse(call("check ./mine.tuner.cu --json").out);
  EXPECT_EQ(document["questions"].size(), 3U);
  EXPECT_EQ(document["questions"][0]["line"], 5);
  EXPECT_THAT(call("check ./mine.tuner.cu --config block=64").out, HasSubstr("runs as the default configuration does"));
}

TEST_F(Check, CompilesForEachArchitectureThatIsAsked) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  EXPECT_THAT(call("check scale.cu --arch sm_90").out, HasSubstr("sm_90   compiles: "));
  expect_failures(1, "", {"check scale.cu --arch sm_1"});
}

}  // namespace
}  // namespace tuner::cli
