#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include <tests/support/gpu_fixture.hpp>

#include <tuner/backend/element_value.hpp>

namespace tuner::cuda {
namespace {

class GpuMemory : public GpuTest {
 protected:
  template <typename T>
  static Comparison compared(const std::vector<T>& actual, const std::vector<T>& wanted, ElementType type,
                             const Tolerance& tolerance) {
    return backend().compare(uploaded(actual)->address(), uploaded(wanted)->address(), type, wanted.size(), tolerance);
  }
};

/// The elements of a fill, by the arithmetic of fill_value.hpp on this CPU, and one byte 0xa5 after them.
std::vector<unsigned char> filled(ElementType type, const Fill& fill, std::uint64_t seed, std::size_t count) {
  namespace f = fill_value;
  const bool iota = fill.kind == Fill::Kind::iota, constant = fill.kind == Fill::Kind::constant;
  std::vector<unsigned char> bytes(count * info(type).bytes + 1, 0xa5);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = iota       ? static_cast<double>(i)
                           : constant ? fill.low
                                      : f::uniform(seed, i, fill.low, fill.high);
      if constexpr (std::is_integral_v<T>) {
        const auto whole =
            std::is_signed_v<T> ? static_cast<std::uint64_t>(f::floor_signed(value)) : f::floor_unsigned(value);
        element = static_cast<T>(iota ? i : whole);
      } else if constexpr (std::is_floating_point_v<T>) {
        element = static_cast<T>(value);
      } else if constexpr (parts_of<T> > 1) {
        const auto one = [&](std::size_t k) {
          if (iota || constant) return static_cast<float>(iota ? static_cast<double>(k) : fill.low);
          return static_cast<float>(f::uniform(seed, k, fill.low, fill.high));
        };
        element = T::of(one(2 * i), one(2 * i + 1));
      } else {
        element = T::of(static_cast<float>(value));
      }
      std::memcpy(&bytes[i * sizeof element], &element, sizeof element);
    }
  });
  return bytes;
}

TEST_F(GpuMemory, FillsEveryTypeWithTheNumbersOfTheHost) {
  const Fill fills[] = {{Fill::Kind::uniform, 0, 1},       {Fill::Kind::uniform, -10, 10},
                        {Fill::Kind::uniform, 1e-9, 3e38}, {Fill::Kind::constant, -2.5, 0},
                        {Fill::Kind::iota, 0, 0},          {Fill::Kind::uniform, -6e-8, 6e-8},
                        {Fill::Kind::constant, 1e30, 0}};
  constexpr std::size_t kCount = 70001;
  const auto memory = backend().allocate(kCount * 8 + 8);
  for (const ElementTypeInfo& type : element_types()) {
    for (const Fill& fill : fills) {
      const std::vector<unsigned char> wanted = filled(type.type, fill, 42, kCount);
      backend().fill_bytes(memory->address(), 0xa5, wanted.size());
      backend().fill(memory->address(), type.type, kCount, fill, 42);
      const auto seen = contents<unsigned char>(memory->address(), wanted.size());
      const auto differs = std::mismatch(seen.begin(), seen.end(), wanted.begin()).first;
      EXPECT_EQ(differs, seen.end()) << type.name << " kind " << static_cast<int>(fill.kind) << " [" << fill.low << ", "
                                     << fill.high << ") byte " << differs - seen.begin();
    }
  }
}

TEST_F(GpuMemory, ComparesEqualArraysAsEqual) {
  const auto memory = backend().allocate(8 << 20);
  for (const ElementTypeInfo& type : element_types()) {
    const std::size_t count = (8 << 20) / type.bytes;
    backend().fill(memory->address(), type.type, count, {Fill::Kind::uniform, 0, 10}, 7);
    const Comparison same = backend().compare(memory->address(), memory->address(), type.type, count, {});
    EXPECT_EQ(same.mismatches, 0u) << type.name;
    EXPECT_EQ(same.largest_error, 0) << type.name;
  }
}

