/// A sample of the configurations of every built-in kernel (all values, all warp steps, all finishes) gives the
/// reference's result: at an odd size, and on the `verify` problems of the file (nothing, one element, odd sizes,
/// misaligned pointers). Built twice, for the host backend and for a GPU; see Subject.

#include <tests/support/testing.hpp>

#include "sample.hpp"
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>

namespace tuner {
namespace {

/// A sample of the configurations of a kernel.
struct KernelSample {
  const char* name;  ///< of the test
  const char* kernel;
  std::map<std::string, std::int64_t> sizes;
  std::size_t each;  ///< configurations for each of the choices, where the sample has all values
  std::uint64_t seed;
  std::vector<std::string> choices;      ///< each as "T=float operation=sum"
  std::vector<std::string> unreachable;  ///< values that no configuration has for these choices
};

void PrintTo(const KernelSample& sample, std::ostream* out) { *out << sample.name; }

/// Inputs of a reduction that reveal a lost or doubled element by operation: the default ones are all but certain to
/// hold the smallest value many times, and their product is soon zero.
void reveal(KernelSpec& spec, const ProblemSize& size) {
  const ElementTypeInfo& type = info(*element_type(size.choices.at("T")));
  const std::string& operation = size.choices.at("operation");
  Fill fill{Fill::Kind::uniform, 0, type.is_floating ? 1.0 : 100.0};
  if (operation == "product") {
    fill = type.is_floating ? Fill{Fill::Kind::uniform, 0.99, 1.01} : Fill{Fill::Kind::constant, 3, 3};  // 3^n mod 2^64
  } else if (operation != "sum" && type.bytes > 1) {
    fill.high = 30000;
  }
  for (BufferSpec& buffer : spec.buffers) {
    if (buffer.name == "x") buffer.fill = FillSpec{fill};
  }
}

ProblemSize problem(const KernelSpec& spec, const std::map<std::string, std::int64_t>& sizes,
                    const std::string& choices) {
  ProblemSize size{sizes, {}};
  const Configuration chosen = Configuration::parse(choices);
  for (const auto& [name, value] : chosen.entries()) size.choices[name] = value.text();
  return complete(spec, size);
}

class SampleOfConfigurations : public ::testing::TestWithParam<KernelSample> {
 protected:
  void SetUp() override {
    if (!subject_.backend) GTEST_SKIP() << subject_.why_not;
    if (const auto never = why_never(spec_, limits())) GTEST_SKIP() << spec_.name << ' ' << *never;
  }
  const DeviceLimits& limits() const { return subject_.backend->device().limits; }

  /// Picks configurations of \p spec for each of the choices, and expects them to be right.
  void expect_right(KernelSpec spec, std::int64_t n, std::size_t each) {
    auto sizes = GetParam().sizes;
    if (n > 0) sizes["n"] = n;
    for (const std::string& choices : GetParam().choices) {
      const ProblemSize size = problem(spec, sizes, choices);
      if (spec.name == "reduce") reveal(spec, size);
      const std::size_t count = std::max<std::size_t>(each * testing::sample_size() / testing::kAllValues, 1);
      testing::expect_right(*subject_.backend, spec, size, picker_.pick(spec, size, limits(), count));
      if (HasFatalFailure()) return;
    }
  }

