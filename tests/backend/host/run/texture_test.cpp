// Texture and surface objects: what they give, where and how.

#include <limits>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

using Outside = TextureReading::Outside;

template <typename T>
std::unique_ptr<DeviceArray> array_of(std::vector<T> values, ElementType type, std::array<std::size_t, 3> extent,
                                      int components = 1) {
  auto array = backend().allocate_array({type, components, extent, false, true});
  array->load(reinterpret_cast<DevicePointer>(values.data()));
  return array;
}
std::unique_ptr<DeviceArray> floats(std::vector<float> values, std::array<std::size_t, 3> extent) {
  return array_of(std::move(values), ElementType::float32, extent);
}

TextureReading reading_by_index() {
  TextureReading reading;
  reading.fetched = true;
  return reading;
}

/// The value of `tex1D<float>` at each of \p at.
std::vector<float> read(std::uint64_t texture, const std::vector<float>& at) {
  static const auto module = load(
      "__global__ void k(cudaTextureObject_t t, const float* at, float* to) {\n"
      "  to[threadIdx.x] = tex1D<float>(t, at[threadIdx.x]);\n}",
      {"k"});
  std::vector<float> to(at.size());
  EXPECT_EQ(text(launch(*module, 0, shape(1, static_cast<std::int64_t>(at.size())), 20, backend(), texture, at.data(),
                        to.data())),
            "done");
  return to;
}

TEST(HostTextures, GiveTheNearestElement) {
  const auto array = floats({10, 20, 30}, {3, 0, 0});
  EXPECT_THAT(read(array->texture({}), {0, 0.99f, 1, 2.5f}), ElementsAre(10, 10, 20, 30));
}

TEST(HostTextures, ReadOutsideAsTheyAreTold) {
  const auto array = floats({10, 20, 30}, {3, 0, 0});
  EXPECT_THAT(read(array->texture({Outside::clamp}), {-5, 3, 99}), ElementsAre(10, 30, 30));
  EXPECT_THAT(read(array->texture({Outside::border}), {-0.5f, 3, 2}), ElementsAre(0, 0, 30));
  const auto thirds = [](float x) { return x / 3; };
  EXPECT_THAT(read(array->texture({Outside::wrap, false, true}), {thirds(-0.5f), thirds(3.5f), thirds(7.5f)}),
              ElementsAre(30, 10, 20));
  EXPECT_THAT(read(array->texture({Outside::mirror, false, true}), {thirds(-0.5f), thirds(3.5f), thirds(5.5f)}),
              ElementsAre(10, 30, 10));
}

TEST(HostTextures, InterpolateBetweenMiddlesInStepsOfA256th) {
  const auto array = floats({0, 256}, {2, 0, 0});
  EXPECT_THAT(read(array->texture({Outside::clamp, true}), {0.5f, 1, 0.75f, 0.5f + 1.4f / 256, 1.7f}),
              ElementsAre(0, 128, 64, 1, 256));
  EXPECT_THAT(read(array->texture({Outside::border, true}), {0, 2}), ElementsAre(0, 128)) << "half of it is outside";
  EXPECT_THAT(read(array->texture({Outside::clamp, true, true}), {0.25f, 0.5f}), ElementsAre(0, 128));
}

TEST(HostTextures, ReadSmallIntegersAsNumbersOfOne) {
  TextureReading reading;
  reading.as_float = true;
  const auto bytes = array_of<std::uint8_t>({0, 51, 255}, ElementType::uint8, {3, 0, 0});
  EXPECT_THAT(read(bytes->texture(reading), {0, 1, 2}), ElementsAre(0, 0.2f, 1));
  const auto shorts = array_of<std::int16_t>({-32768, -32767, 32767}, ElementType::int16, {3, 0, 0});
  EXPECT_THAT(read(shorts->texture(reading), {0, 1, 2}), ElementsAre(-1, -1, 1));
}

