#pragma once
/// The best configurations of one kernel, by device, choices and sizes, as databases know them: what exports are made
/// of.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

#include <tuner/core/configuration.hpp>

namespace tuner::convert {

/// What is best for one problem on one device, or comes near it.
struct TunedSize {
  cache::DeviceRecord device;
  cache::ProblemRecord problem;
  Configuration configuration;
  double median_ns = 0;
  double share = 1;  ///< of the fastest that was measured there: its time / median_ns
};

/// How much a portfolio loses, for one device and combination of choices.
struct PortfolioResult {
  cache::DeviceRecord device;
  std::string choices;
  std::size_t configurations = 0;
  std::size_t sizes = 0;       ///< that were tuned
  std::size_t unmeasured = 0;  ///< of these, where no configuration of the portfolio was measured; not in the rows
  std::size_t unmatched = 0;   ///< of these, where one configuration alone is known: nothing says how others do there
  double worst = 0, mean = 0;  ///< shares of best over the other sizes
};

struct TunedResults {
  cache::KernelRecord kernel;
  std::vector<TunedSize> rows;  ///< by device, choices and sizes
  std::vector<PortfolioResult> portfolios;
};

/// Why serving would reject a configuration for a problem on a device; nothing when it would not.
using Objection = std::function<std::optional<std::string>(const cache::Context&, const std::string& configuration)>;

struct TunedOptions {
  std::string kernel;
  std::string device_key = {};   ///< empty: all devices; CPUs only where there is no GPU
  std::string source_hash = {};  ///< empty: of the source that was measured last
  Objection objection = {};      ///< results that it rejects are left out
  std::size_t portfolio = 0;     ///< at most so many configurations for each device and choices; 0: each size's best
};

/// Of time as the objective. Quarantined configurations are in no row. Throws tuner::Error where nothing is known.
TunedResults tuned_results(std::span<cache::Database> databases, const TunedOptions& options);

}  // namespace tuner::convert
