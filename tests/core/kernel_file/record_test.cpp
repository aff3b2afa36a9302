// Elements that are structs, defined in the kernel file or in the text of the kernel.

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/values/element_type.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

/// A kernel with elements of \p type or, if that is empty, of the type in \p text. \p more: further directives.
std::string move_with(const std::string& type, const std::string& text = "", const std::string& more = "") {
  return "#pragma tuner kernel    move\n#pragma tuner size n = 1000\n#pragma tuner parameter block_size_x = 32 64\n"
         "#pragma tuner in       x[n]" +
         type + "\n#pragma tuner out y[n]" + type + "\n#pragma tuner grid n\n" + more +
         "#pragma tuner default block_size_x=32\n#pragma tuner reference default\n" + text +
         "__global__ void move(const Star *x, Star* y, int n) { int i = blockIdx.x * block_size_x; }\n";
}

const BufferSpec& x_of(const KernelSpec& spec) { return *spec.find_buffer("x"); }

/// `float position[3] 0, double mass 16; 24`: each field with its offset, then the bytes of all.
std::string layout(const BufferSpec& buffer) {
  if (!buffer.record) return buffer.type + " x " + std::to_string(buffer.components);
  std::string all;
  for (const RecordField& field : buffer.record->fields)
    all += std::string(info(field.type).name) + ' ' + field.name + '[' + std::to_string(field.count) + "] " +
           std::to_string(field.offset) + ", ";
  return all + std::to_string(buffer.record->bytes);
}
std::string layout(const std::string& type, const std::string& text = "") {
  return layout(x_of(parse(move_with(type, text))));
}

TEST(Records, LieWhereThisCompilerPutsThem) {
  struct Star {
    float position[3];
    double mass;
    short id[2];
    unsigned char bright;
    float spectrum[4];
  };
  EXPECT_EQ(layout(" : { float position[3]; double mass; short id[2]; unsigned char bright; float spectrum[4]; }"),
            "float position[3] " + std::to_string(offsetof(Star, position)) + ", double mass[1] " +
                std::to_string(offsetof(Star, mass)) + ", int16 id[2] " + std::to_string(offsetof(Star, id)) +
                ", uint8 bright[1] " + std::to_string(offsetof(Star, bright)) + ", float spectrum[4] " +
                std::to_string(offsetof(Star, spectrum)) + ", " + std::to_string(sizeof(Star)));
}

TEST(Records, AlignVectorsOfTwoAndFourAsAWhole) {
  EXPECT_EQ(layout(" : { char c; float3 a; float4 b; short s; half2 h; double2 d; }"),
            "int8 c[1] 0, float a[3] 4, float b[4] 16, int16 s[1] 32, half h[2] 36, double d[2] 48, 64");
}

TEST(Records, CountTheirElements) {
  const KernelSpec spec = parse(move_with(" : { double mass; int id; }"));
  EXPECT_EQ(x_of(spec).count.evaluate_integer(bindings(spec, complete(spec, {{{"n", 10}}, {}}), {})), 160);
}

TEST(Records, OfOneTypeArePlainNumbersUnlessAFieldIsFilledByItself) {
  EXPECT_EQ(layout(" : { float x, y, z; float rest[4]; }"), "float x 7");
  EXPECT_EQ(layout(x_of(parse(move_with(" : { int x, y; }", "", "#pragma tuner fill x = iota\n")))),
            "int x[1] 0, int y[1] 4, 8")
      << "i counts the numbers of a field";
  EXPECT_EQ(x_of(parse(move_with(" : { int mass, place[2]; }"))).component_names,
            (std::vector<std::string>{"mass", "place[0]", "place[1]"}));
  EXPECT_EQ(layout(" : { double x; double2 y; }"), "double x[1] 0, double y[2] 16, 32") << "padding is not compared";
  EXPECT_EQ(layout(x_of(parse(move_with(" : { int x, y; }", "", "#pragma tuner fill x.y = iota\n")))),
            "int x[1] 0, int y[1] 4, 8");
}