TEST(HostTextures, ReadHalvesAsFloats) {
  const auto halves = array_of<std::uint16_t>({0x3c00, 0xc100, 0x0001, 0x7bff, 0x7c00}, ElementType::half, {5, 0, 0});
  EXPECT_THAT(read(halves->texture({}), {0, 1, 2, 3, 4}),
              ElementsAre(1, -2.5f, 0x1p-24f, 65504, std::numeric_limits<float>::infinity()));
}

TEST(HostTextures, FetchByIndexAndGiveZeroOutside) {
  const std::vector<int> values{7, 8, 9};
  const auto array = backend().allocate_array({ElementType::int32, 1, {3, 0, 0}, true, false});
  array->load(reinterpret_cast<DevicePointer>(values.data()));
  int to[3] = {1, 1, 1};
  EXPECT_EQ(text(run("__global__ void k(cudaTextureObject_t t, int* to) {\n"
                     "  to[0] = tex1Dfetch<int>(t, 2); to[1] = tex1Dfetch<int>(t, -1); tex1Dfetch(to + 2, t, 3);\n}",
                     "k", shape(1, 1), array->texture(reading_by_index()), &to[0])),
            "done");
  EXPECT_THAT(to, ElementsAre(9, 0, 0));
}

TEST(HostTextures, AreReadEitherByIndexOrByPlace) {
  const std::vector<float> values{7, 8, 9};
  const auto linear = backend().allocate_array({ElementType::float32, 1, {3, 0, 0}, true, false});
  const auto array = floats(values, {3, 0, 0});
  const auto said = [](const std::string& read, std::uint64_t object) {
    float to = 0;
    return text(run("__global__ void k(cudaTextureObject_t t, float* to) { *to = " + read + "; }", "k", shape(1, 1),
                    object, &to));
  };
  EXPECT_THAT(said("tex1Dfetch<float>(t, 1)", array->texture({})), HasSubstr("tex1Dfetch reads linear memory"));
  EXPECT_THAT(said("tex1D<float>(t, 1)", linear->texture(reading_by_index())),
              HasSubstr("is 'fetched' without tex1Dfetch"));
}

TEST(HostTextures, AreReadFarOutside) {
  const auto array = floats({10, 20, 30}, {3, 0, 0});
  const float far = std::numeric_limits<float>::infinity();
  EXPECT_THAT(read(array->texture({Outside::clamp}), {1e30f, -1e30f, far}), ElementsAre(30, 10, 30));
  EXPECT_THAT(read(array->texture({Outside::clamp, true}), {far, -far}), ElementsAre(30, 10));
}

TEST(HostTextures, HaveUpToThreeDimensionsAndFourComponents) {
  const auto plane = array_of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, ElementType::float32, {3, 2, 0}, 2);
  const auto box = array_of<std::int8_t>({0, 1, 2, 3, 4, 5, 6, -7}, ElementType::int8, {2, 2, 2});
  float to[4] = {};
  EXPECT_EQ(text(run("__global__ void k(cudaTextureObject_t plane, cudaTextureObject_t box, float* to) {\n"
                     "  const float2 at = tex2D<float2>(plane, 1.5f, 1.5f);\n"
                     "  to[0] = at.x; to[1] = at.y; to[2] = tex3D<signed char>(box, 1.5f, 1.5f, 1.5f);\n"
                     "  to[3] = tex3D<signed char>(box, 0.5f, 1.5f, 0.5f);\n}",
                     "k", shape(1, 1), plane->texture({}), box->texture({}), &to[0])),
            "done");
  EXPECT_THAT(to, ElementsAre(8, 9, -7, 2));
}

TEST(HostTextures, AreCopiesOfTheirMemory) {
  std::vector<float> memory{1, 2};
  const auto array = floats(memory, {2, 0, 0});
  memory[0] = 5;
  EXPECT_THAT(read(array->texture({}), {0}), ElementsAre(1));
}

