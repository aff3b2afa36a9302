// Fills, comparisons, fingerprints, samples, the device, half and bfloat16 arithmetic, and conversions to fp8.

#include <algorithm>
#include <cmath>
#include <limits>

#include <tuner/backend/fill_value.hpp>

#include <tests/support/in_threads.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

template <typename T>
DevicePointer at(std::vector<T>& data) {
  return reinterpret_cast<DevicePointer>(data.data());
}

// The numbers are a contract with every recorded result and every other backend: they must never change.
TEST(HostFill, GivesTheSameNumbersForEver) {
  std::vector<double> values(4);
  backend().fill(at(values), ElementType::float64, 4, {Fill::Kind::uniform, 0, 1}, 42);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(values[i], static_cast<double>(fill_value::splitmix64(42 ^ fill_value::splitmix64(i)) >> 11) * 0x1p-53);
    EXPECT_GE(values[i], 0);
    EXPECT_LT(values[i], 1);
  }
  EXPECT_EQ(fill_value::splitmix64(0), 0xe220a8397b1dcdafULL);  // the published first output of the generator
}

TEST(HostFill, RoundsIntegersDownAndStaysInRange) {
  std::vector<std::int8_t> values(10000);
  backend().fill(at(values), ElementType::int8, values.size(), {Fill::Kind::uniform, -3, 3}, 1);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -3);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 2);
}

TEST(HostFill, CountsAndRepeatsConstants) {
  std::vector<std::uint8_t> bytes(300);
  backend().fill(at(bytes), ElementType::uint8, 300, {Fill::Kind::iota, 0, 0}, 0);
  EXPECT_EQ(bytes[299], 299 % 256);
  std::vector<std::uint16_t> halves(2);
  backend().fill(at(halves), ElementType::half, 2, {Fill::Kind::constant, 1.5, 0}, 0);
  EXPECT_THAT(halves, Each(0x3e00));
  backend().fill(at(halves), ElementType::bfloat16, 2, {Fill::Kind::constant, -2, 0}, 0);
  EXPECT_THAT(halves, Each(0xc000));
}

TEST(HostCompare, FindsTheFirstMismatchAndTheLargestError) {
  std::vector<float> expected{1, 2, 4, 8}, actual{1, 2.0001f, 5, 9};
  const Comparison result = backend().compare(at(actual), at(expected), ElementType::float32, 4, {1e-3, 0});
  EXPECT_EQ(result.mismatches, 2u);
  EXPECT_EQ(result.first_index, 2u);
  EXPECT_EQ(result.actual, 5);
  EXPECT_EQ(result.expected, 4);
  EXPECT_EQ(result.largest_error, 0.25);
}

TEST(HostCompare, NeverAcceptsNaNAndWantsEqualInfinities) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> actual{nan, nan, 1, inf, inf, 1, -inf}, expected{nan, 1, nan, inf, 1, inf, inf};
  EXPECT_EQ(backend().compare(at(actual), at(expected), ElementType::float32, 7, {1e9, 1e9}).mismatches, 6u);
  std::vector<std::uint16_t> half_nan{0x7e00}, also{0x7e00};
  EXPECT_EQ(backend().compare(at(half_nan), at(also), ElementType::half, 1, {1, 1}).mismatches, 1u);
}

TEST(HostCompare, ComparesIntegersExactlyBeyondTheRangeOfDoubles) {
  std::vector<std::int64_t> actual{(std::int64_t{1} << 60) + 1}, expected{std::int64_t{1} << 60};
  EXPECT_EQ(backend().compare(at(actual), at(expected), ElementType::int64, 1, {1, 1}).mismatches, 1u);
}

TEST(HostFingerprint, ChangesWithEveryByte) {
  std::vector<unsigned char> bytes(103, 0);
  const std::uint64_t before = backend().fingerprint(at(bytes), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 1;
    EXPECT_NE(backend().fingerprint(at(bytes), bytes.size()), before) << i;
    bytes[i] = 0;
  }
  EXPECT_EQ(backend().fingerprint(at(bytes), bytes.size()), before);
}

TEST(HostMemory, IsAlignedForEveryVectorLoad) {
  for (const std::size_t bytes : {0u, 1u, 1000u}) {
    const auto memory = backend().allocate(bytes);
    EXPECT_EQ(memory->address() % 256, 0u);
    EXPECT_EQ(memory->bytes(), bytes);
  }
#if !defined(TUNER_SANITIZED)  // they end the process at a request of this size
  EXPECT_THROW(backend().allocate(std::size_t{1} << 60), Error);
#endif
}

