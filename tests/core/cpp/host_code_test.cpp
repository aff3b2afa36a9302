#include <tuner/core/cpp/host_code.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

/// The text whose code an error refuses in the place that `@` marks, without what is left out; "refused" if nothing
/// is. \p needed: the requested kernel.
std::string left(std::string text, HostCode::Use most = HostCode::Use::none, const std::string& needed = "k") {
  std::vector<RefusedCode> errors;
  for (std::size_t at; (at = text.find('@')) != npos;) {
    text.erase(at, 1);
    const auto line = static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const std::size_t begin = at == 0 ? npos : text.rfind('\n', at - 1);
    errors.push_back({{"k.cu", line + 1, static_cast<int>(at - begin)}});  // npos + 1 is 0
  }
  HostCode code({{"k.cu", text}}, {needed});
  if (!code.leave_out(errors, most)) return "refused";
  EXPECT_EQ(code.texts()[0].text.size(), text.size()) << "places must stay";
  std::string result;
  for (const char c : code.texts()[0].text)
    if (c != ' ' || (!result.empty() && result.back() != ' ' && result.back() != '\n')) result += c;
  return result;
}

TEST(HostCode, IsFoundInAFileWhoseTextALineDirectiveBegins) {
  const std::string text = "int a;\n#line 1 \"theirs/p.cu\"\nvoid f() { g(); }\nint b;\n#line 2 \"k.cu\"\nint c;\n";
  HostCode code({{"k.cu", text}}, {"k"});
  EXPECT_TRUE(code.leave_out({{{"./theirs/p.cu", 1, 12}}, {{"k.cu", 2, 1}}}, HostCode::Use::none));
  EXPECT_EQ(code.texts()[0].text,
            "int a;\n#line 1 \"theirs/p.cu\"\n                 \nint b;\n#line 2 \"k.cu\"\n      \n");
  EXPECT_FALSE(code.leave_out({{{"k.cu", 3, 1}}, {{"theirs/p.cu", 5, 1}}}, HostCode::Use::none))
      << "there are no such lines";
}

TEST(HostCode, IsASpecialisationForATypeThatIsMissing) {
  const std::string used = "__global__ void k() { A<float> a; }\ntemplate <class T> struct A;\n";
  const std::string others =
      "template <> struct A<float> { int b; };\ntemplate <class T> struct A<@mine<T>> : A<T> {};\n";
  const std::string text = used + "template <> struct A<@std::string> { int b; };\n" + others;
  EXPECT_EQ(left(text), "refused") << "names of nvcc may make it known";
  EXPECT_EQ(left(text, HostCode::Use::perhaps), used + "\ntemplate <> struct A<float> { int b; };\n\n");
}

TEST(HostCode, IsNoSpecialisationWithoutWhichAKernelMeansAnother) {
  const std::string used = "__global__ void k() { A<float> a; }\n";
  const std::string primary = "template <class T> struct A;\n";
  for (const char* const text :
       {"template <class T> struct A { int c; };\ntemplate <> struct A<@real> { int b; };\n",
        "template <class T> struct A;\ntemplate <class T> struct A<T*> {};\ntemplate <> struct A<@real> { int b; };\n",
        "template <class T> struct A;\ntemplate <> struct A<float> { @file b; };\n",
        "template <class T> struct A;\ntemplate <> struct A<float> : @missing { int b; };\n",
        "template <class T> struct A;\ntemplate <> struct A<float> : A<@missing> { int b; };\n"})
    EXPECT_EQ(left(used + text, HostCode::Use::perhaps), "refused") << text;
}

TEST(HostCode, IsAVariableWithTheAddressOfAFunctionThatHasNoBody) {
  const std::string text = "void f(int);\nstatic void (*table[])(int) = {g, f};\nvoid (*used)(int) = f;\n";
  HostCode code({{"k.cu", text + "__global__ void k() { used(1); }\n"}}, {"k"});
  EXPECT_TRUE(code.leave_out({RefusedCode{{}, {}, "f"}}, HostCode::Use::none));
  EXPECT_THAT(code.summary(), ElementsAre("k.cu:2: static void (*table[])(int) = {g, f}"));
  EXPECT_FALSE(code.leave_out({RefusedCode{{}, {}, "f"}}, HostCode::Use::none));
}

