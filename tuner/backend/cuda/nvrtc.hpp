#pragma once
/// NVRTC (libnvrtc.so), found and loaded at run time: a table of its functions typed from nvrtc.h, its version, the
/// architectures it compiles for, and the CUDA headers that belong to it. Thread-safe once loaded.

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/error.hpp>

namespace tuner::cuda {

// clang-format off
#define TUNER_NVRTC_FUNCTIONS(X)                                                                   \
  X(nvrtcVersion)                                                                                  \
  X(nvrtcGetErrorString)                                                                           \
  X(nvrtcGetNumSupportedArchs)                                                                     \
  X(nvrtcGetSupportedArchs)                                                                        \
  X(nvrtcCreateProgram)                                                                            \
  X(nvrtcDestroyProgram)                                                                           \
  X(nvrtcCompileProgram)                                                                           \
  X(nvrtcAddNameExpression) X(nvrtcGetLoweredName) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
      X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)

// clang-format on
struct Nvrtc {
#define TUNER_NVRTC_MEMBER(name) decltype(&::name) name = nullptr;
  TUNER_NVRTC_FUNCTIONS(TUNER_NVRTC_MEMBER)
#undef TUNER_NVRTC_MEMBER
  std::filesystem::path library;                ///< the file that was loaded
  int version = 0;                              ///< 13000 for 13.0
  std::vector<int> architectures;               ///< 75, 80, … ascending
  std::vector<std::filesystem::path> includes;  ///< folders with cuda_fp16.h; empty when none was found
  std::string headers;  ///< their versions: "CUDART_VERSION 13000 CUB_VERSION 300001"; empty like includes
};

/// Where to look.
struct NvrtcSearch {
  std::string asked = {};  ///< a file or a folder, nothing else is tried; "python" for Python packages only
  bool python = false;     ///< also in Python packages (nvidia-cuda-nvrtc), last
  int newest_major = 0;    ///< a driver of CUDA 12 loads no code of NVRTC 13: newer ones are tried last; 0: any
};

/// The files that would be tried, best first: $CUDA_PATH, $CUDA_HOME, /usr/local/cuda*, the loader's own path.
/// Entries without a folder are left to the loader.
std::vector<std::filesystem::path> nvrtc_candidates(const NvrtcSearch& search);

/// The first candidate that loads, or why none did and what to do.
std::variant<Nvrtc, std::string> load_nvrtc(const NvrtcSearch& search);

/// The process's NVRTC: $TUNER_NVRTC when set, else the best that load_nvrtc finds for this driver; loaded at the
/// first call. Null when there is none.
const Nvrtc* find_nvrtc();
/// The same; throws NvrtcError saying where it was looked for.
const Nvrtc& nvrtc();

/// NVRTC is missing or failed in a way that is not the source's fault.
class NvrtcError : public Error {
 public:
  using Error::Error;
};

}  // namespace tuner::cuda
