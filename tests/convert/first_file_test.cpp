/// What `tune init` writes, as far as no program is needed: tests/cli/commands/first_file_test.cpp also checks the
/// files.
#include <tuner/convert/first_file.hpp>

#include <tests/support/testing.hpp>

namespace tuner::convert {
namespace {

/// The kernel file for the first kernel of \p source.
std::string made(const std::string& source) {
  return first_file(source, kernels_of(source).front(), "/nowhere/mine.cu", "/nowhere").text;
}

TEST(FirstFile, OfAKernelInTwoDimensionsHasABlockOfTwo) {
  const std::string text = made(R"(
__global__ void add(const double* a, const double* b, double* c, unsigned nx, unsigned ny) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) c[y * nx + x] = a[y * nx + x] + b[y * nx + x];
}
)");
  EXPECT_THAT(text, Holds("out         c[nx * ny] : double\n", "block       block_x, block_y\n"));
}

TEST(FirstFile, HasConstantMemoryAndStructsOfTheText) {
  const std::string text = made(R"(
#define TAPS 5
struct Shape { float scale; int2 shift; };
__constant__ float3 colours[4];
__constant__ float unused[4], taps[TAPS];
__global__ void paint(float* to, const float* from, Shape shape, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * shape.scale + colours[i % 4].y;
}
)");
  EXPECT_THAT(text,
              Holds("constant    colours[4]\n", "scalar      shape : { float scale; int2 shift; } = { 1, 1, 1 }\n"));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
}

TEST(FirstFile, OfATemplateWritesTheMembersOfItsStructs) {
  const std::string text = made(R"(
struct Spot { int x; bool is_on; };
struct Look { int id; float4 colour; Spot spot; float3 at; };
struct Field { const float* from; int n; };
template <typename T> __global__ void paint(T* to, Look look, Field field) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < field.n) to[i] = T(look.id + look.spot.x) + T(look.colour.y + look.at.z + field.from[i]);
}
)");
  EXPECT_THAT(text,
              Holds("type        T = float\n",
                    "scalar      look : { int id; float4 colour; int spot_x; bool spot_is_on; float3 at; } = { 1,",
                    "scalar      field : { const float* from; int n; } = { from, n }\n"));
}

TEST(FirstFile, OfAStructThatNoListOfMembersDescribesLeavesTheTypeToTheText) {
  const std::string text = made(R"(
struct __align__(16) Look { int id; };
struct Pair { double wide; char narrow; };
struct Around { Pair pair; char after; };
__global__ void paint(int* to, Look look, Around around, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = look.id + around.after;
}
)");
  EXPECT_THAT(text, Holds("scalar      look = { 1 }\n", "scalar      around = { 1, 1, 1 }\n"));
}

TEST(FirstFile, TakesTheUsualValuesOfATemplateForItsDefaults) {
  const std::string text = made(R"(
template <const int NUM_THREADS = 96, int each = 2, bool flip = true, int product = NUM_THREADS * each>
__global__ void scale(float* data, int n) {
  for (int k = 0; k < each; ++k) {
    const int i = (blockIdx.x * each + k) * NUM_THREADS + threadIdx.x;
    if (i < n) data[i] *= flip ? -2.0f : 2.0f;
  }
}
)");
  EXPECT_THAT(text,
              Holds("NUM_THREADS = 32 64 128 256 512 1024 96\n", "parameter   each = 2\n",
                    "default     NUM_THREADS=96 each=2 flip=true\n", "instantiate scale<NUM_THREADS, each, flip>\n"));
  EXPECT_THAT(made("template <typename T = float>\n__global__ void one(T* a) { if (threadIdx.x == 0) a[0] = 1; }\n"),
              HasSubstr("instantiate one<>\n"));
}

TEST(FirstFile, NamesNoParameterLikeAWordOfTheText) {
  EXPECT_THAT(made("__global__ void one(int* a) { int block = threadIdx.x; if (block == 0) a[block] = 1; }\n"),
              HasSubstr("block       tuned_block\n"));
}

