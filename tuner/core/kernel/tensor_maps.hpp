#pragma once
/// The tensor maps of a kernel: their numbers, and CUDA's rules for them.

#include <string>
#include <vector>

#include <tuner/core/device/tensor_map.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

struct KernelSpec;
struct ProblemSize;
struct TensorMapSpec;

/// \p map with every name replaced by its value. \p type: of its buffer.
TensorMapShape shape_of(const TensorMapSpec& map, ElementType type, const Bindings& bindings);

/// A rule of CUDA that the numbers of a tensor map must follow.
struct TensorMapRule {
  Expression holds;                ///< also where no launch takes the map
  std::string broken;              ///< the sentence if it does not hold, with `{}` for each of `values`
  std::vector<Expression> values;  ///< for the sentence
};
/// The rules for the tensor maps of \p spec ("Tensor Map Object Management", CUDA Driver API), and that each map shows
/// no more than its buffer has.
std::vector<TensorMapRule> tensor_map_rules(const KernelSpec& spec, const ProblemSize& size);

}  // namespace tuner