  const testing::Subject subject_ = testing::subject();
  const KernelSpec spec_ = testing::built_in(GetParam().kernel);
  testing::Picker picker_{GetParam().seed};
};

TEST_P(SampleOfConfigurations, IsRightAndHasEveryValue) {
  expect_right(spec_, 0, GetParam().each);
  if (spec_.name == "blockReduce") {
    // On the host a grid of more blocks than there are cores cannot meet.
    KernelSpec meeting = spec_;
    std::vector<Constraint> constraints = spec_.space.constraints();
    constraints.push_back({"meets", Expression::parse("finish == grid_sync", {})});
    meeting.space = SearchSpace(spec_.space.parameters(), std::move(constraints));
    expect_right(meeting, 1001, 8);
  }
  if (testing::sample_size() >= testing::kAllValues) {  // a smaller one cannot promise it
    EXPECT_THAT(picker_.never_used(spec_.space), ::testing::UnorderedElementsAreArray(GetParam().unreachable));
  }
}

/// Two operations for each type, which take turns; order=any admits every finish.
std::vector<std::string> reductions(const std::vector<std::string>& types) {
  const std::vector<std::string> operations{"sum", "min", "max", "product"};
  std::vector<std::string> choices;
  for (std::size_t i = 0; i < types.size(); ++i)
    for (const std::size_t operation : {i % 4, (i + 1 + i / 4) % 4})
      choices.push_back("T=" + types[i] + " operation=" + operations[operation] + " order=any");
  return choices;
}

std::vector<KernelSample> samples() {
  std::vector<KernelSample> all;
  const auto add = [&all](const char* name, const char* kernel, const std::map<std::string, std::int64_t>& sizes,
                          std::size_t each, std::uint64_t seed, const std::vector<std::string>& choices,
                          const std::vector<std::string>& unreachable = {}) {
    all.push_back({name, kernel, sizes, each, seed, choices, unreachable});
  };
  const std::map<std::string, std::int64_t> n{{"n", 20011}};
  const std::vector<std::string> types{"T=int", "T=float", "T=double"};
  add("reduceOfFourBytes", "reduce", n, 12, 1, reductions({"int", "unsigned", "float"}));
  add("reduceOfEightBytes", "reduce", n, 12, 2, reductions({"int64", "uint64", "double"}),
      {"load_bytes=4", "warp_step=redux", "finish=counted"});
  add("reduceOfOneAndTwoBytes", "reduce", n, 12, 3, reductions({"int8", "uint8", "int16", "uint16"}),
      {"warp_step=redux", "finish=counted"});
  add("reduceOfHalfAndBfloat16", "reduce", n, 12, 4, reductions({"half", "bfloat16"}),
      {"warp_step=redux", "finish=counted"});
  add("sumMatrix2D", "sumMatrix2D", {{"nx", 257}, {"ny", 67}}, 68, 5, types);
  add("reduceClassic", "reduceClassic", n, 68, 6, types);
  add("serialSum", "serialSum", n, 9, 11, types);
  add("nestedReduce", "nestedReduce", n, 68, 9, types);
  add("nestedHello", "nestedHello", {{"blocks", 2}, {"threads", 512}, {"elements", 512}, {"deepest", 10}}, 2, 10,
      {"greetings=silent"});
  add("mathKernel", "mathKernel", {{"n", 1000}}, 6, 10,
      {"kernel=mathKernel1", "kernel=mathKernel2", "kernel=mathKernel3", "kernel=mathKernel3_two_ifs optimised=no"});
  add("warpReduce", "warpReduce", n, 52, 7,
      {"T=float operation=sum", "T=float operation=count", "T=int operation=sum", "T=int operation=count"});
  add("blockReduce", "blockReduce", n, 68, 9, types);
  add("prefixSum", "prefixSum", n, 52, 11,
      {"T=int form=inclusive", "T=int form=exclusive", "T=float form=exclusive", "T=double form=inclusive"});
  add("compact", "compact", n, 52, 12,
      {"T=float density=half", "T=int density=few", "T=int density=most", "T=double density=most"});
  add("histogram", "histogram", n, 52, 13,
      {"bins=256 keys=uniform", "bins=1024 keys=skewed", "bins=256 keys=equal", "bins=4096 keys=uniform"});
  add("warpDivergence", "warpDivergence", {{"n", 4099}, {"work", 29}}, 52, 8,
      {"T=float cause=condition", "T=double cause=condition", "T=float cause=trip_count", "T=double cause=trip_count",
       "T=float cause=condition optimised=no"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, SampleOfConfigurations, ::testing::ValuesIn(samples()),
                         [](const auto& sample) { return std::string(sample.param.name); });

}  // namespace
}  // namespace tuner
