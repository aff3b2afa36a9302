#pragma once
/// Measures two configurations of one problem beside each other, in one new process after another, until it is known
/// whether one is slower.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tuner/core/device/device.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/measure/numbers/paired_comparison.hpp>
#include <tuner/use.hpp>

namespace tuner {

struct KernelSpec;

struct PairOptions {
  double margin = 0.01;   ///< of compare_pairs()
  double seconds = 10;    ///< without the first process, which compiles and verifies both
  std::uint64_t lot = 1;  ///< the seed that decides which one is loaded first
  const std::atomic<bool>* stop = nullptr;
};

struct PairResult {
  PairedComparison comparison;
  double seconds = 0;   ///< spent
  std::string failure;  ///< why they could not be compared; empty if they were
};

/// Starts an evaluator in a new process, with new allocations. \p rounds: MeasureOptions::finalist_rounds.
using StartEvaluator = std::function<std::unique_ptr<Evaluator>(std::size_t rounds)>;

/// Compares \p b with \p a. The first evaluator verifies both. Each later one measures them in turns. It does so once,
/// or loads both several times if few processes fit into the time.
PairResult compare_configurations(const StartEvaluator& start, const Configuration& a, const Configuration& b,
                                  const PairOptions& options = {});

/// The same in worker processes that use \p device. \p warn receives their warnings. Throws Error as tune_kernel().
PairResult compare_configurations(const KernelSpec& spec, const ProblemSize& size, const Device& device, Use use,
                                  const Configuration& a, const Configuration& b, const PairOptions& options,
                                  const std::function<void(std::string_view)>& warn = {});

}  // namespace tuner