TEST(Records, AreReadFromTheTextOfTheKernel) {
  const std::string fields = "double mass[1] 0, uint16 id[1] 8, ";
  EXPECT_EQ(layout("", "struct Star {\n  double mass;  // of the sun\n  uint16_t id;\n};\n"), fields + "16");
  EXPECT_EQ(layout("", "struct Planet { int id; };\ntypedef struct { double mass; std::uint16_t id; } Star;\n"),
            fields + "16");
  EXPECT_EQ(layout("", "using real = double;\nstruct Star_ { real mass; unsigned short id; };\ntypedef Star_ Star;\n"),
            fields + "16");
  EXPECT_EQ(layout("", "typedef struct Star Star;\nstruct Star { double mass; unsigned short id; };\n"), fields + "16");
  EXPECT_EQ(layout("", "typedef struct Star_ Star;\nstruct Star_ { double mass; unsigned short id; };\n"),
            fields + "16");
  EXPECT_EQ(layout("", "struct __align__(32) Star { double mass; const unsigned short id; };\n"), fields + "32");
}

TEST(Records, LeaveOutWhatTakesNoRoom) {
  const std::string fields = "double mass[1] 0, int id[1] 8, 16";
  for (const char* const body :
       {"double mass = 1.5; int id{3};", "enum { kMost = 3 }; static const int most = 3; double mass; int id;",
        "__host__ __device__ Star() : mass(0), id{1} {} double mass; int id;",
        "public: double mass; private: int id; friend class Sky; public: int number() const { return id; }",
        "double mass; int id; bool operator==(const Star& o) const { if (id) { return true; } return mass == o.mass; }",
        "typedef int index; double mass; int id; template <typename T> __device__ T scaled(T by) const;"})
    for (const char* const key : {"struct ", "class "})
      EXPECT_EQ(layout("", key + ("Star { " + std::string(body) + " };\n")), fields) << body;
  EXPECT_EQ(layout("", "typedef struct Star { double mass; int id; } Star;\n"), fields);
  EXPECT_EQ(layout("", "typedef struct Star { double mass; int id; } Star_t;\n"), fields);
  EXPECT_EQ(layout("", "struct Star { double mass; int id; };\nvoid f() {}\nStar f(int) { return Star{1, 2}; }\n"),
            fields);
}

TEST(Records, MayBeBasesOfOthers) {
  const std::string star = "struct Star { double mass; int id, age; };\n", fields = "double mass[1] 0, int id[1] 8, ";
  for (const char* const other :
       {"struct Sun : Star { int n; };", "struct Sun : public Star { int n; };", "class Sun final : private Star { };",
        "struct Sun : public virtual Star { };", "struct Sun : ::Star, Other { };", "enum Kind : Star { a };",
        "struct Sun { Sun(struct A a) : Star{a} {} };", "struct Sky { struct Star* star; };", "Star f(struct A a);"})
    EXPECT_EQ(layout("", star + other + "\n"), fields + "int age[1] 12, 16") << other;
}

TEST(Records, HaveTheFieldsOfTheirBases) {
  struct Mass {
    double mass;
    int id, age;
  };
  struct Base : Mass {
    short kind[2];
    float weight;
  };
  struct Star : Base {
    char letter;
  };
  const std::string text =
      "struct Empty { static const int n = 2; void f(); };\nstruct Mass { double mass; int id, age; };\n"
      "namespace a { using Number = short; struct Base : ::Mass { Number kind[2]; float weight; }; }\n";
  const auto of_star = [&](const std::string& head) {
    return layout("", text + "struct Star " + head + " char letter; };\n");
  };
  const std::string all = "double mass[1] 0, int id[1] 8, int age[1] 12, int16 kind[2] 16, float weight[1] 20, ";
  EXPECT_EQ(of_star(": public a::Base {"),
            all + "int8 letter[1] " + std::to_string(sizeof(Base)) + ", " + std::to_string(sizeof(Star)));
  EXPECT_EQ(of_star("final : Empty, public a::Base {"), of_star(": a::Base {"));
}

