#pragma once
/// The measurements of bench/truth. Each part makes findings, which table.hpp turns into the five numbers.

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/truth/lab.hpp>

namespace bench::truth {

/// The parts by number, from 1. `seeds` follows from the findings of `winners`.
inline constexpr const char* kParts[] = {"winners", "seeds", "told", "classes", "compare"};

struct Options {
  std::string device = "cuda";
  std::vector<std::string> parts;  ///< names; empty: all
  /// For Problem::parse(); empty: those of each part. The part `compare` takes those of the kernel `slowed`, and the
  /// other parts all others.
  std::vector<std::string> problems;
  std::size_t seeds = 12;
  std::uint64_t first_seed = 1;
  Limits limits;            ///< of a tuning
  double class_budget = 3;  ///< seconds, of a tuning of the part `classes`

  std::size_t samples = 15;     ///< processes in which winners are replayed
  std::size_t draws = 2;        ///< sizes for each problem of the part `classes`
  std::size_t comparisons = 3;  ///< of each pair of the part `compare`
  std::size_t placements = 16;  ///< processes of each comparison

  bool has(const std::string& part) const;
};

/// A piece of work that can be planned: about so many seconds.
struct Step {
  std::string what;
  double seconds = 0;
  /// Measures. Returns a finding.
  std::function<nlohmann::json(Lab& lab)> work;
};

/// The work of the parts in \p options, in order. Throws std::invalid_argument, or tuner::Error for an unknown kernel.
std::vector<Step> steps(const Options& options);

}  // namespace bench::truth
