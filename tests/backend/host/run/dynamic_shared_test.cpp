// `extern __shared__` arrays are arrays, in all the ways in which kernel files declare and use them.

#include <tuner/backend/host/compile/own_text.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

using host::own_text;

/// The sum of 0, 1, ... 63, by way of \p body, which sees the declarations \p before it and stores i at its place i.
float sum_by(const std::string& before, const std::string& body) {
  const std::string kernel = before + "\n__global__ void k(float* out) {\n  const int i = threadIdx.x;\n  " + body +
                             "\n  __syncthreads();\n  extern __shared__ float all[];\n"
                             "  if (i == 0) for (int j = 0; j < 64; ++j) *out += all[j];\n}\n";
  return output<float>(kernel, "k", shape(1, 64, 256));
}

TEST(HostDynamicShared, IsAnArrayForEachCast) {
  const std::string tile = "template <int n> struct Tile { float v[n]; };";
  for (const char* body : {
           "extern __shared__ char s[]; auto& t = reinterpret_cast<Tile<64>&>(s); t.v[i] = i;",
           "extern __shared__ char s[]; auto& t = (Tile<64>&)s; t.v[i] = i;",
           "extern __shared__ char s[]; ((Tile<64>*)&s)->v[i] = i;",
           "extern __shared__ char s[]; auto* t = (float(*)[8])s; t[i / 8][i % 8] = i;",
           "extern __shared__ float s[]; auto& t = (float(&)[8][8])s; t[i / 8][i % 8] = i;",
           "extern __shared__ __align__(16) unsigned char s[]; *(float*)(s + 4 * i) = i;",
           "extern __shared__ float4 s[]; (&s[i / 4].x)[i % 4] = i;",
           "extern __shared__ float s[]; [=] { s[i] = i; }();",
           "extern __shared__ volatile float s[]; s[i] = i;",
       })
    EXPECT_EQ(sum_by(tile, body), 63 * 32) << body;
}

TEST(HostDynamicShared, HasRowsSeveralNamesAndMacros) {
  for (const char* body : {
           "extern __shared__ float s[][8]; s[i / 8][i % 8] = i;",
           "extern __shared__ float s[][2][4]; s[i / 8][i / 4 % 2][i % 4] = i;",
           "extern __shared__ float s[], t[]; (i < 32 ? s : t)[i] = i;",
           "extern __shared__ char s[] __attribute__((aligned(16))); ((float*)s)[i] = i;",
           "extern __shared__ alignas(float4) float s[]; s[i] = i;",
           "DYNAMIC float s[]; s[i] = i;",
           "ALIGNED(16) float s[]; s[i] = i;",
           "FLOATS s[]; s[i] = i;",
           "extern SHARED float s[]; static SHARED int one; s[i] = i; one = 1;",
           "DECLARE(float, s); s[i] = i;",
           "BYTES(s); ((float*)s)[i] = i;",
       })
    EXPECT_EQ(sum_by("#define DYNAMIC extern __shared__\n#define ALIGNED(n) extern __shared__ __align__(n)\n"
                     "#define FLOATS extern __shared__ float\n#define SHARED __shared__\n"
                     "#define DECLARE(T, name) \\\n  extern __shared__ \\\n  T name[]\n"
                     "#define BYTES(name) extern __shared__ char name##_bytes[]; char* name = name##_bytes\n",
                     body),
              63 * 32)
        << body;
}

TEST(HostDynamicShared, MayBeDeclaredAgainAndOutsideOfFunctions) {
  for (const char* before :
       {"extern __shared__ float s[];\nextern __shared__ float s[];\n__device__ float* at() { return s; }",
        "namespace a { extern __shared__ char s[]; namespace { extern __shared__ float s2[]; } }\n"
        "__device__ float* at() { return a::s2; }",
        "extern \"C\" { extern __shared__ float s[]; }\n__device__ float* at() { return s; }",
        "template <typename T> struct Shared { static __device__ T* at() { extern __shared__ T s[]; return s; } };\n"
        "__device__ float* at() { return Shared<float>::at(); }\n__device__ double* other() { return "
        "Shared<double>::at(); }",
        "#define S(T, name) extern __shared__ T name[]\nS(float, s);\n__device__ float* at() { return s; }"})
    EXPECT_EQ(sum_by(before, "at()[i] = i;"), 63 * 32) << before;
}

TEST(HostDynamicShared, MayBeDeclaredByAMacroOfAHeader) {
  const TemporaryFolder folder;
  folder.write("compat.h", "#pragma once\n#define DYNAMIC_SHARED extern __shared__ __align__(16)\n");
  folder.write("at.h",
               "#include \"compat.h\"\n__device__ inline float* at() { DYNAMIC_SHARED float s[]; return s; }\n");
  CompileRequest wanted = request(
      "#include \"at.h\"\n__global__ void k(int* out) { DYNAMIC_SHARED char s[]; at()[0] = 1; *out = s[3]; }", {"k"});
  wanted.file_name = (folder.path() / "k.cu").string();
  const auto module = load(backend().compiler().compile(wanted));
  int out = 0;
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1, 16), 5, backend(), &out)), "done");
  EXPECT_EQ(out, 0x3f);
}

TEST(HostDynamicShared, WithASizeIsADefinition) {  // as nvcc warns
  EXPECT_EQ(own_text("void f() { extern __shared__ int fixed[4]; extern __shared__ __align__(16) T one; }"),
            "void f() { __shared__ int fixed[4]; __shared__ __align__(16) T one; }");
}

TEST(HostDynamicShared, KeepsTheLinesOfATextAndItsMacros) {
  EXPECT_EQ(own_text("void f() {\nextern __shared__\n  float s[];\n}"),
            "void f() {\nstatic thread_local float (&s)[] = ::__tuner_dynamic_shared()\n;\n}");
  for (const char* stays : {"#define DYNAMIC extern __shared__\nint x;\n", "#define SHARED __shared__ float\nint x;\n"})
    EXPECT_EQ(own_text(stays), stays);
  EXPECT_EQ(own_text("#define D(T) extern __shared__ \\\n  T s[]\nint x;\n"),
            "#define D(T) extern __tuner_dynamic T (&s)[] __tuner_dynamic_name\\\n\nint x;\n");
}

}  // namespace
}  // namespace tuner::host_test