TEST(Records, AreNotReadWithBasesThatACompilerPlaces) {
  const std::string bases =
      "struct Padded { double mass; int id; };\nstruct Empty {};\nstruct One : Empty { int x; };\n"
      "struct Virtual { virtual void f(); };\ntemplate <typename T> struct Of { T x; };\n";
  for (const char* const star : {"struct Star : Padded { int age; };", "struct Star : Empty, One { double mass; };",
                                 "struct Star : Virtual { int x; };", "struct Star : virtual One { double mass; };",
                                 "struct Star : Of<float> { double mass; };", "struct Star : Gone { int id; };",
                                 "struct Star : Empty { double mass; One one; };", "struct Star : One { double x; };",
                                 "struct Star : Empty {};"})
    EXPECT_THAT(error_of([&] { parse(move_with("", bases + star + "\n")); }), HasSubstr("an element type is needed"))
        << star;
  EXPECT_EQ(layout("", bases + "struct Star : Padded {};\n"), "double mass[1] 0, int id[1] 8, 16");
}

TEST(Records, UseTheNamesThatTheyDefine) {
  const std::string around =
      "const int N = 2;\nusing real = float;\nenum Mode : char { off };\nstruct Inner { float x; };\n";
  for (const char* const body :
       {"enum { N = 4 }; double mass; int id[N];",
        "enum Kind { one = 2, M, N }; double mass; int id[N];",
        "static constexpr int N = 4; double mass; int id[N];",
        "static constexpr int N{4}; double mass; int id[N];",
        "constexpr static int M = 2; static const int N = 2 * M; double mass; int id[N];",
        "static constexpr int M = N; double mass; int id[M][M];",
        "enum class Kind { N = 7 }; double mass; int id[N][N];",
        "using real = double; real mass; int id[4];",
        "typedef double real; real mass; int id[4];",
        "enum class Mode : int { a, b }; double mass; Mode id[4];",
        "enum Mode { a, b }; double mass; enum Mode id[4];",
        "struct Inner { int a, b; }; double mass; Inner id[2];",
        "double mass; struct Inner { int a, b; } id[2];",
        "enum class Mode : int { id, mass }; double mass; int id[4];",
        "static_assert(sizeof(int) == 4, \"ints\"); double mass; mutable int id[4];",
        "template <typename T> struct Box { T x; }; double mass; volatile int id[4];",
        "template <int N> static __device__ int f(int a) { return a + N; } double mass; int id[4];",
        "[[maybe_unused]] double mass; int id[4]; [[nodiscard]] __device__ int at(int i) const { return id[i]; }",
        "double mass; int id[4]; Star() = default; ~Star(); explicit operator bool() const { return id[0]; }",
        "double mass{1}; int id[4] = {1, 2}; __device__ int& operator[](int i) { return id[i]; }"})
    EXPECT_EQ(
        error_of([&] {
          EXPECT_EQ(layout("", around + "struct Star { " + body + " };\n"), layout(" : { double mass; int id[4]; }"))
              << body;
        }),
        "no error")
        << body;
}

TEST(Records, AreNotReadIfTheirOwnNamesAreNotPlain) {
  for (const char* const body :
       {"static constexpr int N = f(); int id[N]; double mass;", "enum { N = sizeof(Star) }; int id[N]; double mass;",
        "using real = Other<float>; real x; double mass;", "union real { int a; }; real x; double mass;",
        "struct { int x; } id; double mass;", "struct real r{1}; double mass;",
        "[[gnu::aligned(16)]] real x; double mass;"})
    EXPECT_THAT(
        error_of([&] {
          parse(move_with("", "const int N = 2;\nusing real = float;\nstruct Star { " + std::string(body) + " };\n"));
        }),
        HasSubstr("an element type is needed"))
        << body;
}

TEST(Records, HaveFieldsOfEnums) {
  for (const auto& [kind, type, bytes] : {std::tuple{"enum class Kind { red, blue };", "int", "16"},
                                          {"enum Kind { red };", "int", "16"},
                                          {"enum Kind { red = -1, blue = 0x7ffffffe, green };", "int", "16"},
                                          {"enum Kind { red = 1 << 0, blue = 1 << 30, };", "int", "16"},
                                          {"enum class Kind { red = f(1) };", "int", "16"},
                                          {"typedef enum { red, blue } Kind;", "int", "16"},
                                          {"enum struct Kind : unsigned char { red };", "uint8", "16"}})
    EXPECT_EQ(layout("", std::string(kind) + "\nstruct Star { double mass; Kind kind; };\n"),
              std::string("double mass[1] 0, ") + type + " kind[1] 8, " + bytes)
        << kind;
}

