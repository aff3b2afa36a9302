#pragma once
/// The tensor maps of a kernel: their numbers, and CUDA's rules for them.

#include <vector>

#include <tuner/core/device/tensor_map.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

struct KernelSpec;
struct ProblemSize;
struct TensorMapSpec;

/// \p map with every name replaced by its value. \p type: of its buffer.
TensorMapShape shape_of(const TensorMapSpec& map, ElementType type, const Bindings& bindings);

/// The rules for the tensor maps of \p spec ("Tensor Map Object Management", CUDA Driver API), and that each map shows
/// no more than its buffer has. A map's rules hold where a launch takes it: one of all launches of a tuning, or of
/// those of a call, which has neither `reference` nor `prepare`.
enum class TensorMapUse { tuning, call };
std::vector<Condition> tensor_map_rules(const KernelSpec& spec, const ProblemSize& size,
                                        TensorMapUse use = TensorMapUse::tuning);

}  // namespace tuner