TEST(HostCode, IsAConstantOfAMissingTypeThatOnlyTheHostNames) {
  const std::string used = "__global__ void k() { A::n; }\n";
  const std::string member = "struct A {\n  @static constexpr view name = 1;\n  static constexpr int n = 2;\n};\n";
  const std::string left_over = used + "struct A {\n\nstatic constexpr int n = 2;\n};\n";
  EXPECT_EQ(left(used + member), "refused") << "a kernel may use it";
  EXPECT_EQ(left(used + member, HostCode::Use::perhaps), left_over);
  EXPECT_EQ(left(used + member + "void f() { print(A::name); }\n", HostCode::Use::perhaps),
            left_over + "void f() { print(A::name); }\n");
  EXPECT_EQ(left(used + member + "struct B : A { int a[name]; };\n", HostCode::Use::perhaps), "refused");
}

/// The texts of "k.cu" and of "rows.inc", which it includes, without the host code that errors refuse at \p places.
std::vector<std::string> left_with_rows(const std::string& text, const std::string& rows,
                                        const std::vector<CodePlace>& places) {
  HostCode code({{"k.cu", text}, {"./rows.inc", rows}}, {"k"});
  std::vector<RefusedCode> errors;
  for (const CodePlace& place : places) errors.push_back({place});
  EXPECT_TRUE(code.leave_out(errors, HostCode::Use::none));
  return {code.texts()[0].text, code.texts()[1].text};
}

TEST(HostCode, IsATableTogetherWithTheFileOfItsRows) {
  const std::string text = "const T t[] = {\n#include \"rows.inc\"\n};\nint c;", rows = "{1, f},\n{2, g},\n";
  const std::vector<std::string> left = {std::string(15, ' ') + '\n' + std::string(19, ' ') + "\n  \nint c;", rows};
  EXPECT_EQ(left_with_rows(text, rows, {{"k.cu", 1, 7}}), left);
  EXPECT_EQ(left_with_rows(text, rows, {{"rows.inc", 2, 5}}), left) << "the error is in a row";
}

TEST(HostCode, IsATableAndNotAnotherOfTheSameRowsThatAKernelNeeds) {
  const std::string used =
      "enum E {\n#define X(a) a,\n#include \"rows.inc\"\n#undef X\n};\n__global__ void k() { E e; }\n";
  const std::string host = "N n[] = {\n#define X(a) #a,\n#include \"rows.inc\"\n#undef X\n};\n";
  const std::vector<std::string> left = left_with_rows(used + host, "X(one)\nX(two)\n", {{"rows.inc", 1, 1}});
  EXPECT_TRUE(left[0].starts_with(used));
  EXPECT_EQ(left[0].find("N n"), npos);
  EXPECT_EQ(left[0].find("rows.inc", used.size()), npos);
  EXPECT_NE(left[0].find("#define X(a) #a,", used.size()), npos) << "only files are parts of a declaration";
  EXPECT_EQ(left[1], "X(one)\nX(two)\n");
}

TEST(HostCode, IsWhatPointersToHostFunctionsNeed) {
  for (const char* const pointer :
       {"typedef void (T::*f)(float) const;", "static void (*f)(T) = nullptr;", "float (T::*const f[2])(T) = {};",
        "void (*f(int))(T);", "float (&f)[3] = t(T());"}) {
    const std::string kernel = "\n__global__ void k(float* x) { x[0] = 1; }", host = "void T::g() { @puts(); }\n";
    EXPECT_EQ(left(host + pointer + kernel), '\n' + (pointer + kernel)) << "'float' and 'void' are no names of it";
  }
  const std::string used = "void (*f)(@X);\n__global__ void k() { f(1); }";
  EXPECT_EQ(left(used), "refused") << "a kernel names it";
}

TEST(HostCode, IsTheBodyOfAFunctionWhoseTypeAKernelNeeds) {
  const std::string kernel = "\n__global__ void k() { decltype(f(1)) a = 1; }";
  EXPECT_EQ(left("float f(int a) { @throw a; }" + kernel), "refused") << "the kernel may call it";
  EXPECT_EQ(left("float f(int a) { @throw a; }" + kernel, HostCode::Use::perhaps), "float f(int a) ; " + kernel);
  EXPECT_EQ(left("__device__ float f(int a) { @throw a; }" + kernel, HostCode::Use::perhaps), "refused");
}