TEST_F(GpuMemory, FindsPlantedMismatches) {
  constexpr std::size_t kCount = 1'000'003;
  std::vector<float> wanted(kCount), actual(kCount);
  for (std::size_t i = 0; i < kCount; ++i) wanted[i] = actual[i] = static_cast<float>(i % 1000) + 1;
  actual[777'777] += 1;
  actual[123'457] *= 1.5f;
  actual[5] *= 1.00001f;  // within the tolerance
  const Comparison result = compared(actual, wanted, ElementType::float32, {1e-4, 0});
  EXPECT_EQ(result.mismatches, 2u);
  EXPECT_EQ(result.first_index, 123'457u);
  EXPECT_EQ(result.expected, wanted[123'457]);
  EXPECT_EQ(result.actual, actual[123'457]);
  EXPECT_NEAR(result.largest_error, 0.5, 1e-6);
}

TEST_F(GpuMemory, CountsNumbersThatAreOnePlaceOff) {
  constexpr std::size_t kCount = 100'003;
  std::vector<std::uint8_t> wanted(kCount), actual(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    wanted[i] = static_cast<std::uint8_t>(8 + i % 100 + (i % 2 == 0 ? 0x80 : 0));  // e4m3, of both signs
    actual[i] = static_cast<std::uint8_t>(wanted[i] - 1);
  }
  const Tolerance place{0x1p-3, 0x1p-9, true};
  const Comparison result = compared(actual, wanted, ElementType::e4m3, place);
  EXPECT_EQ(result.mismatches, 0u);
  EXPECT_EQ(result.off, kCount);
  EXPECT_EQ(result.nearer, kCount);
  EXPECT_EQ(result.less, kCount / 2);
  actual[54'321] = static_cast<std::uint8_t>(wanted[54'321] - 2);
  EXPECT_EQ(compared(actual, wanted, ElementType::e4m3, place).first_index, 54'321u);
  const std::vector<std::uint8_t> pairs{0x21, 0x43, 0x65}, others{0x21, 0x23, 0x77};
  const Comparison of_pairs = compared(others, pairs, ElementType::e2m1x2, {0.5, 0.5, true});
  EXPECT_EQ(of_pairs.mismatches, 2u) << "of the two numbers in each byte, one is two places off";
  EXPECT_EQ(of_pairs.first_index, 1u);
  EXPECT_EQ(of_pairs.actual, 1);
  EXPECT_EQ(of_pairs.expected, 2);
  EXPECT_EQ(of_pairs.off, 3u);
}

TEST_F(GpuMemory, NeverPassesNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> actual{1, nan, infinity, infinity, 2}, wanted{1, nan, infinity, -infinity, 2};
  const Comparison result = compared(actual, wanted, ElementType::float32, {1, 1e30});
  EXPECT_EQ(result.mismatches, 2u);
  EXPECT_EQ(result.first_index, 1u);
  EXPECT_TRUE(std::isnan(result.actual));
}

TEST_F(GpuMemory, ComparesIntegersExactlyWhateverTheTolerance) {
  const std::vector<std::int64_t> actual{1, (std::int64_t{1} << 60) + 1, 3}, wanted{1, std::int64_t{1} << 60, 3};
  const Comparison result = compared(actual, wanted, ElementType::int64, {1, 1e30});
  EXPECT_EQ(result.mismatches, 1u) << "the two differ by less than a double can say";
  EXPECT_EQ(result.first_index, 1u);
}

TEST_F(GpuMemory, FingerprintsChangeWithEveryByte) {
  constexpr std::size_t kBytes = 100'003;
  const auto memory = backend().allocate(kBytes);
  backend().fill(memory->address(), ElementType::uint8, kBytes, {Fill::Kind::uniform, 0, 256}, 3);
  const std::uint64_t whole = backend().fingerprint(memory->address(), kBytes);
  EXPECT_EQ(backend().fingerprint(memory->address(), kBytes), whole) << "it is deterministic";
  EXPECT_NE(backend().fingerprint(memory->address(), kBytes - 1), whole);
  EXPECT_NE(backend().fingerprint(memory->address() + 1, kBytes - 1), whole) << "and takes any alignment";
  for (const std::size_t at : {std::size_t{0}, std::size_t{50'001}, kBytes - 1}) {
    const auto byte = contents<unsigned char>(memory->address() + at, 1);
    const auto other = static_cast<unsigned char>(byte[0] ^ 1);
    backend().upload(memory->address() + at, &other, 1);
    EXPECT_NE(backend().fingerprint(memory->address(), kBytes), whole) << at;
    backend().upload(memory->address() + at, byte.data(), 1);
  }
  EXPECT_EQ(backend().fingerprint(memory->address(), kBytes), whole);
}

TEST_F(GpuMemory, NothingIsNothing) {
  const auto memory = backend().allocate(0);
  backend().fill(memory->address(), ElementType::float32, 0, {}, 1);
  backend().upload(memory->address(), nullptr, 0);
  backend().download(nullptr, memory->address(), 0);
  EXPECT_EQ(backend().compare(memory->address(), memory->address(), ElementType::float32, 0, {}).mismatches, 0u);
  EXPECT_EQ(backend().fingerprint(memory->address(), 0), 0u);
}

TEST_F(GpuMemory, SaysHowMuchIsFreeWhenThereIsNoRoom) {
  EXPECT_THAT(error_of([] { backend().allocate(std::size_t{1} << 60); }),
              HasSubstr("no room for 1152921504606846976 bytes"));
  EXPECT_TRUE(backend().usable());
}

TEST_F(GpuMemory, MayBeUsedByEveryThreadWhileAnotherSamples) {
  const auto own = make_cuda_backend();  // a new one, which has not loaded any kernel yet
  const auto compiled =
      own->compiler().compile({"__global__ void wait(long long cycles) { for (long long begin = clock64(); "
                               "clock64() < begin + cycles;) {} }",
                               "test.cu",
                               {"wait"},
                               {},
                               own->architecture()});
  const auto module = std::get<std::unique_ptr<Module>>(own->load(std::get<Image>(compiled)));
  std::atomic<bool> sampled = false;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    const Launch slow = launch(*module, 0, 1, 1, {Argument::of(20'000'000LL)});  // about 10 ms
    SampleRequest request;
    request.samples = 50;
    EXPECT_TRUE(std::holds_alternative<std::vector<Sample>>(own->sample({&slow, 1}, request)));
    sampled = true;
  });
  std::atomic<int> before_its_end = 0;
  for (unsigned char value = 1; value <= 4; ++value) {
    threads.emplace_back([&, value] {
      const std::vector<unsigned char> sent(100'000, value);
      for (int round = 0; round < 20; ++round) {
        const auto memory = own->allocate(sent.size());
        std::vector<unsigned char> received(sent.size());
        own->upload(memory->address(), sent.data(), sent.size());
        own->download(received.data(), memory->address(), received.size());
        EXPECT_EQ(received, sent);
        if (!sampled) ++before_its_end;
      }
      const auto memory = own->allocate(sent.size());
      own->fill_bytes(memory->address(), value, sent.size());
      std::vector<unsigned char> received(sent.size());
      own->download(received.data(), memory->address(), received.size());
      EXPECT_EQ(received, sent) << "a transfer follows the fill before it";
      EXPECT_EQ(own->fingerprint(memory->address(), sent.size()), own->fingerprint(memory->address(), sent.size()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(before_its_end, 0) << "transfers wait for no sampling";
}

TEST_F(GpuMemory, TellsPlacesWithoutTheFolderOfTheBuild) {
  const std::optional<CudaError> error = testing::thrown_by<CudaError>([&] { backend().upload(1, "x", 1); });
  ASSERT_TRUE(error.has_value()) << "written to address 1";
  EXPECT_THAT(error->place(), StartsWith("tuner/backend/cuda/cuda_backend.cpp:"));
}

}  // namespace
}  // namespace tuner::cuda