TEST(HostSample, GivesAsManySamplesAsAskedFor) {
  const auto module = load("__global__ void k(int* n) { atomicAdd(n, 1); }", {"k"});
  int count = 0;
  const Launch launch{module.get(), 0, shape(2, 32), {Argument::of(&count)}};
  SampleRequest wanted;
  wanted.samples = 3;
  const SampleResult cold = backend().sample({&launch, 1}, wanted);
  ASSERT_TRUE((std::holds_alternative<std::vector<Sample>>(cold)));
  EXPECT_EQ(std::get<0>(cold).size(), 3u);
  EXPECT_EQ(count, 3 * 64);
  wanted.use = Use::hot;
  wanted.batch = 5;
  backend().sample({&launch, 1}, wanted);
  EXPECT_EQ(count, (3 + 15) * 64);
}

TEST(HostSample, RunsWhatPreparesBeforeEachSampleAndOneRunInEach) {
  const auto module = load(
      "__global__ void start(int* n) { n[0] = 5; }\n"
      "__global__ void k(int* n) { n[1] += n[0]; n[0] = 0; }",
      {"k", "start"});
  int numbers[2] = {0, 0};
  const Launch launch{module.get(), 0, shape(1, 1), {Argument::of(&numbers)}};
  const Launch start{module.get(), 1, shape(1, 1), {Argument::of(&numbers)}};
  SampleRequest wanted;
  wanted.samples = 4;
  wanted.batch = 3;
  wanted.use = Use::hot;
  wanted.prepare = {&start, 1};
  ASSERT_TRUE((std::holds_alternative<std::vector<Sample>>(backend().sample({&launch, 1}, wanted))));
  EXPECT_EQ(numbers[1], 4 * 5);
}

TEST(HostSample, RefillsMemoryBeforeEachSampleOrEachRun) {
  const auto module = load("__global__ void k(int* n) { n[1] += n[0]; ++n[2]; }", {"k"});
  std::vector<int> numbers{0, 0, 0}, original{5};
  const Launch launch{module.get(), 0, shape(1, 1), {Argument::of(at(numbers))}};
  const Refill refills[] = {{at(numbers), 4, 0, at(original)}, {at(numbers) + 4, 4, 2}};
  SampleRequest wanted;
  wanted.samples = 4;
  wanted.batch = 3;
  wanted.use = Use::hot;
  wanted.refills = refills;
  ASSERT_TRUE((std::holds_alternative<std::vector<Sample>>(backend().sample({&launch, 1}, wanted))));
  EXPECT_EQ(numbers[1], 0x02020202 + 3 * 5);
  wanted.refills_each_run = true;
  ASSERT_TRUE((std::holds_alternative<std::vector<Sample>>(backend().sample({&launch, 1}, wanted))));
  EXPECT_EQ(numbers[1], 0x02020202 + 5);
  EXPECT_EQ(numbers[2], 24);
  EXPECT_EQ(std::get<0>(backend().sample({}, wanted)).size(), 4u) << "of refills alone";
}

TEST(HostSample, ReportsATimeout) {
  // A call, because ThreadSanitizer holds signals back until the kernel makes one.
  const auto module = load("__global__ void k(volatile int* n) { while (*n == 0) __nanosleep(100); }", {"k"});
  int flag = 0;
  const Launch launch{module.get(), 0, shape(1, 1), {Argument::of(&flag)}};
  SampleRequest wanted;
  wanted.use = Use::hot;
  wanted.timeout_s = 0.05;
  EXPECT_TRUE(std::holds_alternative<Timeout>(backend().sample({&launch, 1}, wanted)));
}

TEST(HostDevice, IsKeyedByItsCpu) {
  const Device& device = backend().device();
  EXPECT_EQ(device.key.backend, "host");
  EXPECT_FALSE(device.key.cpu.empty());
  EXPECT_EQ(device.key.sm_count, 2);
  EXPECT_GT(device.key.l2_bytes, 0);
  EXPECT_EQ(device.limits.compute_capability, 0);
  EXPECT_THAT(device.environment.compiler, ContainsRegex("^(g|clang)\\+\\+ [0-9]+\\."));
}

