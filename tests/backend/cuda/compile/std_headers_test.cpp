/// What NVRTC gets of the C++ library: functions compute the same as the library's, and programs specialise its
/// templates.

#include <tests/backend/cuda/nvrtc_fixture.hpp>
#include <tests/support/tile_kernel.hpp>

namespace tuner::cuda {
namespace {

class StdHeadersTest : public NvrtcTest {
 protected:
  CompileRequest request(const std::string& source, const std::string& architecture = "sm_80") {
    return {source, "mine.cu", {"k"}, {}, architecture};
  }
  /// NVRTC's error for \p source and an empty kernel; empty: it compiles.
  std::string why_not(const std::string& source) {
    const CompileResult result = compiler_->compile(request(source + "\n__global__ void k() {}\n"));
    const auto* const error = std::get_if<CompileError>(&result);
    return error != nullptr ? error->message + '\n' + error->log : "";
  }
};

/// Without it, each configuration of a kernel that includes one of them would be compiled twice.
TEST_F(StdHeadersTest, CompileInTheFirstAttempt) {
  const auto compiler = counting_compiler();
  for (const char* const name : {"algorithm", "array", "cmath", "functional", "iterator", "limits", "numeric", "tuple",
                                 "type_traits", "utility"}) {
    calls_ = 0;
    image(compiler->compile(request("#include <" + std::string(name) + ">\n__global__ void k() {}\n")));
    EXPECT_EQ(calls_, 1) << name;
  }
}

TEST_F(StdHeadersTest, ComputeWhatTheLibraryDoes) {
  EXPECT_EQ(why_not(R"(
    #include <algorithm>
    #include <iterator>
    #include <numeric>
    constexpr int list[] = {3, 1, 2, 5, 4};
    static_assert(std::max({1, 7, 3}) == 7 && std::min({4, 2, 3}) == 2 && std::max({1, 2}, [](int a, int b) { return a > b; }) == 1);
    static_assert(std::minmax({3, 1, 2}).second == 3 && std::minmax(2, 1).first == 1 && std::clamp(5, 0, 3) == 3);
    static_assert(std::gcd(12, -18) == 6 && std::lcm(4, 6) == 12 && std::gcd(0u, 5u) == 5 && std::midpoint(5, 2) == 4);
    static_assert(std::accumulate(std::begin(list), std::end(list), 0) == 15 && std::size(list) == 5 && !std::empty(list));
    static_assert(*std::data(list) == 3 && *std::next(std::cbegin(list)) == 1 && std::distance(list, list + 5) == 5);
    static_assert(*std::max_element(list, list + 5) == 5 && std::min_element(list, list + 5) == list + 1);
    static_assert(std::count_if(list, list + 5, [](int x) { return x > 2; }) == 3 && std::count(list, list + 5, 2) == 1);
    static_assert(std::find(list, list + 5, 9) == list + 5 && std::any_of(list, list + 5, [](int x) { return x == 5; }));
    static_assert(std::inner_product(list, list + 5, list, 0) == 55 && std::equal(list, list + 5, list));
    struct Values { int v[6]; };
    constexpr bool sorts(Values a, int n) {
      Values b = a;
      std::sort(a.v, a.v + n);
      std::stable_sort(b.v, b.v + n, [](int x, int y) { return x > y; });
      std::reverse(b.v, b.v + n);
      return std::is_sorted(a.v, a.v + n) && std::equal(a.v, a.v + n, b.v) && std::binary_search(a.v, a.v + n, a.v[n - 1]);
    }
    static_assert(sorts({1}, 1) && sorts({2, 1}, 2) && sorts({3, 1, 2}, 3) && sorts({5, 5, 1, 3}, 4) && sorts({6, 5, 4, 3, 2, 1}, 6));
    constexpr int moved() {
      int a[4] = {1, 2, 3, 4}, sums[4] = {};
      std::rotate(a, a + 1, a + 4);                 // 2 3 4 1
      std::partial_sum(a, a + 4, sums);             // 2 5 9 10
      std::exclusive_scan(sums, sums + 4, a, 0);    // 0 2 7 16
      std::transform(a, a + 4, sums, sums, [](int x, int y) { return x + y; });
      return sums[3] * 100 + *std::rbegin(a) + (std::remove(a, a + 4, 7) - a);
    }
    static_assert(moved() == 2600 + 16 + 3);
  )"),
            "");
}

TEST_F(StdHeadersTest, GiveArraysTuplesPairsAndFunctionObjects) {
  EXPECT_EQ(why_not(R"(
    #include <array>
    #include <cstddef>
    #include <functional>
    #include <tuple>
    using namespace std;
    struct P { int x, y; };
    static_assert(get<1>(make_tuple(1, 2.5, 'c')) == 2.5 && tuple_size_v<tuple<int, int>> == 2 && get<double>(tuple<int, double>(1, 2)) == 2);
    static_assert(apply([](int a, int b) { return a + b; }, make_tuple(1, 2)) == 3 && make_tuple(1, 2) < make_tuple(1, 3));
    static_assert(tuple_cat(make_tuple(1), make_tuple(2, 3), make_tuple()) == make_tuple(1, 2, 3) && tuple(1, 2) == tuple(pair(1, 2)));
    static_assert(get<0>(pair<int, float>{1, 2}) == 1 && pair(1, 2) < pair(1, 3) && pair<double, long>(pair<int, int>(1, 2)).second == 2);
    static_assert(is_same_v<tuple_element_t<1, const tuple<int, float>>, const float> && get<1>(array{1, 2, 3}) == 2);
    static_assert(invoke(&P::y, P{1, 2}) == 2 && not_fn([](int x) { return x > 0; })(-1) && plus<>()(1, 2.5) == 3.5 && less<int>()(1, 2));
    static_assert(to_integer<int>(byte{3} | byte{4}) == 7 && hash<int>()(3) == 3 && equal_to<>()(1, 1L));
    constexpr float unpacked() {
      float f = 0;
      int k = 0;
      tie(f, k) = make_tuple(2, 3);
      tie(ignore, k) = make_pair(3, 4);
      auto [a, b] = make_tuple(1, 2.0f);
      const auto& [c, d] = pair<int, int>(5, 6);
      array<float, 3> v{f, 0, 0};
      auto [x, y, z] = v;
      swap(a, k);
      for (float one : v) f += one;
      return f * 1000 + a * 100 + k * 10 + b + c + d + x + y + z;
    }
    static_assert(unpacked() == 4000 + 400 + 10 + 2 + 11 + 2);
    static_assert(sizeof(array<char, 3>) == 3 && is_trivially_copyable_v<array<int, 4>> && array<int, 2>{1, 2} == array<int, 2>{1, 2});
  )"),
            "");
}

TEST_F(StdHeadersTest, MayBeSpecialisedByPrograms) {
  EXPECT_EQ(why_not(R"(
    #include <functional>
    #include <iterator>
    #include <limits>
    #include <tuple>
    #include <cuda_fp16.h>
    struct P { int x, y; };
    template <class T> struct Point { T x, y; };
    struct Steps;
    namespace std {
    template <class T> struct hash<Point<T>> { size_t operator()(const Point<T>& p) const { return hash<T>()(p.x); } };
    template <> struct hash<P> { size_t operator()(P p) const { return p.x; } };
    template <> struct less<P> { __device__ constexpr bool operator()(P a, P b) const { return a.x < b.x; } };
    template <> struct plus<P> { __device__ constexpr P operator()(P a, P b) const { return {a.x + b.x, 0}; } };
    template <> struct tuple_size<P> : integral_constant<size_t, 2> {};
    template <size_t i> struct tuple_element<i, P> { using type = int; };
    template <size_t i> __device__ constexpr int get(const P& p) { return i == 0 ? p.x : p.y; }
    template <> struct numeric_limits<P> { static constexpr bool is_specialized = true; };
    template <> struct numeric_limits<__half> { static constexpr int mine = 1; };
    template <> struct iterator_traits<Steps> { using value_type = int; };
    template <> struct is_arithmetic<__half> : true_type {};
    template <> struct common_type<P, int> { using type = P; };
    __device__ void swap(P& a, P& b) { b = a; }
    }
    __device__ int first() { auto [x, y] = P{1, 2}; return x + y + std::numeric_limits<__half>::mine; }
    static_assert(std::less<P>()({1, 2}, {2, 0}) && std::numeric_limits<P>::is_specialized);
  )"),
            "");
}

TEST_F(StdHeadersTest, KnowTheLimitsOfNumbers) {
  EXPECT_EQ(why_not(R"(
    #include <limits>
    #include <cuda_bf16.h>
    #include <cuda_fp16.h>
    using F = std::numeric_limits<float>;
    using D = std::numeric_limits<const double>;
    using H = std::numeric_limits<__half>;
    using B = std::numeric_limits<__nv_bfloat16>;
    static_assert(F::max() == 3.402823466e38f && F::lowest() == -F::max() && F::min() == 1.17549435e-38f && F::epsilon() == 1.1920928955078125e-07f);
    static_assert(D::max() == 1.7976931348623157e308 && D::min() == 2.2250738585072014e-308 && D::epsilon() == 2.2204460492503131e-16);
    static_assert(F::denorm_min() > 0 && F::denorm_min() < F::min() && F::round_error() == 0.5f && F::infinity() > F::max() && F::quiet_NaN() != F::quiet_NaN());
    static_assert(F::digits == 24 && F::digits10 == 6 && F::max_digits10 == 9 && F::max_exponent == 128 && F::min_exponent == -125);
    static_assert(F::max_exponent10 == 38 && F::min_exponent10 == -37 && D::digits10 == 15 && D::max_digits10 == 17 && D::min_exponent10 == -307);
    static_assert(std::numeric_limits<int>::min() == -2147483647 - 1 && std::numeric_limits<unsigned char>::max() == 255);
    static_assert(std::numeric_limits<long>::digits10 == 18 && std::numeric_limits<bool>::digits == 1 && std::numeric_limits<char>::is_signed);
    static_assert(H::digits == 11 && H::max_exponent == 16 && B::digits == 8 && !std::numeric_limits<float4>::is_specialized);
    __device__ float all() { return float(H::max()) + float(H::lowest()) + float(H::infinity()) + float(B::epsilon()) + float(H::quiet_NaN()); }
  )"),
            "");
}

TEST_F(StdHeadersTest, TakeIntegersAsDoubles) {
  for (const std::string name :
       {"acos", "asinh", "cbrt", "cosh", "erf", "expm1", "log1p", "rint", "sqrt", "tgamma", "trunc"})
    EXPECT_EQ(why_not("#include <cmath>\n__device__ double d(int x) { return std::" + name + "(x) + std::" + name +
                      "(1.5f) + " + name + "(2.5) + std::fdim(x, 1) + std::pow(x, 0.5f); }\n"),
              "")
        << name;
}

TEST_F(StdHeadersTest, AskNumbers) {
  EXPECT_EQ(why_not("#include <cmath>\n__device__ bool asked(float x, double y) { return std::isnormal(x) && "
                    "std::isnormal(y) && std::isunordered(x, x) && std::isless(y, 1.0); }\n"),
            "");
}

TEST_F(StdHeadersTest, KnowTypes) {
  EXPECT_EQ(why_not(R"(
    #include <cstddef>
    #include <type_traits>
    enum class Color : short { red };
    struct P { int x; int f(); };
    static_assert(std::is_same_v<std::make_unsigned_t<Color>, unsigned short> && std::is_same_v<std::make_signed_t<unsigned long long>, long long>);
    static_assert(std::is_same_v<std::make_unsigned_t<const char>, const unsigned char> && std::is_same_v<std::make_signed_t<int>, int>);
    static_assert(std::rank_v<int[3][4]> == 2 && std::extent_v<int[3][4], 1> == 4 && std::is_function_v<int(int)> && !std::is_function_v<int>);
    static_assert(std::is_member_function_pointer_v<decltype(&P::f)> && std::is_member_object_pointer_v<decltype(&P::x)>);
    static_assert(std::is_aggregate_v<P> && std::is_destructible_v<P> && std::is_invocable_r_v<float, int (*)(int), int> && std::is_scoped_enum_v<Color>);
    static_assert(std::is_nothrow_move_constructible_v<P> && std::is_trivially_constructible_v<P> && std::is_object_v<P> && std::negation_v<std::is_void<P>>);
    static_assert(std::is_same_v<std::remove_all_extents_t<int[2][3]>, int> && std::is_same_v<std::add_cv_t<int>, const volatile int>);
    static_assert(std::alignment_of_v<double2> == 16 && std::is_volatile_v<volatile int> && std::is_same_v<std::result_of_t<int (*(int))(int)>, int>);
  )"),
            "");
}

TEST_F(StdHeadersTest, StandBesideTheToolkitsOwn) {
  if (nvrtc().includes.empty()) GTEST_SKIP() << "no headers of a toolkit on this machine";
  EXPECT_EQ(why_not(R"(
    #include <complex>
    #include <optional>
    #include <variant>
    #include <array>
    #include <functional>
    #include <tuple>
    #include <cuda/std/array>
    #include <cuda/std/tuple>
    __device__ int both() {
      std::variant<int, float> v = 2;
      auto [a, b] = cuda::std::make_tuple(1, 2);
      auto [c, d] = std::make_tuple(1, std::optional<int>(3));
      return std::get<int>(v) + a + b + c + *d + std::get<0>(std::array<int, 1>{1}) + int(std::complex<float>(1, 2).real());
    }
  )"),
            "");
}

TEST_F(StdHeadersTest, LeaveTheNamesOfKernelsAlone) {
  for (const std::string name : {"fill", "reduce", "transform", "rotate", "size", "plus"}) {
    CompileRequest wanted = request(
        "#include <algorithm>\n#include <functional>\n#include <numeric>\nusing namespace std;\n"
        "__constant__ int count;\n__global__ void " +
        name + "(float* x, int n) { x[n] = max({1, n, 3}); }\n");
    wanted.expressions = {name, "&count"};
    EXPECT_EQ(error(compiler_->compile(wanted)), "") << name;
  }
}

TEST_F(StdHeadersTest, KnowProgrammaticLaunches) {
  const CompileRequest on_90 = request(
      "__global__ void k(int* x) { cudaGridDependencySynchronize(); *x = 1; cudaTriggerProgrammaticLaunchCompletion(); "
      "}",
      "sm_90");
  const auto ptx = compile_to_ptx(nvrtc(), on_90);
  ASSERT_TRUE(std::holds_alternative<std::string>(ptx)) << std::get<CompileError>(ptx).message;
  EXPECT_THAT(std::get<std::string>(ptx),
              AllOf(HasSubstr("griddepcontrol.wait"), HasSubstr("griddepcontrol.launch_dependents")));
  CompileRequest on_80 = on_90;
  on_80.architecture = "sm_80";
  EXPECT_EQ(error(compiler_->compile(on_80)), "");
}

TEST_F(StdHeadersTest, KnowTensorMapsHoweverTheyAreIncluded) {
  std::string text = testing::kCopyTiles;
  text.replace(text.find("NAME"), 4, "tiles");
  for (const char* const header : {"", "#include <cuda.h>\n", "#include <cudaTypedefs.h>\n",
                                   "#include <cuda/barrier>\n", "#include <cuda/barrier>\n#include <cuda.h>\n"}) {
    CompileRequest wanted = request(header + text, "sm_90");
    wanted.expressions = {"copy_tiles<64, 32, 128>"};
    EXPECT_EQ(error(compiler_->compile(wanted)), "") << header;
  }
  EXPECT_EQ(why_not("#include <cuda.h>\nstatic_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) >= 64);"), "");
}

}  // namespace
}  // namespace tuner::cuda