TEST(Records, HaveNoFieldsOfEnumsWhoseValuesMayNeedMoreThanAnInt) {
  for (const char* const values : {"red, blue = 1ll << 40", "red = 0x100000000", "red = 0x7fffffff, blue", "red = last",
                                   "red = -1, blue = 2147483648", "red = 1 << 31", "red = 0x", "red = 3u"})
    for (const auto& form : {std::pair{"enum Kind { ", " };"}, {"typedef enum { ", " } Kind;"}})
      EXPECT_THAT(error_of([&] {
                    parse(move_with("", form.first + (values + std::string(form.second)) +
                                            "\nstruct Star { double mass; Kind kind; };\n"));
                  }),
                  HasSubstr("an element type is needed"))
          << values;
}

TEST(Records, HaveArraysAsLongAsConstantsSay) {
  for (const char* const length : {"4", "0x4", "04u", "1 << 2"})
    EXPECT_EQ(layout("", "const int N = " + std::string(length) + ";\nstruct Star { double mass; int id[N]; };\n"),
              "double mass[1] 0, int id[4] 8, 24")
        << length;
}

TEST(Records, MayBeFieldsOfOthers) {
  struct Place {
    float x, y, z;
  };
  struct Kind {
    double weight;
    char letter;
  };
  struct Star {
    char c;
    Place at[2];
    Kind kind;
    short id;
  };
  const std::string text =
      "struct Place { float x, y, z; };\ntypedef struct { double weight; char letter; } Kind;\n"
      "struct Star { char c; Place at[2]; Kind kind; short id; };\n";
  EXPECT_EQ(layout("", text), "int8 c[1] 0, float at[6] " + std::to_string(offsetof(Star, at)) +
                                  ", double kind.weight[1] " + std::to_string(offsetof(Star, kind)) +
                                  ", int8 kind.letter[1] " +
                                  std::to_string(offsetof(Star, kind) + offsetof(Kind, letter)) + ", int16 id[1] " +
                                  std::to_string(offsetof(Star, id)) + ", " + std::to_string(sizeof(Star)));
  EXPECT_EQ(layout("", "struct __align__(16) Place { float x, y, z, w; };\nstruct Star { float c; Place at; };\n"),
            "float c[1] 0, float at.x[1] 16, float at.y[1] 20, float at.z[1] 24, float at.w[1] 28, 32");
  const KernelSpec spec = parse(move_with("", text, "#pragma tuner fill x.kind.weight = constant 2\n"));
  EXPECT_EQ(x_of(spec).record->fields[2].fill->numbers.low, 2);
  EXPECT_THAT(error_of([&] { parse(move_with("", "struct Star { Star s; int id; };\n")); }),
              HasSubstr("an element type is needed"));
}

TEST(Records, ThatHoldMoreThanNumbersHaveToBeSaid) {
  for (const char* const body :
       {"float* p; int id;", "struct { int x; } y;", "int id() const { return 0; }", "int id : 3; float x;",
        "Planet p; float x;", "float x; int n[N];", "virtual int id(); float x;", "float (*f)(int); float x;",
        "union { int a; float b; }; int c;", "float& x; int c;", "alignas(8) float x; int c;"}) {
    EXPECT_THAT(error_of([&] { parse(move_with("", "struct Star { " + std::string(body) + " };\n")); }),
                HasSubstr("4:24: an element type is needed, as in ': float' or ': { float x; int id; }'"))
        << body;
  }
}

TEST(Records, AreNotReadWhereTheirLayoutIsNotPlain) {
  const std::string fields = "{ double mass; int id; }";
  for (const std::string& text :
       {"struct Star " + fields + " __attribute__((packed));\n", "#pragma pack(1)\nstruct Star " + fields + ";\n",
        "struct alignas(4 * sizeof(float)) Star " + fields + ";\n", "struct __align__(A16) Star " + fields + ";\n",
        "#define A16 __align__(16)\nstruct A16 Star " + fields + ";\n",
        "#ifdef __GNUC__\nstruct __attribute__((aligned(32))) Star " + fields + ";\n#else\nstruct Star " + fields +
            ";\n#endif\n",
        "struct Star " + fields + " star;\n", "struct Star : Planet " + fields + ";\n",
        "#ifdef __GNUC__\nstruct Star { double mass; double id; };\n#else\nstruct Star " + fields + ";\n#endif\n",
        std::string("struct Star { float mass; char pad[16 - sizeof(float)]; };\n"),
        std::string("#define FIELD(t, n) t n\nstruct Star { int id; FIELD(float, mass); };\n"),
        std::string("struct Star { decltype(1.0f) mass; int id; };\n"),
        std::string("#define N 1 + 1\nstruct Star { float x[N * 4]; int id; };\n"),
        std::string("struct Star { half3 color; int id; };\n")})
    EXPECT_THAT(error_of([&] { parse(move_with("", text)); }), HasSubstr("an element type is needed")) << text;
}

