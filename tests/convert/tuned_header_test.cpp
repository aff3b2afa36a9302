// The header of a tuning.

#include <cstdlib>

#include <tests/support/stored_tuning.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/convert/tuned_header.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

TunedSize row_of(std::int64_t n, int sm_count, const std::string& configuration,
                 const std::string& choices = "T=float") {
  const cache::SessionKey key = test::key_of(n, sm_count, choices);
  return {key.device, key.problem, Configuration::parse(configuration), 1500};
}

TunedResults sample(std::vector<TunedSize> rows) {
  TunedResults results;
  results.kernel = test::key_of(1).kernel;
  results.rows = std::move(rows);
  return results;
}

/// Compiles \p program, which includes \p header as "tuned.hpp", and runs it. Returns its exit code.
int run(const std::string& header, const std::string& program) {
  const testing::TemporaryFolder folder;
  folder.write("tuned.hpp", header);
  const std::string source = folder.write("main.cpp", "#include \"tuned.hpp\"\n#include \"tuned.hpp\"\n" + program);
  const std::string binary = (folder / "main").string();
  const std::string command = std::string(TUNER_CXX) +
                              " -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror " + source + " -o " +
                              binary;
  if (std::system(command.c_str()) != 0) return -1;
  const int status = std::system(binary.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

TEST(TunedHeader, DispatchesByDeviceAndSize) {
  const std::string text = header_text(
      sample({row_of(1024, 108, "block=32 fast=true mode=loop"), row_of(1024, 132, "block=64 fast=false mode=loop"),
              row_of(1 << 20, 132, "block=256 fast=true mode=tree")}),
      {.default_configuration = Configuration::parse("block=1 fast=false mode=loop")});
  EXPECT_EQ(run(text, R"(
template <int block, bool fast, tuned::axpy::mode_values mode>
int kernel(int n) { return block + (fast ? 1000 : 0) + (mode == tuned::axpy::mode_values::tree ? 5000 : 0) + n; }
int call(tuned::axpy::Device device, long long n) {
  return tuned::axpy::dispatch(device, {n}, [](auto chosen) {
    using C = decltype(chosen);
    return kernel<C::block, C::fast, C::mode>(0);
  });
}
int main() {
  if (call({90, 132}, 1024) != 64) return 1;          // as measured
  if (call({90, 132}, 5000) != 64) return 2;          // nearer to the small one
  if (call({90, 132}, 500000) != 6256) return 3;      // nearer to the large one
  if (call({90, 110}, 500000) != 1032) return 4;      // the device with 108 is nearest
  if (call({80, 108}, 1024) != 1) return 5;           // another architecture: the default
  if (call({90, 132}, 0) != 64) return 6;
  static_assert(tuned::axpy::configurations[tuned::axpy::default_configuration].block == 1);
  return tuned::axpy::configurations[tuned::axpy::choose(tuned::axpy::Problem::T_float, {90, 132}, {1024})].block == 64 ? 0 : 7;
})"),
            0)
      << text;
}

TEST(TunedHeader, KeepsChoicesApartAndInstantiatesOnlyWhatTheyNeed) {
  const std::string text =
      header_text(sample({row_of(1024, 132, "block=64", "T=double"), row_of(1024, 132, "block=128", "T=float"),
                          row_of(4096, 132, "block=256", "T=float")}));
  EXPECT_EQ(run(text, R"(
template <class T> int f(long long n) {
  using namespace tuned::axpy;
  constexpr Problem problem = sizeof(T) == 8 ? Problem::T_double : Problem::T_float;
  return dispatch<problem>({90, 132}, {n}, [](auto chosen) {
    static_assert(sizeof(T) != 8 || decltype(chosen)::block == 64);
    return decltype(chosen)::block;
  });
}
int main() { return f<double>(4096) == 64 && f<float>(1) == 128 && f<float>(1000000) == 256 ? 0 : 1; })"),
            0)
      << text;
}

TEST(TunedHeader, TellsDevicesOfAsManyMultiprocessorsApartByTheirL2) {
  TunedSize other = row_of(1024, 132, "block=128");
  other.device.key += " l2";
  other.device.l2_bytes = 60 << 20;
  const std::string text = header_text(sample({row_of(1024, 132, "block=64"), other}));
  EXPECT_EQ(run(text, R"(
int call(tuned::axpy::Device device) {
  return tuned::axpy::dispatch(device, {1024}, [](auto chosen) { return decltype(chosen)::block; });
}
int main() { return call({90, 132, 60 << 20}) == 128 && call({90, 132, 50 << 20}) == 64 && call({90, 132}) == 64 ? 0 : 1; })"),
            0);
}

TEST(TunedHeader, HasTheRuleOfSizesTunedTogetherAsAFunctionAndChoosesByIt) {
  const std::string rule =
      "n=1000..1048576; n<65536: block=64; n<200000: block=96; else: block=256; between 0.004 0.001 0.011 0.032 28";
  std::vector<TunedSize> rows{row_of(1000, 132, "block=64"), row_of(131072, 132, "block=128"),
                              row_of(1 << 20, 132, "block=256"), row_of(1000, 108, "block=512")};
  for (TunedSize& row : rows)
    if (row.device.sm_count == 132) row.rule = rule;
  rows[1].rule.clear();  // tuned by itself later, as was every size of block=96
  const std::string text = header_text(sample(rows));
  EXPECT_THAT(text, Holds("The rule for T=float on GPU of 132", "0.4% slower than the best"));
  EXPECT_EQ(run(text, R"(
using namespace tuned::axpy;
static_assert(configurations[rule_T_float({1001})].block == 64);
static_assert(configurations[rule_T_float({65535})].block == 64);
static_assert(configurations[rule_T_float({500000})].block == 256);
static_assert(rule_T_float({2000000}) == -1 && rule_T_float({100000}) == -1);
int call(Device device, long long n) {
  return dispatch(device, {n}, [](auto chosen) { return decltype(chosen)::block; });
}
int main() {
  if (call({90, 132}, 65000) != 64) return 1;
  if (call({90, 132}, 131072) != 128) return 2;   // measured
  if (call({90, 132}, 131073) != 128) return 3;   // the rule has no choice there
  if (call({90, 132}, 400000) != 256) return 4;
  if (call({90, 132}, 2000000) != 256) return 5;  // outside of its range: the nearest size
  return call({90, 108}, 65000) == 512 ? 0 : 6;   // another device
})"),
            0)
      << text;
}

TEST(TunedHeader, KnowsAMeasuredProblemOfThreeSizes) {
  std::vector<TunedSize> rows{row_of(1, 132, "block=64"), row_of(1, 132, "block=128"), row_of(1, 132, "block=256")};
  rows[0].problem.sizes = {{"k", 1000}, {"m", 1000}, {"n", 1000}};
  rows[1].problem.sizes = {{"k", 1536}, {"m", 1536}, {"n", 1536}};
  rows[2].problem.sizes = {{"k", 2000}, {"m", 2000}, {"n", 2000}};
  for (const int of_rule : {0, 2})
    rows[of_rule].rule = "k=1000..2000 m=1000..2000 n=1000..2000; n<1600: block=64; else: block=256; between 0 0 0 0 0";
  const std::string text = header_text(sample(rows));
  EXPECT_EQ(run(text, R"(
using namespace tuned::axpy;
int call(long long n) {
  return dispatch({90, 132}, {n, n, n}, [](auto chosen) { return decltype(chosen)::block; });
}
int main() { return call(1536) == 128 && call(1537) == 64 ? 0 : 1; })"),
            0)
      << text;
}

TEST(TunedHeader, MakesNamesOfCppOfWhateverIsThere) {
  TunedSize row = row_of(7, 132, "class=3 index=4 wide=5000000000 kind=a-b", "operation=2x order=\xC3\xA9\\");
  row.problem.sizes = {{"default", 0}, {"n", 12}};
  const std::string text = header_text(sample({row}));
  EXPECT_EQ(run(text, R"(
int main() {
  return tuned::axpy::dispatch({90, 132}, {0, 12}, [](auto chosen) {
    using C = decltype(chosen);
    return C::class_ == 3 && C::index_2 == 4 && C::wide == 5000000000 && C::kind == tuned::axpy::kind_values::a_b ? 0 : 1;
  });
})"),
            0)
      << text;
}

TEST(TunedHeader, NamesNothingWithAWordThatCppOrTheHeaderNeeds) {
  std::string configuration = "kind_values=1 kind=a kindness=NULL";
  for (const char* word : {"alignas",
                           "alignof",
                           "and",
                           "and_eq",
                           "asm",
                           "auto",
                           "bitand",
                           "bitor",
                           "bool",
                           "case",
                           "char8_t",
                           "char16_t",
                           "char32_t",
                           "class",
                           "co_await",
                           "co_return",
                           "co_yield",
                           "compl",
                           "concept",
                           "const_cast",
                           "consteval",
                           "constinit",
                           "default",
                           "delete",
                           "dynamic_cast",
                           "not",
                           "not_eq",
                           "operator",
                           "or",
                           "or_eq",
                           "requires",
                           "reinterpret_cast",
                           "static_assert",
                           "static_cast",
                           "thread_local",
                           "wchar_t",
                           "while",
                           "xor",
                           "xor_eq",
                           "NULL",
                           "INFINITY",
                           "NAN",
                           "M_PI",
                           "HUGE_VAL",
                           "FP_NAN",
                           "Configuration",
                           "configurations",
                           "configuration",
                           "Chosen",
                           "choose",
                           "rows",
                           "Row",
                           "Problem",
                           "Device",
                           "Size",
                           "dispatch",
                           "index",
                           "log2_of",
                           "launch",
                           "std",
                           "tuned",
                           "linux"})
    configuration += std::string(" ") + word + "=3";
  TunedSize row = row_of(7, 132, configuration, "operation=xor");
  row.problem.sizes = {{"Size", 1}, {"long", 2}, {"Problem", 3}};
  TunedResults results = sample({row});
  results.kernel.name = "std";
  const std::string text = header_text(results);
  EXPECT_EQ(run(text, R"(
int main() {
  return tuned::std_2::dispatch({90, 132}, {1, 3, 2}, [](auto chosen) {
    using C = decltype(chosen);
    return C::static_assert_ == 3 && C::Configuration_2 == 3 && C::kind == tuned::std_2::kind_values::a && C::kind_values_2 == 1 ? 0 : 1;
  });
})"),
            0)
      << text;
}

TEST(TunedHeader, HoldsNoCodeOfTheTextsThatItRemarks) {
  TunedSize row = row_of(7, 132, "block=3", "T=float\n#error choices");
  row.device.name = "GPU\n#error device";
  row.problem.sizes = {{"n\n#error size", 12}};
  TunedResults results = sample({row});
  results.kernel.name = "axpy\n#error kernel \\";
  results.kernel.source_hash = "\n#error source";
  EXPECT_EQ(run(header_text(results), "int main() { return 0; }"), 0);
}

TEST(TunedHeader, HasNumbersWithAPointAsNumbers) {
  const std::string text =
      header_text(sample({row_of(7, 132, "step=0.5 wide=1e-05"), row_of(9000, 132, "step=2.0 wide=-1.5")}));
  EXPECT_EQ(run(text, R"(
int main() {
  return tuned::axpy::dispatch({90, 132}, {7}, [](auto chosen) {
    using C = decltype(chosen);
    return C::step * 4 == 2 && C::wide == 1e-5 ? 0 : 1;
  });
})"),
            0)
      << text;
}

TEST(TunedHeader, IsTheSameTextEachTimeAndSaysHowToCallIt) {
  const TunedResults results = sample({row_of(1024, 132, "block=64")});
  const std::string text = header_text(results, {.remark = "n % 4 == 0"});
  EXPECT_EQ(text, header_text(results, {.remark = "n % 4 == 0"}));
  EXPECT_THAT(text, StartsWith(kHeaderMark));
  EXPECT_THAT(
      text,
      Holds("axpy<...><<<grid, block, 0, stream>>>(...);  // with C::block, in the order of the kernel's template",
            "// n % 4 == 0\n", "// GPU of 132 n=1024: 1.5"));
  EXPECT_THAT(text, Not(HasSubstr("\t")));
}

TEST(TunedHeader, RefusesConfigurationsThatDoNotBelongTogether) {
  const TunedResults mixed = sample({row_of(1024, 132, "block=64"), row_of(2048, 132, "tile=64")});
  EXPECT_THAT(error_of([&] { header_text(mixed); }), HasSubstr("different parameters"));
  TunedResults sizes = sample({row_of(1024, 132, "block=64"), row_of(2048, 132, "block=64")});
  sizes.rows[1].problem.sizes = {{"m", 1}};
  EXPECT_THAT(error_of([&] { header_text(sizes); }), HasSubstr("different sizes"));
}

}  // namespace
}  // namespace tuner::convert
