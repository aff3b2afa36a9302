#pragma once
/// Texture and surface objects on a CPU, as "Texture Fetching" of the CUDA C++ Programming Guide defines them. Weights
/// of interpolations have eight fractional bits, as on a GPU. Layers, cube maps and gathers are missing. This file also
/// has the toolkit's names for streams, events and errors, which device code may declare but never uses.

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
  int regsPerBlock, regsPerMultiprocessor, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
  int maxThreadsDim[3], maxGridSize[3];
  int major, minor, multiProcessorCount, l2CacheSize, warpSize;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

namespace tuner_host {

/// The place in a kernel of a call.
struct TextureSite {
  const char* file;
  int line;
};

[[noreturn]] inline void texture_fails(const char* why, const TextureSite& site) {
  api->fail(context.block, why, site.file, site.line);
  __builtin_unreachable();
}

template <typename T>
[[noreturn]] inline T no_texture(const char* file, int line) {
  texture_fails("layered textures, cube maps and gathers are not available on the host backend", {file, line});
}

inline const TextureObject& texture_of(unsigned long long object, bool surface, int dimensions,
                                       const TextureSite& site) {
  const auto* const texture = reinterpret_cast<const TextureObject*>(object);
  if (object % alignof(TextureObject) != 0 || object == 0 || texture->self != texture)
    texture_fails("reads or writes through a value that is not a texture or surface object", site);
  if (texture->surface != surface)
    texture_fails(surface ? "reads or writes a texture as a surface" : "reads a surface as a texture", site);
  if (texture->dimensions != dimensions)
    texture_fails("reads or writes a texture or surface with another number of dimensions", site);
  return *texture;
}

/// Moves \p at into the texture; false if zero is read instead.
inline bool inside_texture(const TextureObject& texture, int axis, long long& at) {
  const auto size = static_cast<long long>(texture.size[axis]);
  if (at >= 0 && at < size) return true;
  switch (texture.outside) {
    case TextureObject::kClamp:
      at = at < 0 ? 0 : size - 1;
      return true;
    case TextureObject::kBorder:
      return false;
    case TextureObject::kWrap:
      at = ((at % size) + size) % size;
      return true;
    case TextureObject::kMirror:
      at = ((at % (2 * size)) + 2 * size) % (2 * size);
      if (at >= size) at = 2 * size - 1 - at;
      return true;
  }
  return false;
}

/// The element at \p wanted; null if zero is read instead.
inline const unsigned char* texel(const TextureObject& texture, const long long (&wanted)[3]) {
  long long at[3] = {wanted[0], wanted[1], wanted[2]};
  for (int axis = 0; axis < texture.dimensions; ++axis)
    if (!inside_texture(texture, axis, at[axis])) return nullptr;
  const auto size_x = static_cast<long long>(texture.size[0]), size_y = static_cast<long long>(texture.size[1]);
  return texture.data + ((at[2] * size_y + at[1]) * size_x + at[0]) * texture.bytes * texture.components;
}

inline float float_of_half(unsigned short bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31  ? (fraction != 0 ? __builtin_nanf("") : __builtin_inff())
                     : exponent == 0 ? __builtin_ldexpf(static_cast<float>(fraction), -24)
                                     : __builtin_ldexpf(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <typename Stored>
inline Stored stored_component(const unsigned char* element, int component) {
  Stored value;
  __builtin_memcpy(&value, element + component * static_cast<int>(sizeof value), sizeof value);
  return value;
}

/// A component as a number: its value if it is floating, otherwise scaled to 0 (or -1) to 1.
inline float texture_number(const TextureObject& texture, const unsigned char* element, int component) {
  if (element == nullptr) return 0;
  const auto of_signed = [](float value) { return value < -1 ? -1.0f : value; };
  switch (texture.kind) {
    case TextureObject::kFloat:
      return stored_component<float>(element, component);
    case TextureObject::kHalf:
      return float_of_half(stored_component<unsigned short>(element, component));
    case TextureObject::kUnsigned:
      return texture.bytes == 1 ? stored_component<unsigned char>(element, component) / 255.0f
                                : stored_component<unsigned short>(element, component) / 65535.0f;
    case TextureObject::kSigned:
      return of_signed(texture.bytes == 1 ? stored_component<signed char>(element, component) / 127.0f
                                          : stored_component<short>(element, component) / 32767.0f);
  }
  return 0;
}

/// A component, interpolated between the neighbours of the coordinates in all dimensions.
inline float texture_between(const TextureObject& texture, const float (&coordinates)[3], int component) {
  long long begin[3] = {0, 0, 0};
  float weight[3] = {0, 0, 0};
  for (int axis = 0; axis < texture.dimensions; ++axis) {
    const float at = coordinates[axis] - 0.5f, whole = __builtin_floorf(at);
    begin[axis] = static_cast<long long>(whole);
    weight[axis] = __builtin_floorf((at - whole) * 256 + 0.5f) / 256;
  }
  float sum = 0;
  for (int corner = 0; corner < 1 << texture.dimensions; ++corner) {
    long long at[3];
    float part = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const bool far = (corner >> axis & 1) != 0;
      at[axis] = begin[axis] + (far ? 1 : 0);
      if (axis < texture.dimensions) part *= far ? weight[axis] : 1 - weight[axis];
    }
    if (part != 0) sum += part * texture_number(texture, texel(texture, at), component);
  }
  return sum;
}

/// Limits \p at to values that fit into an integer; a value that is far outside stays outside.
inline float bounded_coordinate(float at) {
  constexpr float far = 1e12f;
  return at != at ? 0 : at < -far ? -far : at > far ? far : at;
}

/// The components of an element, each from \p number(component), as a float or a vector of floats.
template <typename T, typename Number>
inline T texture_numbers(const TextureObject& texture, Number number, const TextureSite& site) {
  if (sizeof(T) != sizeof(float) * static_cast<size_t>(texture.components))
    texture_fails("reads a texture of floats, or of vectors of floats, as another type", site);
  float numbers[4];
  for (int component = 0; component < texture.components; ++component) numbers[component] = number(component);
  T value{};
  __builtin_memcpy(&value, numbers, sizeof value);
  return value;
}

/// The value of \p element for the kernel; null stands for zero.
template <typename T>
inline T texture_element(const TextureObject& texture, const unsigned char* element, const TextureSite& site) {
  if (texture.as_float || texture.kind == TextureObject::kHalf)
    return texture_numbers<T>(
        texture, [&](int component) { return texture_number(texture, element, component); }, site);
  if (sizeof(T) != static_cast<size_t>(texture.bytes * texture.components))
    texture_fails("reads a texture as a type that is not as large as its elements", site);
  T value{};
  if (element != nullptr) __builtin_memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
inline T fetch_texture(unsigned long long object, int x, const TextureSite& site) {
  const TextureObject& texture = texture_of(object, false, 1, site);
  if (!texture.fetched) texture_fails("tex1Dfetch reads linear memory, so the texture must be 'fetched'", site);
  const bool outside = x < 0 || static_cast<unsigned long long>(x) >= texture.size[0];
  return texture_element<T>(texture, outside ? nullptr : texel(texture, {x, 0, 0}), site);
}

template <typename T>
inline T read_texture(unsigned long long object, int dimensions, float x, float y, float z, const TextureSite& site) {
  const TextureObject& texture = texture_of(object, false, dimensions, site);
  if (texture.fetched) texture_fails("reads a texture that is 'fetched' without tex1Dfetch", site);
  float coordinates[3] = {x, y, z};
  long long nearest[3] = {0, 0, 0};
  for (int axis = 0; axis < dimensions; ++axis) {
    if (texture.normalized) coordinates[axis] *= static_cast<float>(texture.size[axis]);
    coordinates[axis] = bounded_coordinate(coordinates[axis]);
    nearest[axis] = static_cast<long long>(__builtin_floorf(coordinates[axis]));
  }
  if (!texture.linear) return texture_element<T>(texture, texel(texture, nearest), site);
  return texture_numbers<T>(
      texture, [&](int component) { return texture_between(texture, coordinates, component); }, site);
}

/// The element of a surface at \p byte bytes from the beginning of its row; null: nothing is read or written.
template <typename T>
inline unsigned char* surface_element(unsigned long long object, int dimensions, int byte, int y, int z,
                                      cudaSurfaceBoundaryMode mode, const TextureSite& site) {
  const TextureObject& surface = texture_of(object, true, dimensions, site);
  if (sizeof(T) != static_cast<size_t>(surface.bytes * surface.components))
    texture_fails("reads or writes a surface as a type that is not as large as its elements", site);
  if (byte % static_cast<int>(sizeof(T)) != 0)
    texture_fails("reads or writes a surface at an x, which counts bytes, between two elements", site);
  long long at[3] = {byte / static_cast<int>(sizeof(T)), y, z};
  for (int axis = 0; axis < dimensions; ++axis) {
    const auto size = static_cast<long long>(surface.size[axis]);
    if (at[axis] >= 0 && at[axis] < size) continue;
    if (mode == cudaBoundaryModeTrap) texture_fails("reads or writes beyond the edge of a surface", site);
    if (mode == cudaBoundaryModeZero) return nullptr;
    at[axis] = at[axis] < 0 ? 0 : size - 1;
  }
  return const_cast<unsigned char*>(texel(surface, at));
}

template <typename T>
inline T read_surface(unsigned long long object, int dimensions, int byte, int y, int z, cudaSurfaceBoundaryMode mode,
                      const TextureSite& site) {
  T value{};
  if (const unsigned char* const from = surface_element<T>(object, dimensions, byte, y, z, mode, site))
    __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
inline void write_surface(const T& value, unsigned long long object, int dimensions, int byte, int y, int z,
                          cudaSurfaceBoundaryMode mode, const TextureSite& site) {
  if (unsigned char* const to = surface_element<T>(object, dimensions, byte, y, z, mode, site))
    __builtin_memcpy(to, &value, sizeof value);
}

}  // namespace tuner_host

template <typename T>
inline T tex1Dfetch(cudaTextureObject_t texture, int x, TUNER_HOST_SITE) {
  return tuner_host::fetch_texture<T>(texture, x, {file, line});
}
template <typename T>
inline void tex1Dfetch(T* to, cudaTextureObject_t texture, int x, TUNER_HOST_SITE) {
  *to = tuner_host::fetch_texture<T>(texture, x, {file, line});
}

// Each function exists in two forms: one returns the value, one stores it. The level of detail is ignored: only one
// exists.
#define TUNER_HOST_TEXTURE(name, dimensions, parameters, x, y, z)                                     \
  template <typename T>                                                                               \
  inline T name(cudaTextureObject_t texture, TUNER_HOST_LIST parameters, TUNER_HOST_SITE) {           \
    return tuner_host::read_texture<T>(texture, dimensions, x, y, z, {file, line});                   \
  }                                                                                                   \
  template <typename T>                                                                               \
  inline void name(T* to, cudaTextureObject_t texture, TUNER_HOST_LIST parameters, TUNER_HOST_SITE) { \
    *to = tuner_host::read_texture<T>(texture, dimensions, x, y, z, {file, line});                    \
  }
#define TUNER_HOST_LIST(...) __VA_ARGS__
TUNER_HOST_TEXTURE(tex1D, 1, (float x), x, 0, 0)
TUNER_HOST_TEXTURE(tex2D, 2, (float x, float y), x, y, 0)
TUNER_HOST_TEXTURE(tex3D, 3, (float x, float y, float z), x, y, z)
TUNER_HOST_TEXTURE(tex1DLod, 1, (float x, float), x, 0, 0)
TUNER_HOST_TEXTURE(tex2DLod, 2, (float x, float y, float), x, y, 0)
TUNER_HOST_TEXTURE(tex3DLod, 3, (float x, float y, float z, float), x, y, z)
#undef TUNER_HOST_TEXTURE

#define TUNER_HOST_NO_TEXTURE(name, ...)                             \
  template <typename T>                                              \
  inline T name(cudaTextureObject_t, __VA_ARGS__, TUNER_HOST_SITE) { \
    return tuner_host::no_texture<T>(file, line);                    \
  }
TUNER_HOST_NO_TEXTURE(tex1DLayered, float, int)
TUNER_HOST_NO_TEXTURE(tex2DLayered, float, float, int)
TUNER_HOST_NO_TEXTURE(tex2Dgather, float, float, int)
TUNER_HOST_NO_TEXTURE(texCubemap, float, float, float)
#undef TUNER_HOST_NO_TEXTURE

#define TUNER_HOST_SURFACE(dimension, parameters, y, z)                                                       \
  template <typename T>                                                                                       \
  inline void surf##dimension##Dread(T* to, cudaSurfaceObject_t surface, TUNER_HOST_LIST parameters,          \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, TUNER_HOST_SITE) {  \
    *to = tuner_host::read_surface<T>(surface, dimension, x, y, z, mode, {file, line});                       \
  }                                                                                                           \
  template <typename T>                                                                                       \
  inline T surf##dimension##Dread(cudaSurfaceObject_t surface, TUNER_HOST_LIST parameters,                    \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, TUNER_HOST_SITE) {     \
    return tuner_host::read_surface<T>(surface, dimension, x, y, z, mode, {file, line});                      \
  }                                                                                                           \
  template <typename T>                                                                                       \
  inline void surf##dimension##Dwrite(T value, cudaSurfaceObject_t surface, TUNER_HOST_LIST parameters,       \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, TUNER_HOST_SITE) { \
    tuner_host::write_surface<T>(value, surface, dimension, x, y, z, mode, {file, line});                     \
  }
TUNER_HOST_SURFACE(1, (int x), 0, 0)
TUNER_HOST_SURFACE(2, (int x, int y), y, 0)
TUNER_HOST_SURFACE(3, (int x, int y, int z), y, z)
#undef TUNER_HOST_SURFACE
#undef TUNER_HOST_LIST
