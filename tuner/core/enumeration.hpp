#pragma once
/// Finds the configurations that meet all predicates of a list. Private to this room.

#include <vector>

#include <tuner/core/enumerated_space.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/search_space.hpp>
#include <tuner/core/value.hpp>

namespace tuner {

struct Conjunct {
  Expression predicate;
  bool failing_is_no = false;  ///< if evaluation fails, the configuration is invalid; otherwise the kernel is wrong
};

/// The configurations for which no conjunct is false, in lexicographic order of the parameters as given. Throws
/// EvaluationError if the evaluation of a conjunct fails for one of them, std::length_error after 2^26 configurations
/// or \p most_seconds, EnumerationStopped if \p stop returns true. Stops after \p at_most configurations, which may
/// then be any.
EnumeratedSpace enumerate_conjuncts(const std::vector<TuningParameter>& parameters,
                                    const std::vector<Conjunct>& conjuncts, const Bindings& fixed, const StopHook& stop,
                                    std::size_t at_most = ~std::size_t{0}, double most_seconds = 60);

}  // namespace tuner
