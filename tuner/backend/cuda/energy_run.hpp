#pragma once
/// Measures the energy of launches: runs them back to back for as long as the sensor needs.

#include <span>

#include <tuner/backend/cuda/energy_watch.hpp>
#include <tuner/backend/cuda/stream_timer.hpp>

namespace tuner::cuda {

/// As Backend::energy(), on \p stream in the current context.
EnergyResult measure_energy(EnergySensor& sensor, std::span<PreparedLaunch> launches, CUstream stream, double seconds);

}  // namespace tuner::cuda