TEST(FirstFile, NamesArgumentsSoThatExpressionsMayUseThem) {
  const std::string text = made(R"(
namespace image { __global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
} }
)");
  EXPECT_THAT(text, Holds("arguments   in_, out, n\n", "instantiate image::copy\n"));
}

TEST(FirstFile, TakesTheSizeOfBothAxesOfAGridForThatOfASquare) {
  const std::string text = made(R"(
#define T 16
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
void run(float* f, int n) { product<<<dim3(n / T, n / T), dim3(T, T)>>>(f, f, f, n); }
)");
  EXPECT_THAT(text, Holds("size        n : int = 4096\n", "in          a[n * n] : float\n",
                          "grid        max(1, n / T), max(1, n / T)\n",
                          "// ? The grid has whole blocks only: are all your sizes multiples of them?\n",
                          "constraint  multiples_1: n % T == 0\n"));
}

TEST(FirstFile, MultipliesNoMoreThanThreeSizes) {
  const std::string text = made(R"(
__global__ void columns(int n, const float* from, int height, int width, int ksize, int pad, int stride, int offset,
                        int height_col, int width_col, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i + offset] += from[i * stride];
}
)");
  EXPECT_THAT(text,
              Holds("size        n : int = 64\n", "size        ksize : int = 3\n", "size        stride : int = 1\n",
                    "scalar      offset : int = 0\n", "in          from[n * height * width] : float\n",
                    "// ? How many elements has each of these? The sizes in each product are guessed.\n",
                    "// No buffer is `out`: `tune check` does not find"));
}

TEST(FirstFile, KnowsPointersTruthValuesAndLengthsOfMacros) {
  const std::string text = made(R"(
#define LONGEST 12
struct camera;
__constant__ float taps[LONGEST * LONGEST], pairs[2][LONGEST];
__global__ void see(float* to, camera** cam, bool adds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = taps[LONGEST] + pairs[1][0] + (adds && cam[0] != nullptr ? 1 : 0);
}
)");
  EXPECT_THAT(text, Holds("constant    taps[144]\n", "consumed    cam[1] : uint64\n", "fill        cam = constant 0\n",
                          "scalar      adds : bool = true\n", "out         to[n] : float\n"));
  EXPECT_THAT(text, Not(HasSubstr("No buffer is `out`")));
}

TEST(FirstFileOfATemplate, TakesTheArgumentsOfTheLaunch) {
  EXPECT_THAT(made(R"(
namespace acme { namespace detail {
enum Mode { slow, fast };
template <int TILE, class Acc = float, bool Relu = false, Mode mode = slow>
__global__ void fused(const float* a, float* c, int m, int n) {
  const int r = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  if (r < m && col < n) c[r * n + col] = Relu ? fmaxf(0.f, Acc(a[r * n + col])) : a[r * n + col];
}
}}
void run(const float* a, float* c, int m, int n) {
  constexpr int T = 16;
  dim3 block(T, T), grid(cdiv(n, T), cdiv(m, T));
  acme::detail::fused<T, double, true, acme::detail::fast><<<grid, block>>>(a, c, m, n);
}
)"),
              Holds("parameter   TILE = 8 16 32\n", "block       TILE, TILE\n",
                    "grid        max(1, ceil_div(n, TILE)), max(1, ceil_div(m, TILE))\n",
                    "instantiate acme::detail::fused<TILE, double, true, acme::detail::Mode::fast>\n",
                    "default     TILE=16\n"));
}

TEST(FirstFileOfATemplate, KeepsAnIntegerAtItsValueInTheLaunchAndAsksForOthers) {
  const std::string text = made(R"(
template <int N, int M> __global__ void times(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * N;
}
void run(float* o, const float* i, int n) { times<3u, Traits::m><<<(n + 127) / 128, 128>>>(o, i, n); }
)");
  EXPECT_THAT(text, Holds("// ? Which other values may N have?\n", "parameter   N = 3\n",
                          "instantiate times<N, Traits::m>\n", "default     block=128 N=3\n"));
}

