#pragma once
/// The class of stored sizes, which have names.

#include <optional>

#include <cache/records/stored_records.hpp>

#include <tuner/core/values/problem_size.hpp>
#include <tuner/runtime/call/call.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

/// The sizes in the order of a call; nullopt if they are not those of the kernel.
std::optional<Sizes> sizes_in_order(const KernelSpec& spec, const cache::Sizes& named);
/// Whether \p measured belongs to the size class that begins with \p lowest.
bool is_of_class(const KernelSpec& spec, const cache::Sizes& measured, const ProblemSize& lowest);

}  // namespace tuner::runtime
