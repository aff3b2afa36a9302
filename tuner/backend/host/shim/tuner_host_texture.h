#pragma once
/// Texture and surface objects as types and functions: kernels that name them compile, those that read through one end
/// with an error, as there is none on a CPU. And the toolkit's names for streams, events and errors, which device code
/// declares but never uses.

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
enum cudaError_t { cudaSuccess = 0 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

namespace tuner_host {
template <typename T>
[[noreturn]] inline T no_texture(const char* file, int line) {
  api->fail(context.block, "textures and surfaces are not available on the host backend", file, line);
  __builtin_unreachable();
}
}  // namespace tuner_host

#define TUNER_HOST_TEXTURE(name, ...)                                \
  template <typename T>                                              \
  inline T name(cudaTextureObject_t, __VA_ARGS__, TUNER_HOST_SITE) { \
    return tuner_host::no_texture<T>(file, line);                    \
  }
TUNER_HOST_TEXTURE(tex1Dfetch, int)
TUNER_HOST_TEXTURE(tex1D, float)
TUNER_HOST_TEXTURE(tex2D, float, float)
TUNER_HOST_TEXTURE(tex3D, float, float, float)
TUNER_HOST_TEXTURE(tex1DLod, float, float)
TUNER_HOST_TEXTURE(tex2DLod, float, float, float)
TUNER_HOST_TEXTURE(tex1DLayered, float, int)
TUNER_HOST_TEXTURE(tex2DLayered, float, float, int)
TUNER_HOST_TEXTURE(tex2Dgather, float, float, int)
TUNER_HOST_TEXTURE(texCubemap, float, float, float)
#undef TUNER_HOST_TEXTURE
#define TUNER_HOST_SURFACE(dimension, ...)                                                                         \
  template <typename T>                                                                                            \
  inline void surf##dimension##read(T*, cudaSurfaceObject_t, __VA_ARGS__,                                          \
                                    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, TUNER_HOST_SITE) {             \
    tuner_host::no_texture<T>(file, line);                                                                         \
  }                                                                                                                \
  template <typename T>                                                                                            \
  inline T surf##dimension##read(cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, \
                                 TUNER_HOST_SITE) {                                                                \
    return tuner_host::no_texture<T>(file, line);                                                                  \
  }                                                                                                                \
  template <typename T>                                                                                            \
  inline void surf##dimension##write(T, cudaSurfaceObject_t, __VA_ARGS__,                                          \
                                     cudaSurfaceBoundaryMode = cudaBoundaryModeTrap, TUNER_HOST_SITE) {            \
    tuner_host::no_texture<T>(file, line);                                                                         \
  }
TUNER_HOST_SURFACE(1D, int)
TUNER_HOST_SURFACE(2D, int, int)
TUNER_HOST_SURFACE(3D, int, int, int)
#undef TUNER_HOST_SURFACE