TEST(Records, AreReadBesideWordsThatOnlyLookLikePacking) {
  EXPECT_EQ(layout("", "struct Star { double mass; int id; };\n__device__ int unpack(int pack_size);  // no pack\n"),
            "double mass[1] 0, int id[1] 8, 16");
}

TEST(Records, AreWhatAFileWithATypeSaysAlone) {
  const KernelSpec spec =
      parse(move_with("", "struct Star { double mass; int id; };\n", "#pragma tuner type T = float double\n"));
  EXPECT_EQ(layout(x_of(spec)), "T x 1") << "what is left out is the first type";
}

TEST(Records, FillBoolsWithZeroAndOne) {
  const auto bools = [](const std::string& how) {
    const KernelSpec spec = parse(move_with(" : { int id; bool bright; }", "", how));
    const Fill fill = x_of(spec).record->fields[1].fill->numbers;
    return fill.kind == Fill::Kind::constant ? "constant " + std::to_string(static_cast<int>(fill.low))
                                             : "uniform 0 " + std::to_string(static_cast<int>(fill.high));
  };
  EXPECT_EQ(bools(""), "uniform 0 2");
  EXPECT_EQ(bools("#pragma tuner fill x = uniform 0 100\n"), "uniform 0 2");
  EXPECT_EQ(bools("#pragma tuner fill x = constant 1\n"), "constant 1");
  EXPECT_EQ(bools("#pragma tuner fill x = constant 7\n"), "constant 0");
  EXPECT_EQ(bools("#pragma tuner fill x = iota\n"), "constant 0");
  EXPECT_EQ(bools("#pragma tuner fill x.bright = constant 1\n"), "constant 1");
  for (const char* const how : {"iota", "constant 2", "uniform 0 3", "expression i"})
    EXPECT_THAT(error_of([&] { bools("#pragma tuner fill x.bright = " + std::string(how) + "\n"); }),
                HasSubstr("7:20: 'x.bright' is a bool: "));
}

TEST(Records, FillEachFieldAsItSays) {
  const KernelSpec spec = parse(move_with(" : { double mass; int id; bool bright; float x; }", "",
                                          "#pragma tuner fill x.id = expression i * 2\n#pragma tuner fill x = constant "
                                          "3\n#pragma tuner fill x.mass = uniform 1 2\n"));
  const std::vector<RecordField>& fields = x_of(spec).record->fields;
  EXPECT_EQ(fields[0].fill->numbers.low, 1);
  EXPECT_TRUE(fields[1].fill->element);
  EXPECT_EQ(fields[2].fill->numbers.low, 0) << "a bool holds no 3";
  EXPECT_EQ(fields[3].fill->numbers.kind, Fill::Kind::constant) << "the fill of the whole";
}

TEST(Records, TellTheFilesOfTheirFields) {
  const KernelSpec spec =
      parse(move_with(" : { double mass; int id; }", "", "#pragma tuner fill x.id = file \"ids\"\n"));
  EXPECT_EQ(data_files(spec).size(), 1u);
}