TEST(HostDevice, MeasuresItsCeilingsWhenAsked) {
  const auto own = make_host_backend(uncached_options(1));
  EXPECT_EQ(own->device().ceilings.read, 0);
  own->measure_ceilings();
  EXPECT_GT(own->device().ceilings.read, 1e8);
  EXPECT_GT(own->device().ceilings.copy, 1e8);
  EXPECT_GT(own->device().peaks.launch_ns, 0);
}

TEST(HostBackend, EnqueuesFromParametersAsTheDriverTakesThem) {
  const auto module = load("__global__ void k(int* out, short v) { *out = v; }", {"k"});
  int out = 0;
  int* to = &out;
  short v = 7;
  void* parameters[] = {&to, &v};
  backend().enqueue(*module, 0, shape(1, 1), parameters, nullptr);
  backend().synchronize(nullptr);
  EXPECT_EQ(out, 7);
  EXPECT_THROW(backend().enqueue(*module, 0, shape(1, 2000), parameters, nullptr), Error);
}

TEST(HostBackend, RunsBesideAnotherOne) {
  const char* source = "__global__ void k(int* n) { __syncthreads(); atomicAdd(n, (int)__syncthreads_count(1)); }";
  std::vector<int> counts(2);
  testing::in_threads(counts.size(), [&](std::size_t t) {
    const auto own = make_host_backend(uncached_options(2));
    const auto module = load(source, {"k"}, *own);
    for (int i = 0; i < 20; ++i) launch(*module, 0, shape(4, 64), 10, *own, &counts[t]);
  });
  EXPECT_THAT(counts, Each(20 * 4 * 64 * 64));
}

/// Every value of a 16-bit type, as seen from inside a kernel, against the compiler's own _Float16 where it has one.
TEST(HostHalf, ConvertsEveryValueThereAndBack) {
  const char* source = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void convert(float* h, float* b, int* wrong) {
  for (unsigned i = threadIdx.x; i < 65536; i += blockDim.x) {
    const __half x = __ushort_as_half((unsigned short)i);
    const __nv_bfloat16 y = __ushort_as_bfloat16((unsigned short)i);
    h[i] = __half2float(x);
    b[i] = __bfloat162float(y);
    if (h[i] == h[i] && __half_as_ushort(__float2half(h[i])) != i) atomicAdd(wrong, 1);
    if (b[i] == b[i] && __bfloat16_as_ushort(__float2bfloat16(b[i])) != i) atomicAdd(wrong, 1);
  }
})";
  std::vector<float> h(65536), b(65536);
  int wrong = 0;
  EXPECT_EQ(text(run(source, "convert", shape(1, 64), h.data(), b.data(), &wrong)), "done");
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(h[0x0001], 0x1p-24f);
  EXPECT_EQ(h[0x7bff], 65504.0f);
  EXPECT_EQ(h[0x8400], -0x1p-14f);
  EXPECT_TRUE(std::isinf(h[0x7c00]));
  EXPECT_TRUE(std::isnan(h[0x7e01]));
  EXPECT_EQ(b[0x3f80], 1.0f);
}

TEST(HostHalf, RoundsToNearestEven) {
  const char* source = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void rounding(const float* in, unsigned short* h, unsigned short* b) {
  h[threadIdx.x] = __half_as_ushort(__float2half(in[threadIdx.x]));
  b[threadIdx.x] = __bfloat16_as_ushort(__float2bfloat16(in[threadIdx.x]));
})";
  const std::vector<float> in{1.0f, 1.0f + 0x1p-11f, 1.0f + 0x3p-11f, 65519.0f, 65520.0f, 0x1p-25f, 0x1.8p-25f, -0.0f};
  std::vector<unsigned short> h(in.size()), b(in.size());
  EXPECT_EQ(text(run(source, "rounding", shape(1, 8), in.data(), h.data(), b.data())), "done");
  EXPECT_THAT(h, ElementsAre(0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0x0000, 0x0001, 0x8000));
  EXPECT_THAT(b, ElementsAre(0x3f80, 0x3f80, 0x3f80, 0x4780, 0x4780, 0x3300, 0x3340, 0x8000));
}

