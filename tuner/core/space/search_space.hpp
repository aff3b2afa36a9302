#pragma once
/// Tuning parameters and constraints, and the configurations that meet them. An enumeration visits only prefixes that
/// can still become valid. It checks constraints as soon as their last parameter is bound. A product of 10^9 with a few
/// thousand valid configurations takes milliseconds. Spaces that are too large for that are searched by drawing.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/value.hpp>

namespace tuner {

class EnumeratedSpace;

/// A named predicate over parameters, problem size, choices and device limits.
struct Constraint {
  std::string name;
  Expression predicate;
};

/// Called now and then during a long enumeration; true ends it with EnumerationStopped. May be empty.
using StopHook = std::function<bool()>;

/// A StopHook ended an enumeration. what() says how far it had come.
class EnumerationStopped : public Error {
 public:
  using Error::Error;
};

class SearchSpace {
 public:
  SearchSpace() = default;
  /// Precondition: names are unique, and each parameter has 1 to 65535 different values.
  SearchSpace(std::vector<TuningParameter> parameters, std::vector<Constraint> constraints)
      : parameters_(std::move(parameters)), constraints_(std::move(constraints)) {}

  const std::vector<TuningParameter>& parameters() const { return parameters_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const TuningParameter* find(std::string_view name) const;
  /// Number of configurations before constraints; a double because it may pass 2^64.
  double product() const;

  /// Why \p configuration is invalid: `whole_warps: (block_x * block_y) % warp_size == 0 with block_x=8 block_y=1`.
  /// Nothing if it assigns every parameter one of its values and meets every constraint.
  std::optional<std::string> violation(const Configuration& configuration, const Bindings& fixed) const;

 private:
  std::vector<TuningParameter> parameters_;
  std::vector<Constraint> constraints_;
};

/// A predicate of an enumeration.
struct Conjunct {
  Expression predicate;
  bool failing_is_no = false;  ///< if evaluation fails, the configuration is invalid; otherwise the kernel is wrong
};

/// The most configurations that are listed.
constexpr std::size_t kMostListed = std::size_t{1} << 26;

/// The configurations for which no conjunct is false, in lexicographic order of the parameters as given. Throws
/// EvaluationError if the evaluation of a conjunct fails for one of them, std::length_error after kMostListed
/// configurations or \p most_seconds, EnumerationStopped if \p stop returns true. Stops after \p at_most
/// configurations, which may then be any.
EnumeratedSpace enumerate_conjuncts(const std::vector<TuningParameter>& parameters,
                                    const std::vector<Conjunct>& conjuncts, const Bindings& fixed, const StopHook& stop,
                                    std::size_t at_most = ~std::size_t{0}, double most_seconds = 60);

/// The same, but a space that is too large to be listed is an EnumeratedSpace::open() one. Throws std::length_error
/// only if the parameters have more than 2^63 combinations, or if no valid configuration is found in \p most_seconds.
EnumeratedSpace listed_or_drawn(const std::vector<TuningParameter>& parameters, const std::vector<Conjunct>& conjuncts,
                                const Bindings& fixed, const StopHook& stop, double most_seconds = 60);

}  // namespace tuner
