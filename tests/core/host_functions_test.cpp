#include <tuner/core/host_functions.hpp>

#include <tests/testing.hpp>

namespace tuner {
namespace {

/// Without blanks at the ends of lines and without empty lines.
std::string kept(const std::string& text, const std::vector<std::string_view>& headers = {}) {
  std::vector<std::string_view> texts = headers;
  texts.push_back(text);
  const std::string without = without_host_functions(texts).back();
  EXPECT_EQ(without.size(), text.size()) << "places must stay";
  std::string result;
  std::size_t at = 0;
  while (at < without.size()) {
    const std::size_t end = std::min(without.find('\n', at), without.size());
    std::string line = without.substr(at, end - at);
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) result += line + '\n';
    at = end + 1;
  }
  return result;
}

TEST(HostFunctions, AreTakenAwayAndAllElseStays) {
  for (const char* stays : {
           "__global__ void k(float* x) { if (x) { x[0] = '}'; } }\n",
           "extern \"C\" __global__ void __launch_bounds__(32 * 4) k(int n = 3) {}\n",
           "template <typename T> struct S { T v; T get() const { return v; } };\n",
           "static const int kTable[] = {1, 2, 3};\n",
           "__constant__ float filter[16];\n",
           "constexpr int three() { return 3; }\n",
           "const char* text = \"int main() { return 0; }\"; // int f() { }\n",
           "enum class E { a, b };\n",
           "typedef void (*fn)(int);\n",
           "using f = int (*)(float);\n",
           "struct F { __device__ int operator()(int x) { return x; } } f;\n",
           "extern \"C\" {\n__device__ int f() { return R\"(})\"[0]; }\n}\n",
           "namespace a {\nnamespace b {\n__host__ __device__ bool operator<(S a, S b) { return a.v < b.v; }\n}\n}\n",
           "static_assert(sizeof(int) == 4, \"\");\n",
           "static const uint32_t kMask = uint32_t(1) << 5;\nstatic const size_t kBytes = size_t(4) * 1024;\n",
           "enum Mode { none, all };\nstatic const Mode kMode = Mode(1);\nconst Unknown u = Unknown(1);\n",
           "const int n(5);\nconst int m = int(2.5), k = DIV(7, 2);\nconstexpr Pair p = Pair(1, 2);\n",
           "__device__ const Pair q = Pair(1, 2);\n",
           "struct alignas(16) X { float x[4]; };\n",
           "struct __align__(8) X { int a; };\n",
           "struct __attribute__((packed)) X { char c; int d; };\n",
           "struct X { char c; int d; } __attribute__((packed));\n",
           "struct __builtin_align__(8) X { int a; };\n",
           "struct [[maybe_unused]] X { int a; };\n",
           "union alignas(8) U { int a; double b; };\n",
           "enum class alignas(4) E : int { a, b };\n",
           "struct X : Y<(1 > 2)> { int a; };\n",
           "template <typename T, bool z = (1 > 0)> struct X { T a; };\n",
           "template <int b, bool d = false>\n__device__ int f(int x) { return d ? b : x; }\n",
           "template <template <typename> class C, typename T = C<C<int>>> struct X { T a; };\n",
           "template <> struct alignas(sizeof(float4)) X<4> { float a[4]; };\n",
           "template <class T> concept small = requires(T t) { sizeof(t) < 8; };\n",
           "auto twice = [] __device__(int x) { return 2 * x; };\n",
           "auto thrice = [](int x) { return 3 * x; };\n",
           "struct A { struct B { int c; }; B b[2] = {{1}, {2}}; };\n",
           "class A { public: __device__ A() : a{1}, b(2) {} private: int a, b; };\n",
           "struct Bits { unsigned a : 3, b : 5; };\n",
           "namespace a::b { inline namespace c { namespace { __device__ int d() { return 1; } } } }\n",
           "template <typename T> __device__ auto f(T x) -> decltype(x + 1) { return x + 1; }\n",
           "template <typename T> requires(sizeof(T) > 4) __device__ T f(T x) { return x; }\n",
           "__device__ float table[2][2] = {{1, 2}, {3, 4}};\n",
           "__constant__ int signs[] = {-1, (1), int(1)};\n",
           "__device__ int (*table[])(int) = {f, g};\n",
           "#ifdef X\n__global__ void k(int a,\n#else\n__global__ void k(float a,\n#endif\n  int b) {}\n",
           "[[nodiscard]] __device__ int f() { return 1; }\n",
           "#define HD __host__ __device__\nHD int f(int a = {}) { return a; }\n",
           "const char* text = R\"x(int main() { } )\" })x\";\n",
       }) {
    EXPECT_EQ(kept(stays), stays);
    EXPECT_EQ(kept(std::string(stays) + "int main(int argc, char** argv) { k<<<1, 2>>>(0); return 0; }\n" + stays),
              std::string(stays) + stays);
  }
  for (const char* goes : {
           "int f() { return '}'; }\n",
           "__host__ void f(std::vector<int>& v) { for (auto& x : v) { x = 1; } }\n",
           "void f(float* x, int n);\n",
           "bool operator==(const S& a, const S& b) { return a.v == b.v; }\n",
           "std::vector<float> all;\n",
           "cudaEvent_t start, stop;\n",
           "template <typename T>\nstatic T* buffer(int n)\n{\n  return new T[n];\n}\n",
           "template <typename T, bool z = (1 > 0)> void launch(T* p) { k<<<1, 2>>>(p, z); }\n",
           "template <typename T, int n = 4>\nvoid launch(T* p);\n",
           "void f(S s = {}, int n = 3) { g(s); }\n",
           "S::S(int a) : a{a}, b{2}, c(3) { g(); }\n",
           "void f() try { g(); } catch (...) { }\n",
           "auto f(int a) -> std::pair<int, int> { return {a, 1}; }\n",
           "struct S f() { return {}; }\n",
           "struct S* f(int a) noexcept { return nullptr; }\n",
           "template <typename T> void f(T t) requires requires(T x) { x + 1; } { g(t); }\n",
           "class Log { std::vector<std::string> lines; public: void add(const char* s) { lines.push_back(s); } };\n",
           "[[noreturn]] void fail(const char* s) { exit(1); }\n",
           "__attribute__((noinline)) int f() { return 1; }\n",
       }) {
    EXPECT_EQ(kept(goes), "") << goes;
    EXPECT_EQ(kept(std::string("namespace a {\n") + goes + "}\n"), "namespace a {\n}\n") << goes;
  }
}

/// kept() with single blanks.
std::string words_kept(const std::string& text) {
  std::string result;
  for (const char c : kept(text))
    if (c != ' ' || !result.ends_with(' ')) result += c;
  return result;
}

TEST(HostFunctions, OfClassesLeaveTheirDeclarations) {
  const struct {
    const char* text;
    const char* kept;
  } table[] = {
      {"struct Timer { cudaEvent_t start; Timer() { cudaEventCreate(&start); } float stop(); };\n",
       "struct Timer { cudaEvent_t start; Timer() ; float stop(); };\n"},
      {"template <class T> class Buffer { T* p; public: Buffer() : p(nullptr) { cudaMalloc(&p, 4); } ~Buffer() { "
       "cudaFree(p); } __device__ T get() { return *p; } };\n",
       "template <class T> class Buffer { T* p; public: Buffer() ; ~Buffer() ; __device__ T get() { return *p; } };\n"},
      {"struct Fill { void go() { k<<<1, 2>>>(); } int two() const { return 2; } };\n",
       "struct Fill { void go() ; int two() const { return 2; } };\n"},
      {"#define check(call) if (call) { fprintf(stderr, \"failed\"); }\n#define release(p) cudaFree(p)\n#define "
       "twice(x) (2 * (x))\n"
       "template <class T> struct Array { T* p; ~Array() { check(release(p)); } int two() { return twice(1); } };\n",
       "#define check(call) if (call) { fprintf(stderr, \"failed\"); }\n#define release(p) cudaFree(p)\n#define "
       "twice(x) (2 * (x))\n"
       "template <class T> struct Array { T* p; ~Array() ; int two() { return twice(1); } };\n"},
      {"struct Base { virtual const Array<int>& none() { static Array<int> empty; return empty; } int a; };\n",
       "struct Base { virtual const Array<int>& none() ; int a; };\n"},
      {"struct Hash { unsigned of(unsigned x) { static const unsigned prime = 7; constexpr static int bits = "
       "sizeof(x); "
       "return x * prime >> bits; } int a() { static int calls = 0; return ++calls; } int b() { static const int n = "
       "f(); "
       "return n; } };\n",
       "struct Hash { unsigned of(unsigned x) { static const unsigned prime = 7; constexpr static int bits = "
       "sizeof(x); "
       "return x * prime >> bits; } int a() ; int b() ; };\n"},
      {"struct Sparse { cusparseHandle_t h; Sparse() { cusparseCreate(&h); } };\n",
       "struct Sparse { cusparseHandle_t h; Sparse() ; };\n"},
      {"struct P { float x; friend std::ostream& operator<<(std::ostream& o, P p) { return o << p.x; } };\n",
       "struct P { float x; };\n"},
  };
  for (const auto& row : table) EXPECT_EQ(words_kept(row.text), row.kept);
}

TEST(HostFunctions, TakeWithThemWhatNeedsThem) {
  for (const char* goes : {
           "int up(int x) { cudaDeviceReset(); return x; }\nusing a::up;\n",
           "int helper(int x) { return x; }\nstatic int start = helper(3);\n",
           "const float3 up = make_float3(0, 1, 0);\n",
           "template <class T> struct Dev { std::vector<T> all; };\nusing Map = Dev<float>;\nMap map;\n",
           "struct Log : public std::ostringstream { int level; };\ntypedef Log Journal;\nstruct Two { Journal a, b; "
           "};\n",
       })
    EXPECT_EQ(kept(goes), "");
  const char* const stays = "typedef cudaStream_t queue;\nstruct mesh { queue s; };\n";
  EXPECT_EQ(kept(stays), stays);
}

TEST(HostFunctions, TakeWithThemMembersWhoseDefaultArgumentsCallThem) {
  EXPECT_EQ(kept("inline cudaStream_t current() { return nullptr; }\n"
                 "template <class T> class Buffer {\n public:\n  void set(T* x, cudaStream_t s = current()) { }\n"
                 "  void get(T* x, cudaStream_t s = current());\n  T* data;\n};\n"),
            "template <class T> class Buffer {\n public:\n  T* data;\n};\n");
}

TEST(HostFunctions, TakeWithThemClassesOfTheDeviceWhoseBaseIsGone) {
  EXPECT_EQ(kept("class Base { std::string name; };\ntemplate <int n> class Of : public Base { int f() { if constexpr "
                 "(n > 1) return 1; return 0; } };\n"),
            "");
}

TEST(HostFunctions, LeaveClassesWithMacrosBesideThoseThatGo) {
  const char* const stays = "class API Base { public: Base(int n); };\nclass API Of final : public Base { int m; };\n";
  EXPECT_EQ(kept(std::string(stays) + "class API Timer { std::string name; };\n"), stays);
  EXPECT_EQ(kept("template <class T> class API One { static std::string name; static T& one; };\n"
                 "template <class T> T& One<T>::one = One<T>::create();\n"),
            "");
}

TEST(HostFunctions, TakeWithThemVariablesThatAConstructorMakes) {
  const std::string body = "template <int n = 3> class Vec { Vec(int); };\nstruct Body { Body(int, Vec<>); };\n";
  EXPECT_EQ(kept(body + "const Body all[] = {\n  Body(1, Vec(2)), Body(3, Vec())\n};\nstatic Body one = Body(1);\n"),
            body);
  EXPECT_EQ(kept("static Body one = Body(1);\n", {"struct Body { Body(int); };\n"}), "");
}

TEST(HostFunctions, TakeWithThemObjectsThatOnlyTheyCanUse) {
  const std::string state = "struct State { int size; };\n";
  EXPECT_EQ(kept(state + "static State state;\nState* first = nullptr;\nnamespace a { State all[3]; }\n"),
            state + "namespace a {               }\n");
  for (const std::string& stays : {state + "__device__ State state;\n", state + "const State state = {3};\n"})
    EXPECT_EQ(kept(stays), stays);
}

TEST(HostFunctions, TakeWithThemWhatANameOfTheLibraryStandsFor) {
  EXPECT_EQ(kept("using std::string;\nusing std::vector;\nusing std::cin;\nstring name = \"x\";\nstruct Config { "
                 "string name; };\n"
                 "static vector<Config> all;\n"),
            "");
  const char* const stays = "const std::size_t kRows = 4;\nstruct Row { std::int32_t a; };\n";
  EXPECT_EQ(kept(std::string("using std::string;\n") + stays), stays) << "other names of the library";
}

TEST(HostFunctions, WithBranchesAmongTheirArgumentsGoWhole) {
  EXPECT_EQ(kept("void f(\n#ifdef X\n  cublasHandle_t h,\n#else\n  int a,\n#endif\n  std::vector<float>& c);\n"
                 "void g(int a\n#if X\n  , std::string b\n#endif\n  );\nint x;\n"),
            "#ifdef X\n#else\n#endif\n#if X\n#endif\nint x;\n");
}

TEST(HostFunctions, ThatBeginInBranchesGoWhole) {
  EXPECT_EQ(kept("#ifdef X\nvoid f(int a,\n#else\nvoid f(float a,\n#endif\n  int b) { g(); }\nint x;\n"),
            "#ifdef X\n#else\n#endif\nint x;\n");
  EXPECT_EQ(
      kept("#if A\nint f(int a) {\n#elif B\nint f(short a) {\n#else\nint f() {\n#endif\n  return 1;\n}\nint x;\n"),
      "#if A\n#elif B\n#else\n#endif\nint x;\n");
}

TEST(HostFunctions, AreToldByTheMacrosOfTheTextAndOfItsHeaders) {
  EXPECT_EQ(kept("#define HD __host__ __device__\n#define INLINE inline HD\nINLINE int f() { return 1; }\n"),
            "#define HD __host__ __device__\n#define INLINE inline HD\nINLINE int f() { return 1; }\n");
  EXPECT_EQ(kept("HD int f() { return 1; }\nint g() { return 1; }\n", {"# define HD __device__\n"}),
            "HD int f() { return 1; }\n");
}

TEST(HostFunctions, LeaveTheDirectivesWithinThem) {
  EXPECT_EQ(kept("int main() {\n#define INSIDE 3\n#ifdef FAST\n  if (1) {\n#else\n  if (2) {\n#endif\n  }\n}\n"
                 "__device__ int f() { return INSIDE; }\n"),
            "#define INSIDE 3\n#ifdef FAST\n#else\n#endif\n__device__ int f() { return INSIDE; }\n");
}

TEST(HostFunctions, MayBeCutOffAnywhere) {
  const std::string text =
      "namespace a { int f(int x = (3)) { return R\"(x)\"[0] + '\\'' + \"\\\"\"[0]; }\n#if 1 \\\n || 2\n} /* } */ }\n";
  for (std::size_t length = 0; length <= text.size(); ++length)
    EXPECT_EQ(without_host_functions({std::string_view(text).substr(0, length)})[0].size(), length);
}

TEST(HostFunctions, MayCompareInTheirTypes) {
  EXPECT_EQ(kept("template <int n>\ntypename std::enable_if<n == 1, int>::type start(int* x) { k<<<1, n>>>(x); }\n"
                 "int x = 3;\n"),
            "int x = 3;\n");
}

TEST(HostFunctions, ThatAMacroMakesGoWithItsCalls) {
  const std::string text =
      "#define BIND(name, type) \\\n  void name##_##type(Tensor a) { check(a); } \\\n  int also_##name() { return 1; "
      "}\n"
      "#define MAKE(name) __global__ void name(int* a) { a[0] = 1; }\n#define PLAIN(type) struct type##_s { int a; };\n"
      "BIND(one, float)\nMAKE(two)\nPLAIN(three)\nBIND(four, int);\n__global__ void five(int* a) {}\n";
  const std::string left = without_host_functions({text})[0];
  for (const char* const gone : {"BIND(one", "BIND(four"}) EXPECT_THAT(left, Not(HasSubstr(gone))) << gone;
  for (const char* const kept : {"MAKE(two)", "PLAIN(three)", "void five("}) EXPECT_THAT(left, HasSubstr(kept));
}

TEST(HostFunctions, GoWithAllInstantiations) {
  const std::string text =
      "template <typename T> void launch(T* a, int n) { k<<<1, n>>>(a); }\n"
      "#define INSTANTIATE(T) \\\n  template void launch(T* a, int n)\n"
      "#define KERNEL(T) template __global__ void k<T>(T* a);\n#define TEMPLATE template <typename T>\n"
      "INSTANTIATE(float);\nKERNEL(float)\nTEMPLATE __device__ int two() { return 2; }\n"
      "template __global__ void k<half>(half* a);\nextern template void launch<int>(int*, int);\n"
      "template struct Pair<int>;\ntemplate <> __device__ int two<int>();\n";
  const std::string left = without_host_functions({text})[0];
  for (const char* const gone : {"INSTANTIATE(float)", "KERNEL(float)", "k<half>", "launch<int>"})
    EXPECT_THAT(left, Not(HasSubstr(gone))) << gone;
  for (const char* const kept : {"TEMPLATE __device__ int two()", "template <> __device__ int two<int>();"})
    EXPECT_THAT(left, HasSubstr(kept)) << kept;
}

TEST(HostFunctions, GoWithTheKernelsThatAreNotNeededIfSomeAre) {
  const std::string text =
      "template <int n> __global__ void one(int* x) { *x = n; }\n__global__ void two(int* x) {}\n__device__ int f();\n";
  EXPECT_EQ(
      without_host_functions({text}, {"one<3>"})[0],
      "template <int n> __global__ void one(int* x) { *x = n; }\n" + std::string(30, ' ') + "\n__device__ int f();\n");
  EXPECT_EQ(without_host_functions({text})[0], text);
  for (const char* const hidden :
       {"#define BODY(n) __global__ void n##_one(int* x) {}\nBODY(mine)\n__global__ void two(int* x) {}\n",
        "__global__ void\n#ifdef A\ntwo(int* x)\n#else\nmine_one(int* x)\n#endif\n{ *x = 1; }\n",
        "template <int n> requires (n > 0) __global__ void mine_one(int* x) {}\n"})
    EXPECT_EQ(without_host_functions({hidden}, {"mine_one"})[0], hidden);
  const std::string calls = "__global__ void mine(int* x) { two(x); }\n";
  EXPECT_THAT(without_host_functions({calls, text}, {"mine"})[1], Not(HasSubstr("one")));
  EXPECT_THAT(without_host_functions({calls, text}, {"mine"})[1], HasSubstr("two")) << "it is called";
}

}  // namespace
}  // namespace tuner