TEST(FirstFile, ReadsALaunchWithAConfigurationAndACluster) {
  const std::string source = R"(
template <int T> __global__ void scale(float* x, int n) {
  const int i = blockIdx.x * T + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void run(float* x, int count) {
  cudaLaunchConfig_t config = {0};
  config.gridDim = dim3((count + 255) / 256);
  config.blockDim = 256;
  config.dynamicSmemBytes = 4096;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  constexpr int wide = 2;
  attribute[0].val.clusterDim.x = wide;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, scale<256>, x, count);
}
)";
  EXPECT_THAT(made(source), Holds("grid        max(1, (n + (T - 1)) / T)\n", "block       T\n", "cluster     2, 1, 1\n",
                                  "shared      4096\n", "default     T=256\n"));
  std::string unknown = source;
  unknown.replace(unknown.find("constexpr int wide = 2;"), 23, "const int wide = widest();");
  EXPECT_THAT(made(unknown), HasSubstr("clusters of wide, 1, 1, which only the host knows"));
}

/// A kernel file for a launch with a configuration that \p text makes.
std::string launched_with(const std::string& text) {
  return made(
      "__global__ void scale(float* x, int n) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) x[i] *= 2; }\n"
      "void run(float* x, int count, cudaStream_t s, bool overlap) {\n  const int blocks = (count + 255) / 256;\n  " +
      text + "\n  cudaLaunchKernelEx(&config, scale, x, count);\n}\n");
}

TEST(FirstFile, ReadsAConfigurationThatIsInitialised) {
  for (const char* const text :
       {"cudaLaunchConfig_t config = {.gridDim = dim3(blocks), .blockDim = {256}, .dynamicSmemBytes = 512};",
        "cudaLaunchConfig_t config{\n.gridDim = blocks, .blockDim = dim3{256, 1}, .dynamicSmemBytes = 512, .stream = "
        "s};",
        "auto config = cudaLaunchConfig_t{ .gridDim = blocks, .blockDim = 256, .dynamicSmemBytes = 512 };",
        "cudaLaunchConfig_t config = {dim3(blocks, 1, 1), dim3(256), 512, s};",
        "dim3 g(blocks), b(256); cudaLaunchConfig_t config{g, b, 512, s, nullptr, 0};",
        "cudaLaunchConfig_t config{.gridDim{blocks}, .blockDim{256}, .dynamicSmemBytes = 512};",
        "cudaLaunchConfig_t config = {blocks, 32}; config.blockDim = 256, config.dynamicSmemBytes = 512;"})
    EXPECT_THAT(launched_with(text),
                Holds("grid        max(1, (n + (block - 1)) / block)\n", "shared      ", "default     block=256\n"))
        << text;
}

/// The lines for the attributes that \p text makes of a launch.
std::string attributes_of(const std::string& text) {
  std::string lines;
  const std::string file = launched_with(text);
  for (const char* const directive : {"cluster", "cooperative", "dependent"})
    for (std::size_t at = 0; (at = file.find("tuner " + std::string(directive), at)) != std::string::npos; ++at)
      lines += file.substr(at + 6, file.find('\n', at) - at - 6) + "; ";
  return lines;
}

TEST(FirstFile, TakesACommaBetweenTemplateArgumentsForAPartOfTheValue) {
  EXPECT_THAT(launched_with("cudaLaunchConfig_t config; config.blockDim = 256; config.gridDim = up<int, 2>(blocks);"),
              HasSubstr("up<int, 2>(blocks)"));
}