TEST(HostHalf, AddsAndMultipliesWithOneRounding) {
  const char* source = R"(
#include <cuda_fp16.h>
__global__ void arithmetic(float* out) {
  const __half one(1.0f), tiny(0.0004f), big(60000.0f), third = one / __half(3.0f);
  out[0] = one + tiny;              // below half a unit: lost
  out[1] = big + big;               // overflow
  out[2] = third * __half(3.0f);
  out[3] = __half2float(__hfma(third, __half(3.0f), __half(-1.0f)));
  out[4] = __half2float(__hadd2(__floats2half2_rn(1.0f, 2.0f), __float2half2_rn(0.5f)).y);
  __half sum(0.0f);
  atomicAdd(&sum, __half(2.5f));
  out[5] = sum;
  out[6] = __shfl_xor_sync(1u, __half(4.0f), 0);
})";
  const std::vector<float> out = outputs<float>(7, source, "arithmetic", shape(1, 1));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_TRUE(std::isinf(out[1]));
  EXPECT_EQ(out[2], 1.0f);
  EXPECT_EQ(out[3], -0x1p-12f);  // 1/3 in half is 0x1.554p-2
  EXPECT_EQ(out[4], 2.5f);
  EXPECT_EQ(out[5], 2.5f);
  EXPECT_EQ(out[6], 4.0f);
}

/// Every number of fp8, and of half and bfloat16 as fp8, as seen from inside a kernel.
TEST(HostFp8, ConvertsToTheNearestAndSaturates) {
  const char* source = R"(
#define format macros_of_any_name
#include <cuda_fp8.h>
__global__ void convert(float* four, float* five, unsigned char* to_four, unsigned char* to_five, int* wrong) {
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    __nv_fp8_e4m3 x;
    __nv_fp8_e5m2 y;
    x.__x = y.__x = (unsigned char)i;
    four[i] = float(x);
    five[i] = static_cast<float>(static_cast<__half>(y));
    if (four[i] == four[i] && __nv_fp8_e4m3(double(x)).__x != i) atomicAdd(wrong, 1);
    if (fabsf(five[i]) < 1e6f && __nv_fp8_e5m2(__half(y)).__x != i) atomicAdd(wrong, 1);
    __nv_fp8x4_e4m3 both;
    both.__x = i | 0x38u << 8 | i << 16;
    const float4 of_four = static_cast<float4>(both);
    if (four[i] == four[i] && (of_four.x != four[i] || of_four.y != 1 || of_four.z != four[i])) atomicAdd(wrong, 1);
    if (four[i] == four[i] && __nv_fp8x4_e4m3(of_four).__x != both.__x) atomicAdd(wrong, 1);
  }
  for (unsigned i = threadIdx.x; i < 65536; i += blockDim.x) {
    to_four[i] = __nv_fp8_e4m3(__ushort_as_half((unsigned short)i)).__x;
    to_five[i] = __nv_fp8_e5m2(__ushort_as_bfloat16((unsigned short)i)).__x;
  }
  if (threadIdx.x != 0) return;
  if (int(__nv_fp8_e4m3(-2.75f)) != -2 || (unsigned char)__nv_fp8_e4m3(448) != 255) atomicAdd(wrong, 1);
  if (__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) != 0x7f) atomicAdd(wrong, 1);
  if (__nv_cvt_float_to_fp8(-61440, __NV_NOSAT, __NV_E5M2) != 0xfc) atomicAdd(wrong, 1);
  if (__nv_cvt_float2_to_fp8x2({1, -2}, __NV_SATFINITE, __NV_E4M3) != 0xc038) atomicAdd(wrong, 1);
  const __half2 pair = __nv_cvt_fp8x2_to_halfraw2(0x3c40, __NV_E5M2);
  if (float(pair.x) != 2 || float(pair.y) != 1) atomicAdd(wrong, 1);
})";
  std::vector<float> four(256), five(256);
  std::vector<unsigned char> to_four(65536), to_five(65536);
  int wrong = 0;
  EXPECT_EQ(
      text(run(source, "convert", shape(1, 64), four.data(), five.data(), to_four.data(), to_five.data(), &wrong)),
      "done");
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(four[0x01], 0x1p-9f);
  EXPECT_EQ(four[0xfe], -448);
  EXPECT_TRUE(std::isnan(four[0x7f]));
  EXPECT_EQ(five[0x01], 0x1p-16f);
  EXPECT_EQ(five[0x7b], 57344);
  EXPECT_TRUE(std::isinf(five[0x7c]));
  EXPECT_TRUE(std::isnan(five[0xfd]));
  // Of the two nearest numbers the one with an even last bit. Beyond the largest it is the largest.
  const auto nearest = [](const std::vector<float>& values, int largest, float wanted) {
    int best = 0;
    for (int bits = 1; bits <= largest; ++bits) {
      const float now = std::abs(values[static_cast<std::size_t>(bits)] - std::abs(wanted)),
                  before = std::abs(values[static_cast<std::size_t>(best)] - std::abs(wanted));
      if (now < before || (now == before && bits % 2 == 0)) best = bits;
    }
    return best | (std::signbit(wanted) ? 0x80 : 0);
  };
  for (unsigned i = 0; i < 65536; ++i) {
    const auto bits = static_cast<unsigned short>(i);
    const float half = fill_value::half_value(bits), brief = fill_value::bfloat16_value(bits);
    EXPECT_EQ(to_four[i], std::isnan(half) ? 0x7f : nearest(four, 0x7e, std::clamp(half, -448.0f, 448.0f))) << half;
    EXPECT_EQ(to_five[i], std::isnan(brief) ? 0x7f : nearest(five, 0x7b, std::clamp(brief, -57344.0f, 57344.0f)))
        << brief;
  }
}