TEST(Records, SayWhatIsWrongWithThemAndWhere) {
  const auto error = [](const std::string& type, const std::string& more = "") {
    return error_of([&] { parse(move_with(" : " + type, "", more)); });
  };
  EXPECT_THAT(error("{ float x; Mass mass; }"), HasSubstr("4:42: 'Mass' is not a type of a field"));
  EXPECT_THAT(error("{ float x; int x; }"), HasSubstr("4:46: 'x' is given twice"));
  EXPECT_THAT(error("{ float; }"), HasSubstr("expected the name of a field of type 'float'"));
  EXPECT_THAT(error("{ float x[0]; }"), HasSubstr("at most 256 fields and 65536 bytes"));
  EXPECT_THAT(error("{ float x[4][9000]; }"), HasSubstr("at most 256 fields and 65536 bytes"));
  EXPECT_THAT(error("{ float x int id; }"), HasSubstr("4:33: 'float x int' is not a type of a field"));
  EXPECT_THAT(error("{ float x; int id;"), HasSubstr("4:"));
  EXPECT_THAT(error("{ float x; int id; }", "#pragma tuner fill x.ids = iota\n"),
              HasSubstr("7:20: 'x' has no field 'ids'; did you mean 'id'?"));
  EXPECT_THAT(error("float", "#pragma tuner fill x.id = iota\n"),
              HasSubstr("7:20: 'x' has no fields: its elements are not structs"));
  EXPECT_THAT(error("{ float x; int id; }", "#pragma tuner fill x.id = iota\n#pragma tuner fill x.id = iota\n"),
              HasSubstr("8:"));
  EXPECT_THAT(error("{ float x; int id; }", "#pragma tuner fill x = file \"s\"\n#pragma tuner fill x.id = iota\n"),
              HasSubstr("8:20: all fields of 'x' are filled from 's'"));
  EXPECT_THAT(error("{ float x; int id; }", "#pragma tuner fill x.id = expression 0.5 * i\n"),
              HasSubstr("'x.id' has elements of int, which can be filled with integers only"));
}

/// A kernel with the struct `Fields f` by value, defined by \p text. \p scalar: the directive.
std::string step_with(const std::string& scalar, const std::string& text, const std::string& x = "x[n] : float") {
  return "#pragma tuner kernel    step\n#pragma tuner size n = 1000\n#pragma tuner parameter block_size_x = 32 64\n"
         "#pragma tuner inout    " +
         x + "\n#pragma tuner in v[n]\n#pragma tuner scratch part[n] : int\n#pragma tuner grid n\n" + scalar +
         "\n#pragma tuner default block_size_x=32\n#pragma tuner reference default\n" + text +
         "__global__ void step(Fields f) { int i = blockIdx.x * block_size_x; }\n";
}
constexpr const char* kFields = "struct Fields { float *__restrict__ x; const float* v, *w; int n; void* part; };\n";

TEST(Records, ByValueHoldPointersToBuffers) {
  struct Inner {
    const float *v, *w;
    short id;
  };
  struct Fields {
    char c;
    float* x[2];
    Inner in;
    int** all;
  };
  const KernelSpec spec = parse(
      step_with("#pragma tuner scalar f = { 1, { x, nullptr }, { v, 0, 7 }, part }",
                "typedef float real;\nstruct Inner { const real *v, *w; short id; };\n"
                "class Fields { public: char c; float* x[2]; Inner in; int** all; float* get() { return x[0]; } };\n"));
  const ScalarSpec& f = *spec.find_scalar("f");
  std::string all;
  for (const RecordField& field : f.record->fields)
    all += field.name + ' ' + std::to_string(field.offset) + ' ' + field.pointer + ", ";
  EXPECT_EQ(all, "c 0 , x " + std::to_string(offsetof(Fields, x)) + " float*, in.v " +
                     std::to_string(offsetof(Fields, in)) + " float const*, in.w " +
                     std::to_string(offsetof(Fields, in) + offsetof(Inner, w)) + " float const*, in.id " +
                     std::to_string(offsetof(Fields, in) + offsetof(Inner, id)) + " , all " +
                     std::to_string(offsetof(Fields, all)) + " int**, ");
  EXPECT_EQ(f.record->bytes, sizeof(Fields));
  EXPECT_EQ(f.values[1].address, "x");
  EXPECT_EQ(f.values[2].address, "nullptr");
  EXPECT_EQ(f.values[4], 0);
  EXPECT_EQ(spec.find_buffer("v")->type, "float") << "the type of what the pointer leads to";
  EXPECT_EQ(spec.taken_by(spec.launches[0]), (std::vector<std::string>{"f", "x", "v", "part"}));
}