TEST(FirstFile, ReadsTheAttributesOfALaunch) {
  const std::string config = "cudaLaunchConfig_t config = {.gridDim = blocks, .blockDim = 256, .attrs = a};";
  const std::string serial = "a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; ";
  for (const auto& [text, expected] :
       {std::pair{"cudaLaunchAttribute a[1]; " + serial + "a[0].val.programmaticStreamSerializationAllowed = 1; ",
                  "dependent; "},
        {"cudaLaunchAttribute a[1]; " + serial + "a[0].val.programmaticStreamSerializationAllowed = 0; ", ""},
        {"cudaLaunchAttribute a[1] = {{.id = cudaLaunchAttributeProgrammaticStreamSerialization, .val = "
         "{.programmaticStreamSerializationAllowed = true}}}; ",
         "dependent; "},
        {"cudaLaunchAttribute a[] = {{.id = cudaLaunchAttributeClusterDimension, .val = {.clusterDim = {2, 1, 1}}}, "
         "{.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}}}; ",
         "cluster     2; cooperative; "},
        {"cudaLaunchAttribute a[1]; a[0].val.clusterDim = {.x = 1, .y = 2, .z = 1}; ", "cluster     1, 2; "},
        {"cudaLaunchAttribute a[1]; a[0].val.clusterDim = {1, 1, 1}; ", ""},
        {"const int wide = 4; cudaLaunchAttribute a[1]{{.id = cudaLaunchAttributeClusterDimension, "
         ".val{.clusterDim{}}}}; "
         "a[0].val.clusterDim.x = wide; a[0].val.clusterDim.y = 1; ",
         "cluster     4, 1; "}})
    EXPECT_EQ(attributes_of(text + config), expected) << text;
  const std::string unknown = serial + "a[0].val.programmaticStreamSerializationAllowed = overlap; ";
  EXPECT_THAT(launched_with("cudaLaunchAttribute a[1]; " + unknown + config),
              HasSubstr("? The text's launch is `dependent` if 'overlap', which only the host knows: is it?\n"));
  for (const char* const without : {"{blocks, 256}", "{blocks, 256, 0, s, nullptr, 0}", "{blocks, 256, 0, s, a, 0}"})
    EXPECT_EQ(attributes_of("cudaLaunchAttribute a[1]; a[0].val.clusterDim.x = 2; cudaLaunchConfig_t config = " +
                            std::string(without) + ";"),
              "")
        << "this launch has no attributes";
}

TEST(FirstFileOfATemplate, TakesTheFirstLaunchThatHasArguments) {
  EXPECT_THAT(made(R"(
template <int N = 2> __global__ void times(float* x) { x[threadIdx.x] *= N; }
void run(float* x) { times<<<1, 64>>>(x); times<5><<<1, 32>>>(x); times<7><<<1, 32>>>(x); }
)"),
              Holds("parameter   N = 5\n", "default     block=32 N=5\n"));
}

TEST(FirstFileOfATemplate, FollowsTheTemplateOfTheFunctionAroundTheLaunch) {
  const std::string source = R"(
template <typename T, int BLOCK, int EACH> __global__ void scale(T* x, int n) {
  for (int k = 0; k < EACH; ++k)
    if (const int i = (blockIdx.x * EACH + k) * BLOCK + threadIdx.x; i < n) x[i] *= 2;
}
template <typename T, int B, int E = 4> void run(T* x, int n) { scale<T, B, E><<<(n + B * E - 1) / (B * E), B>>>(x, n); }
)";
  EXPECT_THAT(
      made(source + "void all(double* x, int n) { run<double, 128>(x, n); }\n"),
      Holds("type        T = double\n", "parameter   BLOCK = 32 64 128 256 512 1024\n", "parameter   EACH = 4\n",
            "grid        max(1, (n + BLOCK * EACH - 1) / (BLOCK * EACH))\n", "default     BLOCK=128 EACH=4\n"));
  EXPECT_THAT(made(source), Holds("? Which types is T for?", "type        T = float\n", "block       BLOCK\n"));
}

