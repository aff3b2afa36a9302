#include <tuner/core/host_functions.hpp>

#include <gtest/gtest.h>

namespace tuner {
namespace {

/// Without blanks at the ends of lines and without empty lines.
std::string kept(const std::string& text, const std::vector<std::string_view>& headers = {}) {
  const std::string without = without_host_functions(text, headers);
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
           "const int n(5);\n",
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
       }) {
    EXPECT_EQ(kept(goes), "") << goes;
    EXPECT_EQ(kept(std::string("namespace a {\n") + goes + "}\n"), "namespace a {\n}\n") << goes;
  }
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
    EXPECT_EQ(without_host_functions(text.substr(0, length)).size(), length);
}

}  // namespace
}  // namespace tuner
