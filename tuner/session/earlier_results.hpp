#pragma once
/// What the databases know of a kernel at other sizes, for other choices and on other devices: a search may start from
/// there.

#include <optional>

#include <tuner/session/tune_session.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner {

/// The trials of the nearest tuning of \p spec, of all its sessions, or, where there is none with trials, the best
/// configurations known elsewhere. Near, in this order: the same device, the same choices, sizes within small factors,
/// the same source; another backend is never near. The very problem on the very device is left out unless the driver or
/// the compiler has changed since: that one is resumed, not guessed from. Nothing when nothing is known.
std::optional<Prior> earlier_results(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size,
                                     const Device& device, const Objective& objective);

}  // namespace tuner