TEST(FirstFileOfATemplate, WritesOtherTypesAsTheyAre) {
  EXPECT_THAT(made(R"(
namespace ops { struct Square { __device__ float operator()(float x) const { return x * x; } }; }
template <typename T, class F> __global__ void apply(T* x, F f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}
using namespace ops;
void run(float* x, int n) { apply<float, Square><<<n / 256, 256>>>(x, Square(), n); }
)"),
              Holds("type        T = float\n", "instantiate apply<T, ops::Square>\n"));
}

TEST(FirstFileOfATemplate, ListsTheEnumeratorsThatNoLaunchChooses) {
  EXPECT_THAT(made(R"(
namespace acme {
enum class Op { Sum = 1, Max };
template <Op OP, unsigned BLOCK> __global__ void fold(const float* in, float* out) { out[blockIdx.x] = in[threadIdx.x]; }
}
)"),
              Holds("? Does the caller choose OP?", "choice      OP = Sum Max\n",
                    "instantiate acme::fold<acme::Op::OP, BLOCK>\n"));
  EXPECT_THAT(made("template <cub::Algorithm A> __global__ void fold(float* out) { out[threadIdx.x] = 1; }\n"),
              Holds("? A, a cub::Algorithm, has which value?", "instantiate fold<static_cast<cub::Algorithm>(0)>\n"));
}

/// The `block` line for a template<int NAME> with this head and index, and this launch.
std::string block_of(const std::string& name, const std::string& bounds, const std::string& index,
                     const std::string& launch) {
  const std::string text =
      made("template <int " + name + "> __global__ void " + bounds + " f(float* x, int n) {\n  const int i = " + index +
           ";\n  if (i < n) x[i] *= 2;\n}\nvoid run(float* x, int n, int t) { const int B = 256; " + launch + " }\n");
  const std::size_t at = text.find("tuner block") + std::string("tuner block       ").size();
  return text.substr(at, text.find('\n', at) - at);
}

TEST(FirstFileOfATemplate, TakesAParameterForTheBlockOnlyIfTheTextTiesThem) {
  const std::string any = "blockIdx.x * blockDim.x + threadIdx.x", launch = "f<256><<<n, 256>>>(x, n);";
  EXPECT_EQ(block_of("BINS", "", any, launch), "block") << "equal values are no tie";
  EXPECT_EQ(block_of("THREADS_PER_ROW", "", any, launch), "block") << "a part of a name is no tie";
  EXPECT_EQ(block_of("BINS", "", any, "f<B><<<n, B>>>(x, n);"), "BINS") << "the launch names the same constant";
  EXPECT_EQ(block_of("W", "__launch_bounds__(W, 2)", any, launch), "W");
  EXPECT_EQ(block_of("W", "", "blockIdx.x * W + threadIdx.x", launch), "W");
  EXPECT_EQ(block_of("W", "", "threadIdx.x + W * (size_t)blockIdx.x", ""), "W");
  EXPECT_EQ(block_of("W", "", "blockIdx.x * W * 4 + threadIdx.x", ""), "block") << "4 elements a thread, or a part";
  EXPECT_EQ(block_of("W", "", "blockIdx.x * W + threadIdx.x", "f<256><<<n, 128>>>(x, n);"), "block");
  for (const char* const name : {"BLOCK", "BLOCK_SIZE", "kBlockSize", "BLOCK_DIM_X", "nThreads", "TPB"})
    EXPECT_EQ(block_of(name, "", any, launch), name);
}

