#pragma once
/// Judges configurations before any of them runs, from the kernel file and the device alone.

#include <cstdint>
#include <vector>

#include <tuner/core/space/search_space.hpp>
#include <tuner/search/strategy.hpp>

namespace tuner {

struct DeviceLimits;
struct KernelSpec;
struct ProblemSize;

/// The kernel file's `estimate` of the configurations of \p space, for Strategy::seed_prior(). Where estimates are
/// equal, those that differ least from the default come first. Of a space with more than 16,384 configurations it
/// judges as many that are drawn with \p seed, and those that differ from the default in one parameter. Leaves out
/// configurations whose estimate has no number. Empty if all are equal, and after \p stop.
std::vector<search::Observation> expected_times(const KernelSpec& spec, const ProblemSize& size,
                                                const DeviceLimits& limits, const EnumeratedSpace& space,
                                                std::uint64_t seed, const StopHook& stop = {});

}  // namespace tuner