/// The same for fp6, fp4 and the scale factors of both.
TEST(HostFp6AndFp4, ConvertToTheNearestAndSaturate) {
  const char* source = R"(
#include <cuda_fp4.h>
__global__ void convert(float* values, unsigned char* bits, int* wrong) {
  __nv_fp6_e3m2 a;
  __nv_fp6_e2m3 b;
  __nv_fp4_e2m1 c;
  __nv_fp8_e8m0 d;
  const unsigned i = threadIdx.x;
  a.__x = b.__x = c.__x = d.__x = (unsigned char)i;
  const float of_all[] = {float(a), float(b), float(c), float(d)};
  for (int k = 0; k < 4; ++k) values[256 * k + i] = of_all[k];
  if (i < 64 && (__nv_fp6_e3m2(of_all[0]).__x != i || __nv_fp6_e2m3(__half(of_all[1])).__x != i)) atomicAdd(wrong, 1);
  if (i < 16 && __nv_fp4_e2m1(double(of_all[2])).__x != i) atomicAdd(wrong, 1);
  if (i < 255 && __nv_fp8_e8m0(of_all[3]).__x != i) atomicAdd(wrong, 1);
  __nv_fp4x2_e2m1 two;
  two.__x = (unsigned char)i;
  const float2 both = static_cast<float2>(two);
  if (__nv_fp4x2_e2m1(both).__x != i || both.x != values[512 + i % 16]) atomicAdd(wrong, 1);
  const __half2_raw raw = __nv_cvt_fp4x2_to_halfraw2(two.__x, __NV_E2M1);
  if (__nv_cvt_halfraw2_to_fp4x2(raw, __NV_E2M1, cudaRoundNearest) != i) atomicAdd(wrong, 1);
  if (i != 0) return;
  const float some[] = {0.25f, 0.75f, 2.5f, 100, -1.75f, 5.9f};
  for (int k = 0; k < 6; ++k) bits[k] = __nv_cvt_float_to_fp4(some[k], __NV_E2M1, cudaRoundNearest);
  for (int k = 0; k < 6; ++k) bits[6 + k] = __nv_cvt_float_to_fp6(some[k], __NV_E3M2, cudaRoundZero);
  bits[12] = __nv_fp8_e8m0(1.01f).__x;
  bits[13] = __nv_cvt_float_to_e8m0(1.99f, __NV_SATFINITE, cudaRoundZero);
  bits[14] = __nv_fp4_e2m1(NAN).__x;
  if (sizeof(__nv_fp4x4_e2m1) != 2 || sizeof(__nv_fp4x2_e2m1) != 1 || sizeof(__nv_fp6x4_e3m2) != 4) atomicAdd(wrong, 1);
  const float4 four = static_cast<float4>(__nv_fp4x4_e2m1(make_float4(1, -2, 3, 6)));
  if (four.x != 1 || four.y != -2 || four.z != 3 || four.w != 6) atomicAdd(wrong, 1);
})";
  std::vector<float> values(1024);
  std::vector<unsigned char> bits(15);
  int wrong = 0;
  EXPECT_EQ(text(run(source, "convert", shape(1, 256), values.data(), bits.data(), &wrong)), "done");
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(values[0x01], 0x1p-4f);
  EXPECT_EQ(values[0x3f], -28);
  EXPECT_EQ(values[256 + 0x01], 0.125f);
  EXPECT_EQ(values[256 + 0x1f], 7.5f);
  EXPECT_THAT(std::vector<float>(values.begin() + 512, values.begin() + 520), ElementsAre(0, 0.5, 1, 1.5, 2, 3, 4, 6));
  EXPECT_EQ(values[768], 0x1p-127f);
  EXPECT_EQ(values[768 + 130], 8);
  EXPECT_TRUE(std::isnan(values[768 + 255]));
  // Ties go to even; toward zero they do not: of e3m2, 5.9 is between 5 and 6.
  EXPECT_THAT(bits, ElementsAre(0, 2, 4, 7, 8 | 4, 7, 4, 10, 17, 31, 0x20 | 15, 21, 128, 127, 7));
}