TEST(FirstFile, FillsBytesWithAllTheirValues) {
  const std::string text = made(R"(
template <int BINS> __global__ void __launch_bounds__(512) histogram(const unsigned char* data, unsigned* bins, size_t n) {
  __shared__ unsigned local[BINS];
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(&local[data[i] % BINS], 1u);
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) if (local[i]) atomicAdd(&bins[i], local[i]);
}
void run(unsigned char* d, unsigned* b, size_t n) { dim3 b3(256), grid(80); histogram<256><<<grid, b3>>>(d, b, n); }
)");
  EXPECT_THAT(text, Holds("parameter   block = 32 64 128 256 512\n", "parameter   BINS = 256\n",
                          "in          data[n] : uint8\n", "fill        data = uniform 0 256\n",
                          "inout       bins[n] : unsigned\n", "grid        80\n", "default     block=256 BINS=256\n"));
}

TEST(FirstFile, CountsTheBlocksOfALaunchThatRoundsUpWithAHelper) {
  const std::string kernel = "__global__ void f(float* x, int w, int h) { x[blockIdx.y * w + threadIdx.x] = h; }\n";
  const std::string launch =
      "void run(float* x, int a, int b) { dim3 g(up(b, 8), 2 * up(a, 32)); f<<<g, dim3(32, 8)>>>(x, a, b); }\n"
      "int other(int n, int b) { return (n + b - 1) / b; }\n";
  for (const char* const helper :
       {"inline int up(int a, int b) { return (a + b - 1) / b; }\n", "#define up(a, b) (((a) + (b) - 1) / (b))\n",
        "auto up = [](int a, int b) { return (a + (b - 1)) / b; };\n",
        "template <class T> constexpr auto up(T x, T per) -> T {\n  return (x + per - 1) / per;\n}\n"})
    EXPECT_THAT(made(helper + kernel + launch),
                HasSubstr("grid        max(1, ceil_div(h, block_y)), max(1, 2 * ceil_div(w, block_x))\n"))
        << helper;
  // Without a helper that is known, an axis has the blocks for the size that it names.
  for (const char* const helper : {"inline int up(int a, int b) { return a / b; }\n", "#define up(a, b) ((a) / (b))\n"})
    EXPECT_THAT(made(helper + kernel + launch),
                HasSubstr("grid        max(1, ceil_div(h, block_x)), max(1, ceil_div(w, block_y))\n"))
        << helper;
}

/// `in`, `out` or `inout`: what `x` is for a kernel with these statements.
std::string kind_of(const std::string& body) {
  const std::string text = made(
      "__device__ void change(float& x) { x += 1; }\n__global__ void f(float* x, float* y) {\n  const int i = "
      "threadIdx.x;\n  " +
      body + "\n}\n");
  const std::size_t end = text.find(" ", text.find("x[1]") - 12), begin = text.rfind("tuner", end) + 6;
  return text.substr(begin, end - begin);
}

TEST(FirstFile, TellsInputsAndOutputsByWhatTheKernelDoesWithThem) {
  for (const char* const body : {"x[i] = 1;", "if (i < 3) x[i] = y[i]; else x[i] = 0;", "*x = 1;"})
    EXPECT_EQ(kind_of(body), "out") << body;
  for (const char* const body : {"y[i] = x[i] + x[i + 1];", "y[i] = fmaxf(x[i], 0);", "if (x[i] == 1) y[i] = *x;",
                                 "y[i] = int(x[i]) & int(x[0]);"})
    EXPECT_EQ(kind_of(body), "in") << body;
  for (const char* const body : {"x[i] += 1;", "++x[i];", "x[i] = x[i] + 1;", "atomicAdd(&x[i], 1);", "change(x[i]);",
                                 "float* p = x + i; *p = 1;", "float& t = x[i]; t = 1;", "(*x) = 1;", "*x++ = 1;",
                                 "asm(\"mov.u32 %0, %%smid;\" : \"=r\"(x[i]));"})
    EXPECT_EQ(kind_of(body), "inout") << body;
}