TEST(Records, ByValueMayBeWrittenWithPointers) {
  const KernelSpec spec = parse(step_with("#pragma tuner scalar f : { float* x; const float* v; int n; } = { x, v, n }",
                                          "", "x[n] : float\n#pragma tuner in u[n] : float"));
  EXPECT_EQ(spec.find_scalar("f")->record->bytes, 24u);
  EXPECT_EQ(spec.find_buffer("v")->type, "float");
}

TEST(Records, SayWhichPointersAreWrongAndWhere) {
  const auto error = [](const std::string& values, const std::string& x = "x[n] : float") {
    return error_of([&] { parse(step_with("#pragma tuner scalar f = { " + values + " }", kFields, x)); });
  };
  EXPECT_EQ(error("x, v, nullptr, n, part"), "no error");
  EXPECT_EQ(error("x, v, 0, n, x"), "no error") << "a void* leads to anything";
  EXPECT_THAT(error("x, v, v, x, part"), HasSubstr("8:37: 'f.n' is a number, but 'x' is a buffer"));
  EXPECT_THAT(error("x, v, v, nullptr, part"), HasSubstr("8:37: 'f.n' is a number, but 'nullptr' is a pointer"));
  EXPECT_THAT(error("x, v, 1, n, part"),
              HasSubstr("8:34: 'f.w' is a pointer ('float const*'): give the name of a buffer, or 'nullptr'"));
  EXPECT_THAT(error("x, v, n, n, part"), HasSubstr("8:34: 'f.w' is a pointer"));
  EXPECT_THAT(error("x, v, w, n, part"), HasSubstr("8:34: unknown buffer 'w'"));
  EXPECT_THAT(error("x, v, v"), HasSubstr("'f' is a struct of 5 numbers and pointers, but has 3"));
  EXPECT_THAT(error("x, v, v, n, part", "x[n] : double"),
              HasSubstr("8:28: 'x' is declared as a buffer of double, but 'f.x' is float*"));
  EXPECT_THAT(error_of([] { parse(move_with(" : { float* p; int id; }")); }),
              HasSubstr("4:31: the elements of a buffer hold no pointers"));
}

TEST(Records, MayHoldADim3) {
  const KernelSpec spec = parse(move_with("", "struct Star { dim3 at; float weight; };\n"));
  ASSERT_TRUE(spec.find_buffer("x")->record);
  EXPECT_EQ(spec.find_buffer("x")->record->bytes, 16u);
  EXPECT_EQ(spec.find_buffer("x")->record->fields[0].count, 3);
}

TEST(Records, SayThatATemplateMakesTheirType) {
  const std::string text = "template <typename T> struct Any { T s; int id; };\nusing Star = Any<float>;\n";
  EXPECT_THAT(error_of([&] { parse(move_with("", text)); }),
              HasSubstr("'Star', the type that 'move' has for it, is made by a template, which is not read"));
}

TEST(Records, OfPointersAreWhatAPreparingLaunchChanges) {
  const std::string prepare = "\n#pragma tuner prepare clear\n#pragma tuner arguments f";
  const std::string text = "__global__ void clear(Fields f) {}\n";
  const KernelSpec spec = parse(step_with("#pragma tuner scalar f = { x, v, v, n, 0 }" + prepare, kFields + text));
  EXPECT_EQ(spec.prepare[0].block[0].evaluate_integer({}), 256) << "one thread for each element of x";
  EXPECT_THAT(
      error_of([&] { parse(step_with("#pragma tuner scalar f = { x, v, v, n, part }" + prepare, kFields + text)); }),
      HasSubstr("'part' is work space, which no served call prepares"));
}

TEST(KernelSpecRecord, IsReadThroughAGridConstant) {
  const KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel    k
#pragma tuner size      n = 64
#pragma tuner parameter tile = 32
#pragma tuner out       y[n] : float
#pragma tuner scalar    p = { y, n }
#pragma tuner grid      1
#pragma tuner block     tile
#pragma tuner reference default
#pragma tuner default   tile=32
struct Params { float* y; int n; };
__global__ void k(const __grid_constant__ Params p) {}
)",
                                            "k.cu");
  ASSERT_TRUE(spec.scalars.at(0).record);
  EXPECT_EQ(spec.scalars.at(0).record->bytes, 16U);
}

}  // namespace
}  // namespace tuner
