#pragma once
/// NVRTC (libnvrtc.so), found and loaded at run time: a table of its functions, typed by nvrtc.h, its version, its
/// architectures, and the CUDA headers that belong to it. Thread-safe once loaded.

#include <nvrtc.h>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cache/file/disk.hpp>

#include <tuner/backend/cuda/driver/toolkit.hpp>
#include <tuner/error.hpp>

namespace tuner::cuda {

// clang-format off
#define TUNER_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs) X(nvrtcCreateProgram) \
  X(nvrtcDestroyProgram) X(nvrtcCompileProgram) X(nvrtcAddNameExpression) X(nvrtcGetLoweredName) \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)
// clang-format on
/// The facts about an NVRTC that are needed before anything is compiled.
struct NvrtcFacts {
  int version = 0;                 ///< 13000 for 13.0
  std::vector<int> architectures;  ///< 75, 80, … ascending
  /// The versions of its CUDA headers: "CUDART_VERSION 13000 CUB_VERSION 300001"; empty when none were found.
  std::string headers;
};

struct Nvrtc : NvrtcFacts {
  TUNER_NVRTC_FUNCTIONS(TUNER_MEMBER)
  /// nvrtcSetPCHHeapSize(), which sets the room for precompiled headers in bytes; null before NVRTC 12.8.
  nvrtcResult (*set_pch_heap_size)(std::size_t) = nullptr;
  std::filesystem::path library;                ///< the file that was loaded
  std::vector<std::filesystem::path> includes;  ///< folders with cuda_fp16.h; empty when none was found
};

/// Where to look. The Python packages (nvidia-cuda-nvrtc) of other Python installations than tuner's own are tried only
/// if `requested` is "python". A driver loads no code of an NVRTC that is newer than itself.
struct NvrtcSearch {
  std::string requested = {};          ///< a file, a folder, or "python"; if set, nothing else is tried
  int newest_major = 0;                ///< the driver's CUDA version; newer NVRTCs come last; 0: any
  std::vector<int> capabilities = {};  ///< GPUs to compile for: 90 for 9.0
};

/// The files that would be tried, best first: $CUDA_PATH, $CUDA_HOME, /usr/local/cuda*, Python packages beside tuner's,
/// the loader's own path. The loader searches for entries without a folder.
std::vector<std::filesystem::path> nvrtc_candidates(const NvrtcSearch& search);

/// The first candidate that loads and compiles for all of NvrtcSearch::capabilities, else the first that loads. If none
/// loads: why, and what to do.
std::variant<Nvrtc, std::string> load_nvrtc(const NvrtcSearch& search);

/// The process's NVRTC: $TUNER_NVRTC if set, else the result of load_nvrtc() for this driver. Loaded at the first call.
/// Null: there is none. The next call searches again.
const Nvrtc* find_nvrtc();
/// The same. Throws NvrtcError, which lists the places tried, if there is none, and Passing if one cannot be loaded
/// now. \p gpus: the compute capabilities that it must compile for. If the first call gives none, the driver is asked,
/// which takes 0.1 s.
const Nvrtc& nvrtc(const std::vector<int>& gpus = {});
/// The facts about the process's NVRTC. If an earlier process stored them in the cache folder, and none of the files on
/// which they depend has changed, this does not load its 100 MB. Null: there is none.
const NvrtcFacts* find_nvrtc_facts();

/// All that decides which NVRTC \p search finds: its settings, and each candidate with size and time.
std::string nvrtc_search_text(const NvrtcSearch& search);
/// Stores the facts about \p nvrtc, the result of \p search, in \p file for read_nvrtc_facts(). Ignores failures.
void write_nvrtc_facts(const std::filesystem::path& file, const NvrtcSearch& search, const Nvrtc& nvrtc,
                       cache::Disk& disk = cache::real_disk());
/// The facts in \p file. nullopt if another search wrote them, or if one of the files has changed since.
std::optional<NvrtcFacts> read_nvrtc_facts(const std::filesystem::path& file, const NvrtcSearch& search,
                                           cache::Disk& disk = cache::real_disk());

/// NVRTC is missing, or failed for a reason other than the source.
class NvrtcError : public Error {
 public:
  explicit NvrtcError(const std::string& message) : Error(ErrorCode::compiler, message) {}
};

}  // namespace tuner::cuda