TEST(FirstFile, TakesGuardedMacrosForParameters) {
  EXPECT_THAT(
      made(R"(
#ifndef block_size_x
  #define block_size_x 16
#endif
#ifndef tile_size_y
  #define tile_size_y 1
#endif
#define WIDTH 128
__global__ void copy(float* C, float* A) {
  const int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_x * tile_size_y + threadIdx.y;
  for (int i = 0; i < tile_size_y; i++) C[(y + block_size_x * i) * WIDTH + x] = A[(y + block_size_x * i) * WIDTH + x];
}
)"),
      Holds("parameter   block_size_x = 8 16 32\n", "parameter   tile_size_y = 1\n",
            "? Which other values may tile_size_y have?", "out         C[WIDTH * WIDTH] : float\n",
            "in          A[WIDTH * WIDTH] : float\n", "block       block_size_x, block_size_x\n",
            "grid        max(1, ceil_div(WIDTH, block_size_x)), max(1, ceil_div(WIDTH, block_size_x * tile_size_y))\n",
            "default     block_size_x=16 tile_size_y=1\n"));
}

TEST(FirstFile, LeavesConstantMemoryAloneThatTheTextInitialises) {
  const auto constants = [](const std::string& declarations) {
    const std::string text = made(declarations + R"(
__global__ void permute(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i / 4 * 4 + order[i % 4]] * scale;
}
)");
    std::string lines;
    for (std::size_t at = 0; (at = text.find("tuner constant", at)) != std::string::npos; ++at)
      lines += text.substr(at + 18, text.find('\n', at) - at - 18) + ' ';
    return lines;
  };
  for (const char* const declarations : {"__constant__ int order[4] = {3, 1, 0, 2};\n__constant__ float scale = 2;",
                                         "__constant__ int order[4]{3, 1, 0, 2};",
                                         "const __constant__ float scale(2.f), unused[] = {1, 2};\n__constant__ "
                                         "__align__(16) int order[] = {3, 1, 0, 2};",
                                         "static __constant__ int order[2 * 2] = {3, 1, 0, 2}, other[3];"})
    EXPECT_EQ(constants(declarations), "") << declarations;
  EXPECT_EQ(constants("__constant__ int order[4];\n__constant__ float scale = 1;"), "order[4] ");
  EXPECT_EQ(constants("namespace a { __constant__ float first[2] = {1, 2}, scale, order[4]; } using namespace a;"),
            "a::scale[1] a::order[4] ");
  EXPECT_THAT(made("__constant__ int t[4];\n__global__ void f(int* x) { x[threadIdx.x] = t[threadIdx.x]; }\n"),
              HasSubstr("? Does t need the numbers that the host copies into it?"));
}

/// A kernel file for a launch with \p grid in a function that starts with \p before.
std::string launched(const std::string& grid, const std::string& before = "") {
  return made(
      "__global__ void scale(float* x, int width, int channels) {\n  x[blockIdx.z * width + blockIdx.x * blockDim.x + "
      "threadIdx.x] *= channels;\n}\nvoid run(float* x, Shape p, int batch, int c, int w, int channels) {\n  " +
      before + "\n  dim3 grid(" + grid + ");\n  scale<<<grid, 256>>>(x, w, c);\n}\n");
}

TEST(FirstFile, AsksForTheVariablesOfTheHostInAGrid) {
  for (const auto& [grid, before, expected, name] :
       {std::tuple{"(w + 255) / 256, 1, batch", "", "max(1, (width + (block - 1)) / block), 1, batch\n", "batch"},
        {"cdiv(w, 256) * batch", "", "max(1, ceil_div(width, block) * batch)\n", "batch"},
        {"cdiv(w, 256), p.batch", "", "max(1, ceil_div(width, block)), batch\n", "batch"},
        {"cdiv(w, 256), p->shape.batch", "", "max(1, ceil_div(width, block)), batch\n", "batch"},
        {"cdiv(w, 256), z", "const int z = 2 * batch;", "max(1, ceil_div(width, block)), max(1, 2 * batch)\n", "batch"},
        {"cdiv(w, 256), z", "const int z = t.size(0);", "max(1, ceil_div(width, block)), z\n", "z"},
        {"min(w, sms * 4)", "int sms; get(&sms);", "max(1, min(width, sms * 4))\n", "sms"},
        {"w, channels", "", "width, host_channels\n", "host_channels"},
        {"w, blocks(x)", "", "width, blocks_y\n", "blocks_y"}}) {
    const std::string text = launched(grid, before);
    EXPECT_THAT(text, Holds("? Only the host knows " + std::string(name) + ",",
                            "size        " + std::string(name) + " = 1\n", "grid        " + std::string(expected)))
        << grid << before;
  }
}