TEST(HostFill, PutsTwoNumbersOfFp4IntoEachByte) {
  std::vector<std::uint8_t> bytes(3);
  backend().fill(at(bytes), ElementType::e2m1x2, 3, {Fill::Kind::iota, 0, 0}, 0);
  EXPECT_THAT(bytes, ElementsAre(0x20, 0x54, 0x66)) << "5 is between 4 and 6";
}

TEST(HostCompare, LooksAtBothNumbersOfAByte) {
  std::vector<std::uint8_t> expected{0x21, 0x43, 0x65}, actual{0x21, 0x23, 0x77};
  const Comparison exact = backend().compare(at(actual), at(expected), ElementType::e2m1x2, 3, {});
  EXPECT_EQ(exact.mismatches, 2u);
  EXPECT_EQ(exact.first_index, 1u);
  EXPECT_EQ(exact.actual, 1);
  EXPECT_EQ(exact.expected, 2);
  const Comparison near = backend().compare(at(actual), at(expected), ElementType::e2m1x2, 3, {0.5, 0.5, true});
  EXPECT_EQ(near.mismatches, 2u) << "1 is two places from 2, and 3 from 6";
  EXPECT_EQ(near.off, 3u);
  EXPECT_EQ(near.less, 1u);
}

TEST(HostFill, RoundsToFp8AndTf32) {
  std::vector<std::uint8_t> bytes(20);
  backend().fill(at(bytes), ElementType::e4m3, 20, {Fill::Kind::iota, 0, 0}, 0);
  EXPECT_EQ(fill_value::e4m3_value(bytes[16]), 16);
  EXPECT_EQ(fill_value::e4m3_value(bytes[17]), 16) << "17 is between 16 and 18";
  EXPECT_EQ(fill_value::e4m3_value(bytes[19]), 20);
  backend().fill(at(bytes), ElementType::e5m2, 20, {Fill::Kind::constant, 1e9, 0}, 0);
  EXPECT_THAT(bytes, Each(0x7b));
  std::vector<float> floats(1000);
  backend().fill(at(floats), ElementType::tf32, floats.size(), {Fill::Kind::uniform, -1, 1}, 3);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto unrounded = static_cast<float>(fill_value::uniform(3, i, -1, 1));
    EXPECT_EQ(fill_value::float_bits(floats[i]) % 0x2000, 0u);
    EXPECT_LE(std::abs(floats[i] - unrounded), 0x1p-11f * std::abs(unrounded));
  }
}

TEST(HostShim, CountsBitsAndPermutesBytes) {
  const char* source = R"(
__global__ void bits(unsigned* out) {
  out[0] = __popc(0xf0u); out[1] = __clz(1); out[2] = __ffs(8); out[3] = __brev(1u); out[4] = __byte_perm(0x44332211u, 0x88776655u, 0x7410u);
  out[5] = __umulhi(0x80000000u, 4u); out[6] = __funnelshift_l(0x80000000u, 1u, 1); out[7] = min(3u, 5) + max(2, 9);
  const float4 v = make_float4(1, 2, 3, 4); out[8] = sizeof(v) + alignof(float4) + sizeof(double2) + sizeof(uchar4) + (unsigned)v.w;
  out[9] = __ldg(&out[0]); __stcs(&out[10], 77u);
})";
  const std::vector<unsigned> out = outputs<unsigned>(11, source, "bits", shape(1, 1));
  EXPECT_THAT(out, ElementsAre(4u, 31u, 4u, 0x80000000u, 0x88552211u, 2u, 3u, 12u, 56u, 4u, 77u));
}

}  // namespace
}  // namespace tuner::host_test