TEST(HostSurfaces, AreReadAndWrittenByBytes) {
  const auto array = floats({1, 2, 3, 4, 5, 6}, {3, 2, 0});
  EXPECT_EQ(text(run("__global__ void k(cudaSurfaceObject_t s) {\n"
                     "  const float v = surf2Dread<float>(s, 8, 1); float w; surf2Dread(&w, s, 0, 0);\n"
                     "  surf2Dwrite(v + w, s, 4, 0);\n"
                     "  surf2Dwrite(99.0f, s, 400, 0, cudaBoundaryModeZero);\n"
                     "  surf2Dwrite(surf2Dread<float>(s, -4, 9, cudaBoundaryModeZero), s, 0, 1);\n"
                     "  surf2Dwrite(50.0f, s, 400, 9, cudaBoundaryModeClamp);\n}",
                     "k", shape(1, 1), array->surface())),
            "done");
  std::vector<float> after(6);
  array->store(reinterpret_cast<DevicePointer>(after.data()));
  EXPECT_THAT(after, ElementsAre(1, 7, 3, 0, 5, 50));
}

TEST(HostTextures, SayWhatIsWrongWithAnAccess) {
  const auto array = floats({1, 2, 3, 4}, {2, 2, 0});
  const auto said = [&](const std::string& statement, std::uint64_t object) {
    return text(run("__global__ void k(unsigned long long o, float* to) {\n  " + statement + "\n}", "k", shape(1, 1),
                    object, static_cast<float*>(nullptr)));
  };
  EXPECT_THAT(said("*to = tex2D<float>(o, 0, 0);", 0),
              HasSubstr("a value that is not a texture or surface object (test.cu:2)"));
  EXPECT_THAT(said("*to = tex1D<float>(o, 0);", array->texture({})), HasSubstr("with another number of dimensions"));
  EXPECT_THAT(said("*to = tex2D<float4>(o, 0, 0).x;", array->texture({})),
              HasSubstr("as a type that is not as large as its elements"));
  EXPECT_THAT(said("*to = tex2D<float4>(o, 0, 0).x;", array->texture({Outside::clamp, true})),
              HasSubstr("of floats, or of vectors of floats, as another type"));
  EXPECT_THAT(said("surf2Dwrite(1.0f, o, 8, 0);", array->surface()),
              HasSubstr("beyond the edge of a surface (test.cu:2)"));
  EXPECT_THAT(said("surf2Dwrite(1.0f, o, 2, 0);", array->surface()), HasSubstr("between two elements"));
  EXPECT_THAT(said("surf2Dwrite(1.0f, o, 0, 0);", array->texture({})), HasSubstr("a texture as a surface"));
  EXPECT_THAT(said("*to = tex2D<float>(o, 0, 0);", array->surface()), HasSubstr("a surface as a texture"));
  EXPECT_THAT(said("*to = tex2DLayered<float>(o, 0, 0, 0);", array->texture({})),
              HasSubstr("layered textures, cube maps and gathers are not available on the host backend"));
}

TEST(HostTextures, RefuseWhatAGpuCannotShow) {
  const auto refusal = [](ElementType type, int components, TextureReading reading, bool fetched = false) {
    return error_of([&] { backend().allocate_array({type, components, {4, 0, 0}, fetched, false})->texture(reading); });
  };
  EXPECT_THAT(refusal(ElementType::float64, 1, {}), HasSubstr("not double"));
  EXPECT_THAT(refusal(ElementType::float32, 3, {}), HasSubstr("1, 2 or 4 numbers"));
  EXPECT_THAT(refusal(ElementType::int32, 1, {Outside::clamp, true}), HasSubstr("'linear' interpolates floating"));
  EXPECT_THAT(refusal(ElementType::float32, 1, {Outside::clamp, false, false, true}), HasSubstr("'as_float' is for"));
  EXPECT_THAT(refusal(ElementType::float32, 1, {}, true), HasSubstr("linear memory is only for 'fetched'"));
  EXPECT_THAT(refusal(ElementType::float32, 1, {Outside::clamp, true, false, false, true}, true),
              HasSubstr("tex1Dfetch supports neither 'linear' nor 'normalized'"));
  EXPECT_THROW(backend().allocate_array({ElementType::float32, 1, {4, 4, 0}})->surface(), Error);
  EXPECT_EQ(refusal(ElementType::half, 4, {Outside::mirror, true, true}), "no error");
}

}  // namespace
}  // namespace tuner::host_test
