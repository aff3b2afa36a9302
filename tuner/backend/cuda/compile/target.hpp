#pragma once
/// The target of a compile. A chip from sm_90 on has instructions that no later chip has; NVRTC knows them only for the
/// target with the suffix `a`, whose code runs on no other chip.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/included_file.hpp>

namespace tuner::cuda {

/// The target of the chip itself: "sm_90a" for "sm_90", "compute_90a" for "compute_90". Empty if there is none, or if
/// \p architecture already has a suffix. \p nvrtc_version: 13000 for 13.0.
std::string own_target(std::string_view architecture, int nvrtc_version);

/// Whether one of \p texts names an instruction, a type or a macro that only chips' own targets have.
bool names_own_instructions(const std::vector<IncludedFile>& texts);

/// Whether the assembler refused a program because an instruction needs another target.
bool needs_own_target(std::string_view log);

}  // namespace tuner::cuda
