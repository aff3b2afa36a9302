// Textures and surfaces on a GPU, held against what the host backend's kernels read from the same elements.

#include <cmath>

#include <tuner/backend/host/host_backend.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>

// What a kernel of the host backend includes before this header.
#define TUNER_HOST_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace tuner_host {
inline thread_local Context context{};
inline const Api* api = nullptr;
}  // namespace tuner_host
#include <tuner/backend/host/shim/tuner_host_texture.h>

#include <tests/support/gpu_fixture.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using Outside = TextureReading::Outside;

constexpr const char* kTextureKernels = R"(
__global__ void plane(cudaTextureObject_t t, const float2* at, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void row(cudaTextureObject_t t, const float2* at, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = tex1D<float>(t, at[i].x);
}
__global__ void box(cudaTextureObject_t t, const float2* at, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].x);
}
__global__ void fetch(cudaTextureObject_t t, int4* to) {
  to[threadIdx.x] = tex1Dfetch<int4>(t, (int)threadIdx.x - 1);
}
__global__ void add_one(cudaSurfaceObject_t s) {
  surf2Dwrite(surf2Dread<float2>(s, 8 * threadIdx.x, threadIdx.y).y + 1 > 0
                  ? make_float2(threadIdx.x, surf2Dread<float2>(s, 8 * threadIdx.x, threadIdx.y).y + 1)
                  : make_float2(0, 0), s, 8 * threadIdx.x, threadIdx.y);
  surf2Dwrite(make_float2(9, 9), s, -8, 0, cudaBoundaryModeZero);
}
)";

class GpuTextures : public cuda::GpuTest {
 protected:
  static const Module& kernels() {
    static const std::unique_ptr<Module> module = load(kTextureKernels, {"plane", "row", "box", "fetch", "add_one"});
    return *module;
  }
  static Backend& host() {
    static const std::unique_ptr<Backend> backend = make_host_backend({});
    return *backend;
  }
  /// Coordinates around \p extent, in elements or \p normalized; never near the edge of an element.
  static std::vector<float> coordinates(const std::array<std::size_t, 3>& extent, bool normalized) {
    std::vector<float> all;
    for (int i = 0; i < 400; ++i) {
      const auto along = [&](std::size_t axis, int step) {
        const float size = static_cast<float>(std::max<std::size_t>(extent[axis], 1));
        const float at = static_cast<float>((i * step) % 61 - 20) * 0.5f + 0.125f;
        return normalized ? at / size : at;
      };
      all.push_back(along(0, 7));
      all.push_back(along(1, 11));
    }
    return all;
  }
  static std::string text(const ArrayShape& shape, const TextureReading& reading) {
    return std::string(info(shape.type).name) + " outside=" + std::to_string(static_cast<int>(reading.outside)) +
           (reading.linear ? " linear" : "") + (reading.normalized ? " normalized" : "") +
           (reading.as_float ? " as_float" : "");
  }

  /// The largest difference between what \p function reads on the GPU and what \p here reads on this CPU.
  template <typename Here>
  double difference(std::size_t function, const ArrayShape& shape, const TextureReading& reading, const Here& here) {
    const auto on_gpu = backend().allocate_array(shape);
    const auto on_host = host().allocate_array(shape);
    const auto filled = backend().allocate(shape.bytes());
    const std::size_t numbers = shape.elements() * static_cast<std::size_t>(shape.components);
    backend().fill(filled->address(), shape.type, numbers, {Fill::Kind::uniform, 0, 100}, 7);
    const auto bytes = contents<unsigned char>(filled->address(), shape.bytes());
    on_gpu->load(filled->address());
    on_host->load(reinterpret_cast<DevicePointer>(bytes.data()));

    const std::vector<float> at = coordinates(shape.extent, reading.normalized);
    const int n = static_cast<int>(at.size() / 2);
    const auto where = uploaded(at), to = uploaded(at);
    const Launch reads = launch(kernels(), function, 4, 128,
                                {Argument::of(on_gpu->texture(reading)), Argument::of(where->address()),
                                 Argument::of(to->address()), Argument::of(n)});
    EXPECT_EQ(run(reads), "ok");
    const auto seen = contents<float>(to->address(), static_cast<std::size_t>(n));
    const std::uint64_t object = on_host->texture(reading);
    double largest = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const float expected = here(object, at[2 * i], at[2 * i + 1]);
      EXPECT_FALSE(std::isnan(seen[i]));
      largest = std::max(largest, std::abs(double{seen[i]} - double{expected}));
    }
    return largest;
  }
};

