// The functions for tuner's own kernels, on the host backend.

#include <limits>
#include <numeric>
#include <random>

#include <tuner/tuner.hpp>

#include <tests/support/in_threads.hpp>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

class HostReduce : public testing::ServingEnvironment {
 protected:
  HostReduce() : ServingEnvironment("host", "never") {}
};

TEST_F(HostReduce, ReducesAtAnyAlignmentAndLeavesTheInputAlone) {
  std::vector<float> values(4099, 1.0f);
  const std::vector<float> before = values;
  EXPECT_EQ(reduce(values.data() + 3, values.size() - 3), 4096.0f);
  EXPECT_EQ(values, before);
}

TEST_F(HostReduce, ReducesAnEmptyRangeToTheIdentity) {
  const int* const nothing = nullptr;
  EXPECT_EQ(reduce(nothing, 0), 0);
  EXPECT_EQ(reduce(nothing, 0, Operation::product), 1);
  EXPECT_EQ(reduce(nothing, 0, Operation::min), std::numeric_limits<int>::max());
  EXPECT_EQ(reduce(nothing, 0, Operation::max), std::numeric_limits<int>::min());
}

TEST_F(HostReduce, HasFourOperationsAndSumsSmallIntegersWithoutOverflow) {
  const std::vector<double> values{3, -7, 2, 5};
  const std::pair<Operation, double> cases[] = {
      {Operation::sum, 3}, {Operation::min, -7}, {Operation::max, 5}, {Operation::product, -210}};
  for (const auto& [operation, answer] : cases) EXPECT_EQ(reduce(values.data(), values.size(), operation), answer);
  const std::vector<std::int8_t> small(100'000, 127);
  EXPECT_EQ(reduce(small.data(), small.size()), std::int64_t{12'700'000});
  ReduceOptions options;
  options.order = Order::any;
  EXPECT_EQ(reduce(values.data(), values.size(), options), 3);
}

TEST_F(HostReduce, MakesNoRoomForAbsurdlyManyCaptures) {
  const std::vector<float> values(100, 1.0f);
  prepare_reduce(values.data(), values.size(), {}, 64);
  EXPECT_EQ(testing::code_of([&] { prepare_reduce(values.data(), values.size(), {}, static_cast<std::size_t>(-1)); }),
            ErrorCode::invalid_argument);
}

TEST_F(HostReduce, RefusesNullWhereThereAreElements) {
  const int* const nothing = nullptr;
  EXPECT_EQ(reduce(nothing, 0), 0);
  EXPECT_THAT(error_of([&] { (void)reduce(nothing, 5); }), HasSubstr("'x' is null, and the kernel reads 5 elements"));
  const std::vector<int> values(5, 1);
  EXPECT_EQ(reduce(values.data(), 5), 5);
  EXPECT_THAT(error_of([&] { (void)reduce(nothing, 5); }), HasSubstr("null")) << "warm";
  EXPECT_THAT(error_of([&] { reduce_async(values.data(), 5, static_cast<int*>(nullptr)); }), HasSubstr("'y' is null"));
}

TEST_F(HostReduce, WorksInTheCallersWorkSpaceWhateverItHolds) {
  std::vector<int> values(5000, 2);
  std::vector<std::byte> memory(reduce_workspace_bytes(values.data(), values.size()) + 256, std::byte{0x55});
  void* place = memory.data();
  std::size_t room = memory.size();
  ReduceOptions options;
  options.workspace = {std::align(256, room - 256, place, room), room};
  int sum = 0;
  reduce_async(values.data(), values.size(), &sum, options);
  EXPECT_EQ(sum, 10'000);
  options.workspace.bytes = 8;
  EXPECT_THAT(error_of([&] { reduce_async(values.data(), values.size(), &sum, options); }),
              HasSubstr("the call brings 8 bytes, 0 bytes after such a multiple"));
}

TEST_F(HostReduce, AddsUpRandomNumbersOfElementsAtRandomPlaces) {
  std::vector<int> values(70'000);
  std::iota(values.begin(), values.end(), -30'000);
  std::vector<long long> sums(values.size() + 1);
  std::partial_sum(values.begin(), values.end(), sums.begin() + 1, std::plus<long long>());
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const std::size_t first = random() % 1000, n = random() % 69'000;
    ASSERT_EQ(reduce(values.data() + first, n), static_cast<int>(sums[first + n] - sums[first])) << first << ' ' << n;
  }
}

TEST_F(HostReduce, ServesSeveralThreadsAtOnce) {
  std::vector<int> wrong(4, 0);
  testing::in_threads(4, [&](int t) {
    const std::vector<int> values(1000 + t, 1);
    for (int i = 0; i < 5; ++i) wrong[t] += reduce(values.data(), values.size()) != 1000 + t;
  });
  EXPECT_THAT(wrong, Each(0));
}

}  // namespace
}  // namespace tuner