TEST(HostCode, IsNoFileAfterAMacroWithoutASemicolon) {
  const auto left = left_with_rows("MAKE(a)\n#include \"rows.inc\"\nint c;", "int r;", {{"k.cu", 1, 1}});
  EXPECT_NE(left[0].find("#include \"rows.inc\""), npos);
}

TEST(HostCode, IsTheDeclarationAroundAnError) {
  const struct {
    const char* text;
    const char* left;
  } table[] = {
      {"int a;\nusing b = @x::y;\nint c;", "int a;\n\nint c;"},
      {"void f(int a = {}) { for (;;) { @g(); } }\nint c;", "\nint c;"},
      {"namespace n { inline namespace m {\n@int a; int b; } }", "namespace n { inline namespace m {\nint b; } }"},
      {"extern \"C\" {\nvoid f() { @g(); }\nint a;\n}", "extern \"C\" {\n\nint a;\n}"},
      {"const T t[] = {\n  {1, @a},\n};\nint c;", "\n\n\nint c;"},
      {"struct S { int a; void f() { @g(); } } s;", "struct S { int a; void f() ; } s;"},
      {"struct S { S() : a(@g()), b{1} { h(); } int a, b; };", "struct S { S() ; int a, b; };"},
      {"struct S { int a; @X f(); int b; };", "struct S { int a; int b; };"},
      {"struct S { int a; friend X operator<<(@X x, S) { return x; } };", "struct S { int a; };"},
      {"struct S { using X = @x::y; static @x::z b; int a; };", "struct S { int a; };"},
      {"struct S { struct T { @X x; }; int a; };", "struct S { int a; };"},
      {"struct S { int a; @X b; int c; };\nint d;", "\nint d;"},
      {"struct S { struct { @X x; } t; int a; };\nint d;", "\nint d;"},
      {"struct S : @X { int a; } s = {1};\nint d;", "\nint d;"},
      {"class S { int a; public: @X f() { return {}; } int b; };", "class S { int a; public: int b; };"},
      {"S::S(int a) : a{a}, b{@c} { g(); }\nint d;", "\nint d;"},
      {"void f() try { @g(); } catch (...) { h(); }\nint d;", "\nint d;"},
      {"#define MAKE(n) int n() { return x; }\n@MAKE(a)\nMAKE(b)\n__global__ void k() {}",
       "#define MAKE(n) int n() { return x; }\n\nMAKE(b)\n__global__ void k() {}"},
      {"void f() {\n#ifdef X\n  if (1) {\n#else\n  if (@x) {\n#endif\n  }\n}\nint d;",
       "\n#ifdef X\n\n#else\n\n#endif\n\n\nint d;"},
      {"#if A\nvoid f(int a,\n#else\nvoid f(@x a,\n#endif\n  int b) { g(); }\nint d;",
       "#if A\n\n#else\n\n#endif\n\nint d;"},
      {"template <class T> @X f(T t) requires requires(T x) { x + 1; } { return t; }\nint d;", "\nint d;"},
      {"__global__ void other() { @g(); }\n__global__ void k() {}", "\n__global__ void k() {}"},
      {"template __global__ void k<@X>(X*);\nint d;", "\nint d;"},
      {"__device__ int f() { return @g(); }\n__global__ void k() {}", "\n__global__ void k() {}"},
      {"int a = @x; int b = @y;\nint d;", "\nint d;"},
      {"static_assert(sizeof(@X) == 4);\nint d;", "\nint d;"},
      {"enum class E : int { a = @X };\nint d;", "\nint d;"},
      {"using = (@X);\nint d;", "\nint d;"},
  };
  for (const auto& row : table) EXPECT_EQ(left(row.text), row.left) << row.text;
}

TEST(HostCode, IsNothingThatKernelsNeed) {
  for (const char* const text : {
           "__global__ void k() { @g(); }",
           "#define KERNEL __global__ void\nKERNEL k() { @g(); }",
           "__device__ int f() { return @g(); }\n__global__ void k() { f(); }",
           "#define HD __host__ __device__\nHD int f() { return @g(); }\n#define CALL f()\n__global__ void k() { CALL; "
           "}",
           "constexpr int n = @g();\n__global__ void k() { n; }",
           "__constant__ int n[@X];\n__global__ void k() { n; }",
           "struct S { __device__ int f() { @g(); } };\n__global__ void k() { S().f(); }",
           "struct S { int a; };\nnamespace n { struct S { @X a; }; }\n__global__ void k() { n::S s; }",
           "typedef @X float4;\n__global__ void k() { float4 x; }",
           "#include <@x>\n__global__ void k() {}",
           "__global__ void k() {}\n@",
       })
    EXPECT_EQ(left(text, HostCode::Use::perhaps), "refused") << text;
}

