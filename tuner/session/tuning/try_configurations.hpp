#pragma once
/// Runs given configurations of one problem, without a search. Each is stored as a trial, and none becomes the best.

#include <span>
#include <vector>

#include <tuner/session/tuning/tuning.hpp>

namespace tuner {

/// A trial for each of \p configurations, in any order: fewer if SessionOptions::stop ends it. One that is not valid
/// there, or in quarantine, does not run, and its trial is a failure. \p backend: as tune_kernel(), and this throws
/// like it, and DeviceLostError if the device cannot be used any more.
std::vector<Trial> try_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                      Wisdom& wisdom, const TuningOptions& options,
                                      std::span<const Configuration> configurations, Observer& observer,
                                      Backend* backend = nullptr);

/// The same with an evaluator, for tests.
std::vector<Trial> try_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                      Evaluator& evaluator, TrialStore& store, const SessionOptions& options,
                                      std::span<const Configuration> configurations, Observer& observer);

}  // namespace tuner
