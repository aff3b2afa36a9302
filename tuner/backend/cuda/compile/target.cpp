#include <tuner/backend/cuda/compile/target.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner::cuda {
namespace {

/// Without their own target, some of these do not compile, some become slower code, and macros choose other code.
constexpr std::array<std::string_view, 22> kOwn{
    // instructions and their modifiers
    "wgmma", "setmaxnreg", "tcgen05", "tensormap.replace", "tensormap_replace", "multicast::cluster", "cta_group",
    "block_scale", "kind::f8f6f4",
    // types with conversions in hardware
    "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "cuda_fp4.h", "cuda_fp6.h", "__nv_fp4", "__nv_fp6",
    // macros
    "__CUDA_ARCH_FEAT_SM", "__CUDA_ARCH_SPECIFIC__", "__CUDA_ARCH_FAMILY_SPECIFIC__", "__CUDA_ARCH_HAS_FEATURE__",
    "NV_HAS_FEATURE_SM"};

bool is_named_in(std::string_view text) {
  return std::ranges::any_of(kOwn, [&](std::string_view name) { return text.find(name) != npos; });
}

}  // namespace

std::string own_target(std::string_view architecture, int nvrtc_version) {
  constexpr int kHopper = 90, kFirstVersion = 12000;
  if (architecture.empty() || !is_digit(architecture.back()) || nvrtc_version < kFirstVersion) return {};
  const std::optional<int> part = virtual_capability(architecture);
  return (part ? part : compute_capability(architecture)).value_or(0) < kHopper ? std::string()
                                                                                : std::string(architecture) + 'a';
}

bool names_own_instructions(const std::vector<IncludedFile>& texts) {
  // Most texts name none, so comments are removed only from those that do.
  return std::ranges::any_of(texts, [](const IncludedFile& one) {
    return is_named_in(one.text) && is_named_in(code_of(one.text, Literals::kept));
  });
}

bool needs_own_target(std::string_view log) {
  // The second is of <cuda/ptx>: __cuda_ptx_…_is_only_supported_on_SM_90a__ is a function that does not exist.
  return log.find("not supported on .target") != npos || log.find("Unresolved extern function '__cuda_ptx_") != npos;
}

}  // namespace tuner::cuda
