#pragma once
/// CUPTI's Range Profiler (libcupti.so.13 or .12), found and loaded at run time: a table of its functions, typed by its
/// headers, and an explanation for each failure, with its cure. Private to this folder. Compiled only if
/// TUNER_HAS_CUPTI is defined: CUPTI's headers, of CUDA 12.6 or newer, were found at build time.

#include <cuda.h>
#include <cupti_result.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/toolkit.hpp>
#include <tuner/backend/cuda/observe/chip_metrics.hpp>

namespace tuner::cuda {

// clang-format off
#define TUNER_CUPTI_FUNCTIONS(X) \
  X(cuptiGetVersion) X(cuptiGetResultString) X(cuptiDeviceGetChipName) X(cuptiProfilerInitialize) \
  X(cuptiProfilerGetCounterAvailability) X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) \
  X(cuptiProfilerHostGetSupportedChips) X(cuptiProfilerHostGetBaseMetrics) X(cuptiProfilerHostGetSubMetrics) \
  X(cuptiProfilerHostGetMetricProperties) X(cuptiProfilerHostConfigAddMetrics) \
  X(cuptiProfilerHostGetConfigImageSize) X(cuptiProfilerHostGetConfigImage) X(cuptiProfilerHostGetNumOfPasses) \
  X(cuptiProfilerHostEvaluateToGpuValues) X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) \
  X(cuptiRangeProfilerSetConfig) X(cuptiRangeProfilerStart) X(cuptiRangeProfilerStop) X(cuptiRangeProfilerPushRange) \
  X(cuptiRangeProfilerPopRange) X(cuptiRangeProfilerDecodeData) X(cuptiRangeProfilerGetCounterDataSize) \
  X(cuptiRangeProfilerCounterDataImageInitialize)
// clang-format on

/// The functions under their own names: `cupti.cuptiRangeProfilerEnable(...)`. The library is never closed.
struct Cupti {
  TUNER_CUPTI_FUNCTIONS(TUNER_MEMBER)
  std::filesystem::path library;  ///< the file that was loaded
  std::uint32_t version = 0;      ///< CUPTI's own number: 130001 for CUDA 13.0
};

/// Where to look.
struct CuptiSearch {
  std::string requested = {};        ///< a file or a folder; if set, nothing else is tried
  std::filesystem::path nvrtc = {};  ///< the NVRTC in use: its folder is tried first
  int newest_major = 0;              ///< the driver's CUDA version; newer CUPTIs come last; 0: any
};

/// The files that would be tried, best first. The loader searches for entries without a folder.
std::vector<std::filesystem::path> cupti_candidates(const CuptiSearch& search);

// In this folder, Error says why something is not available: the functions of chip_metrics.hpp make it Unavailable.

/// The first candidate that loads. Throws Error if there is none, with what to do.
Cupti load_cupti(const CuptiSearch& search);

/// The process's CUPTI: $TUNER_CUPTI if set, else the result of load_cupti(). Loaded at the first call. Throws Error.
const Cupti& process_cupti();

/// Throws Error unless \p result is a success: why \p call of \p cupti failed, and what to do about it.
void check(const Cupti& cupti, CUptiResult result, const char* call);

// The functions of chip_metrics.hpp, for a given CUPTI, which must outlive their results.

std::vector<std::string> known_chips(const Cupti& cupti);
/// \p availability: the counters of the chip that can be used on a device; empty: all.
std::unique_ptr<ChipMetrics> chip_metrics(const Cupti& cupti, std::string_view chip,
                                          std::vector<std::uint8_t> availability = {});
std::string chip_of_device(const Cupti& cupti, int ordinal);

/// Parameters of a function of CUPTI, zeroed, with the size from which CUPTI derives their version.
template <typename Parameters>
Parameters sized_parameters(std::size_t size) {
  Parameters parameters{};
  parameters.structSize = size;
  return parameters;
}
#define TUNER_CUPTI_PARAMETERS(type) sized_parameters<type>(type##_STRUCT_SIZE)

}  // namespace tuner::cuda
