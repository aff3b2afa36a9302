#pragma once
/// NVRTC (libnvrtc.so), found and loaded at run time: a table of its functions typed from nvrtc.h, its version, the
/// architectures it compiles for, and the CUDA headers that belong to it. Thread-safe once loaded.

#include <nvrtc.h>

#include <filesystem>
#include <optional>
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
/// What is asked of an NVRTC without compiling.
struct NvrtcFacts {
  int version = 0;                 ///< 13000 for 13.0
  std::vector<int> architectures;  ///< 75, 80, … ascending
  /// The versions of its CUDA headers: "CUDART_VERSION 13000 CUB_VERSION 300001"; empty when none were found.
  std::string headers;
};

struct Nvrtc : NvrtcFacts {
#define TUNER_NVRTC_MEMBER(name) decltype(&::name) name = nullptr;
  TUNER_NVRTC_FUNCTIONS(TUNER_NVRTC_MEMBER)
#undef TUNER_NVRTC_MEMBER
  std::filesystem::path library;                ///< the file that was loaded
  std::vector<std::filesystem::path> includes;  ///< folders with cuda_fp16.h; empty when none was found
};

/// Where to look.
struct NvrtcSearch {
  std::string asked = {};  ///< a file or a folder, nothing else is tried; "python" for Python packages only
  bool python = false;     ///< also in Python packages (nvidia-cuda-nvrtc), last
  int newest_major = 0;    ///< a driver of CUDA 12 loads no code of NVRTC 13: newer ones are tried last; 0: any
  std::vector<int> capabilities = {};  ///< of the GPUs that it must compile for: 90 for 9.0
};

/// The files that would be tried, best first: $CUDA_PATH, $CUDA_HOME, /usr/local/cuda*, the loader's own path.
/// Entries without a folder are left to the loader.
std::vector<std::filesystem::path> nvrtc_candidates(const NvrtcSearch& search);

/// The first candidate that loads and compiles for all of NvrtcSearch::capabilities; if there is none, the first that
/// loads; else why none did and what to do.
std::variant<Nvrtc, std::string> load_nvrtc(const NvrtcSearch& search);

/// The process's NVRTC: $TUNER_NVRTC when set, else the best that load_nvrtc finds for this driver; loaded at the
/// first call. Null when there is none.
const Nvrtc* find_nvrtc();
/// The same; throws NvrtcError saying where it was looked for.
const Nvrtc& nvrtc();
/// The facts of the process's NVRTC, without loading its 100 MB: an earlier process has left them in the cache folder,
/// and no file that was looked at has changed since. Otherwise loads it. Null when there is none.
const NvrtcFacts* find_nvrtc_facts();

/// Every file that decides which NVRTC is found, with its size and time, and what else decides it.
std::string nvrtc_search_text(const NvrtcSearch& search);
/// Keeps \p nvrtc, which \p search has found, in \p file for read_nvrtc_facts(). A failure is ignored.
void write_nvrtc_facts(const std::filesystem::path& file, const NvrtcSearch& search, const Nvrtc& nvrtc);
/// What \p file holds. Nothing if another search wrote it, or if a file has changed since.
std::optional<NvrtcFacts> read_nvrtc_facts(const std::filesystem::path& file, const NvrtcSearch& search);

/// NVRTC is missing or failed in a way that is not the source's fault.
class NvrtcError : public Error {
 public:
  explicit NvrtcError(const std::string& message) : Error(ErrorCode::compiler, message) {}
};

}  // namespace tuner::cuda