std::vector<TextureReading> readings(bool as_float, bool plain) {
  std::vector<TextureReading> all;
  for (const bool linear : {false, true})
    for (const bool normalized : {false, true})
      for (const Outside outside : {Outside::clamp, Outside::border, Outside::wrap, Outside::mirror})
        if ((normalized || outside == Outside::clamp || outside == Outside::border) && (!linear || as_float || plain))
          all.push_back({outside, linear, normalized, as_float});
  return all;
}

TEST_F(GpuTextures, AreReadAsOnTheHost) {
  const auto plane = [](std::uint64_t object, float x, float y) { return ::tex2D<float>(object, x, y); };
  for (const ElementType type : {ElementType::float32, ElementType::half, ElementType::uint8, ElementType::int8,
                                 ElementType::uint16, ElementType::int16}) {
    const ArrayShape shape{type, 1, {13, 7, 0}};
    const bool floating = info(type).is_floating;
    const double whole = floating ? 100 : 1;  // numbers reach from 0 to this
    for (const TextureReading& reading : readings(!floating, floating)) {
      const double allowed = reading.linear ? whole * 2 / 256 : whole * 1e-6;
      EXPECT_LE(difference(0, shape, reading, plane), allowed) << text(shape, reading);
    }
  }
}

TEST_F(GpuTextures, OfOneAndThreeDimensionsAreToo) {
  for (const TextureReading& reading : readings(false, true)) {
    const double allowed = reading.linear ? 200.0 / 256 : 0;
    const ArrayShape row{ElementType::float32, 1, {29, 0, 0}}, box{ElementType::float32, 1, {5, 4, 5}};
    EXPECT_LE(difference(1, row, reading, [](std::uint64_t t, float x, float) { return ::tex1D<float>(t, x); }),
              allowed)
        << text(row, reading);
    EXPECT_LE(difference(2, box, reading, [](std::uint64_t t, float x, float y) { return ::tex3D<float>(t, x, y, x); }),
              2 * allowed)
        << text(box, reading);
  }
}

TEST_F(GpuTextures, AreFetchedFromLinearMemory) {
  const auto array = backend().allocate_array({ElementType::int32, 4, {100, 0, 0}, true, false});
  const auto memory = backend().allocate(1600), to = backend().allocate(102 * 16);
  backend().fill(memory->address(), ElementType::int32, 400, {Fill::Kind::iota, 0, 0}, 0);
  array->load(memory->address());
  TextureReading fetched;
  fetched.fetched = true;
  const Launch fetch =
      launch(kernels(), 3, 4, 102, {Argument::of(array->texture(fetched)), Argument::of(to->address())});
  EXPECT_EQ(run(fetch), "ok");
  const auto seen = contents<int>(to->address(), 408);
  EXPECT_EQ(seen[0], 0) << "outside";
  for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(seen[i + 4], static_cast<int>(i));
  EXPECT_EQ(seen[404], 0) << "outside";
}

TEST_F(GpuTextures, ShareTheirElementsWithSurfaces) {
  const auto array = backend().allocate_array({ElementType::float32, 2, {16, 8, 0}, false, true});
  const auto memory = backend().allocate(1024);
  backend().fill(memory->address(), ElementType::float32, 256, {Fill::Kind::iota, 0, 0}, 0);
  array->load(memory->address());
  Launch add = launch(kernels(), 4, 1, 1, {Argument::of(array->surface())});
  add.shape.block = {16, 8, 1};
  EXPECT_EQ(run(add), "ok");
  backend().fill_bytes(memory->address(), 0, 1024);
  array->store(memory->address());
  const auto seen = contents<float>(memory->address(), 256);
  for (std::size_t i = 0; i < 128; ++i) {
    ASSERT_EQ(seen[2 * i], static_cast<float>(i % 16));
    ASSERT_EQ(seen[2 * i + 1], static_cast<float>(2 * i + 2));
  }
}

TEST_F(GpuTextures, ThatAreTooLargeAreRefusedInASentence) {
  const ArrayShape large{ElementType::float32, 1, {1, std::size_t{1} << 30, 0}};
  EXPECT_THAT(error_of([&] { backend().allocate_array(large); }),
              HasSubstr("refuses 1 x 1073741824 elements of a texture"));
}

}  // namespace
}  // namespace tuner
