#pragma once
/// Walks over the configurations that meet all of a list of predicates. Private to this room.

#include <vector>

#include <tuner/core/enumerated_space.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/search_space.hpp>
#include <tuner/core/tuning_parameter.hpp>

namespace tuner {

struct Conjunct {
  Expression predicate;
  bool failing_is_no = false;  ///< no answer means that the configuration is invalid, not that the kernel is wrong
};

/// Configurations for which no conjunct is false, in lexicographic order of the parameters as given. Throws
/// EvaluationError when one of them is left whose conjunct has no answer, std::length_error past 2^26 of them or
/// after too many steps, EnumerationStopped when \p stop says so. Ends when \p at_most were found, in whatever order.
EnumeratedSpace enumerate_conjuncts(const std::vector<TuningParameter>& parameters,
                                    const std::vector<Conjunct>& conjuncts, const Bindings& fixed, const StopHook& stop,
                                    std::size_t at_most = ~std::size_t{0});

}  // namespace tuner