TEST(HostCode, IsLastWhatKernelsMayUseByItsName) {
  for (const char* const text :
       {"struct S { @X x; };\n__global__ void k(S* s) {}", "@X x;\n__global__ void k(int x) {}",
        "int x() { return @y; }\n__global__ void k(int x) {}"}) {
    EXPECT_EQ(left(text), "refused") << text;
    EXPECT_NE(left(text, HostCode::Use::perhaps), "refused") << text;
  }
}

TEST(HostCode, IsWhatInstantiatesATemplateBeforeTheTemplate) {
  const std::string text = "template <class T> T f(T t) { return t.x; }\nint g() { return f(3); }\nint d;";
  HostCode code({{"a/k.cu", text}}, {"k"});
  EXPECT_TRUE(code.leave_out({{{"a/../a/k.cu", 1, 0}, {{"k.cu", 7, 0}, {"a/k.cu", 2, 0}}}}, HostCode::Use::none));
  EXPECT_EQ(code.summary(), std::vector<std::string>{"a/k.cu:2: int g() { return f(3); }"});
  EXPECT_TRUE(code.leave_out({{{"a/k.cu", 1, 0}, {{"a/k.cu", 2, 0}}}}, HostCode::Use::none)) << "then the template";
  EXPECT_FALSE(code.leave_out({{{"a/k.cu", 1, 0}, {{"a/k.cu", 2, 0}}}}, HostCode::Use::none));
  HostCode again({{"a/k.cu", text}}, {"k"});
  again.leave_out(code.parts());
  EXPECT_EQ(again.texts(), code.texts());
}

TEST(HostCode, IsAllFunctionsThatNoKernelUsesIfNoPlaceIsKnown) {
  HostCode code(
      {{"k.cu", "int f() { return g(); }\nint h(); __device__ int d() { return 1; }\n__global__ void k() {}"}}, {"k"});
  EXPECT_TRUE(code.leave_out_functions());
  EXPECT_EQ(code.texts()[0].text, std::string(23, ' ') + '\n' + std::string(8, ' ') +
                                      " __device__ int d() { return 1; }\n__global__ void k() {}");
  EXPECT_FALSE(code.leave_out_functions());
}

TEST(HostCode, LosesAnIncludeThatIsMissing) {
  HostCode code({{"k.cu", "int a;\n# include \"x.h\"\nint b;"}}, {"k"});
  EXPECT_EQ(code.take_include({"k.cu", 1, 1}), std::nullopt);
  EXPECT_EQ(code.take_include({"k.cu", 2, 17}), "x.h") << "some compilers point after the name";
  EXPECT_EQ(code.texts()[0].text, "int a;\n               \nint b;");
}

TEST(HostCode, IsMoreAndMoreOfAMember) {
  HostCode code({{"k.cu", "struct S { int f() { return g(); } int a; };"}}, {"k"});
  std::vector<std::string> texts;
  while (code.leave_out({{{"k.cu", 1, 30}}}, HostCode::Use::none)) texts.push_back(code.texts()[0].text);
  EXPECT_THAT(
      texts, ElementsAre("struct S { int f() ;               int a; };", "struct S {                         int a; };",
                         "                                            "));
}

TEST(HostCode, MayBeCutOffAnywhere) {
  const std::string text =
      "namespace a { struct S : T { public: int f(int x = (3)) : y{1} { return R\"(x)\"[0]; } };\n#if 1 \\\n || 2\n} "
      "/* } "
      "*/ }\n#define M(x) int x() {}\nM(a) M(b) enum { c };";
  for (std::size_t length = 0; length <= text.size(); ++length)
    for (int column = 1; column < 90; column += 11) {
      HostCode code({{"k.cu", text.substr(0, length)}}, {"k"});
      while (code.leave_out({{{"k.cu", 1 + column % 7, column}}}, HostCode::Use::perhaps)) {
      }
      EXPECT_EQ(code.texts()[0].text.size(), length);
    }
}

}  // namespace
}  // namespace tuner