TEST(FirstFile, PutsTheBlockIntoEveryRoundedQuotientOfALaunch) {
  const auto of_block = [](const std::string& grid, const std::string& block) {
    return made(
        "__global__ void f(float* x, int width, int height) {\n  x[(blockIdx.y * blockDim.y + threadIdx.y) * width + "
        "blockIdx.x * blockDim.x + threadIdx.x] = height;\n}\nvoid run(float* x, int w, int h) { f<<<dim3(" +
        grid + "), dim3(" + block + ")>>>(x, w, h); }\n");
  };
  EXPECT_THAT(of_block("(w + 31) / 32, (h + 7) / 8", "32, 8"),
              HasSubstr("max(1, (width + (block_x - 1)) / block_x), max(1, (height + (block_y - 1)) / block_y)\n"));
  EXPECT_THAT(of_block("(w + 63) / 64, (h + 1) / 2", "64, 2"), HasSubstr("(height + (block_y - 1)) / block_y"));
  EXPECT_THAT(of_block("(w + 63) / 64, (h + 4 - 1) / 4", "64, 4"), HasSubstr("(height + block_y - 1) / block_y"));
  EXPECT_THAT(of_block("(w + 63) / 64, (h / 2 + 1) / 2", "64, 2"), HasSubstr("(height / 2 + (block_y - 1)) / block_y"));
}

TEST(FirstFile, MakesATypeThatOnlyAMacroAroundTheLaunchDefinesAChoice) {
  const std::string text = made(
      "template <typename scalar_t> __global__ void f(scalar_t* x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = "
      "n; "
      "}\nvoid run(Tensor x, int n) { DISPATCH(x.type(), [&] { f<scalar_t><<<(n + 255) / 256, 256>>>(x.data(), n); }); "
      "}\n");
  EXPECT_THAT(text, Holds("type        scalar_t = float", "instantiate f<scalar_t>\n"));
}

TEST(FirstFile, SaysWhatItGuessedOfALaunch) {
  EXPECT_THAT(launched("blocks(w, 256)"), Holds("? The text's grid is 'blocks(w, 256)': is this guess the same?\n",
                                                "grid        max(1, ceil_div(width, block))\n"));
  EXPECT_THAT(
      made("__global__ void f(float* x, int n) { x[threadIdx.x] = n; }\nvoid run(float* x, int n, int t) { f<<<n, "
           "t>>>(x, n); }\n"),
      HasSubstr("? The text's block is 't', which only the host knows: is this one right?\n"));
  EXPECT_THAT(launched("cdiv(w, 256)"), Not(HasSubstr("guess")));
}

TEST(FirstFile, AsksForSharedMemoryThatNoLaunchTells) {
  EXPECT_THAT(
      made("__global__ void f(int* x, int n) { extern __shared__ double s[]; s[threadIdx.x] = 1; x[0] = s[0]; }\n"),
      Holds("? How many bytes of dynamic shared memory", "shared      block * sizeof(double)\n"));
}

TEST(FirstFile, NamesArgumentsThatHaveNoName) {
  EXPECT_THAT(
      made("__global__ void f(float*, const float (&by)[3], int n) {}\n"),
      Holds("inout       argument_1[n] : float\n", "in          by[n] : float\n", "arguments   argument_1, by, n\n"));
}

}  // namespace
}  // namespace tuner::convert
