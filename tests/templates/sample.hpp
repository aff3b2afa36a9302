#pragma once
/// Seeded samples of a kernel's configurations, and their verification on the host backend.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/measure/measure_options.hpp>

#include "built_in.hpp"

namespace tuner {
struct DeviceLimits;
class SearchSpace;
struct KernelSpec;
}  // namespace tuner

namespace tuner::testing {

/// What the configurations run on: the host backend, or a GPU (host_subject.cpp, gpu_subject.cpp).
struct Subject {
  std::unique_ptr<Backend> backend;  ///< null: not on this machine
  std::string why_not;
};
Subject subject();

/// How many configurations a kernel's sample has: $TUNER_SAMPLES, else 50. With kAllValues of them, every value of
/// every parameter occurs.
std::size_t sample_size();
constexpr std::size_t kAllValues = 200;

/// Picks configurations that differ: of a few random ones, the one whose values were used least so far. Use one
/// picker for all problems of a kernel, so that together they cover every value.
class Picker {
 public:
  /// $TUNER_SAMPLE_SEED makes other samples of all kernels.
  explicit Picker(std::uint64_t seed);
  /// \p count valid configurations, or all if there are fewer.
  std::vector<Configuration> pick(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                  std::size_t count);
  /// Values of \p space that no pick had, as `parameter=value`.
  std::vector<std::string> never_used(const SearchSpace& space) const;

 private:
  std::uint64_t next();

  std::uint64_t state_;
  std::map<std::string, std::size_t> uses_;  // by parameter=value, and by pair of words
};

/// All valid configurations.
std::vector<Configuration> all_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

/// Only what verification needs: one sample, no warm-up. AddressSanitizer guards the buffers better than canaries: it
/// sees reads too, but only where nothing of ours lies behind their end.
MeasureOptions verify_only();

/// Compiles \p configurations for \p size in one go, runs each on \p size and on every `verify` problem of \p spec,
/// and reports as test failures those whose output is not the reference's.
void expect_right(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                  const std::vector<Configuration>& configurations);

}  // namespace tuner::testing
