#pragma once
/// Stored results of a kernel for other sizes, other choices and on other devices. A search can start from them.

#include <tuner/session/tune_session.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner {

/// The trials of the nearest tuning of \p spec, from all its sessions. If no tuning has trials, the best configurations
/// of other problems and devices. Nearness depends on the device, the choices, the ratio of the sizes, and the source.
/// Another backend is never near. The same problem on the same device is left out, because it is resumed instead,
/// unless the driver or the compiler has changed. nullopt when nothing is known.
std::optional<Prior> earlier_results(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                                     const Device& device, const Objective& objective);

}  // namespace tuner
