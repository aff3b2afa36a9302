#pragma once
/// The class of stored sizes, which have names.

#include <optional>

#include <cache/records/stored_records.hpp>

#include <tuner/runtime/call/call.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::runtime {

/// The sizes in the order of a call; nullopt if they are not those of the kernel.
std::optional<Sizes> sizes_in_order(const KernelSpec& spec, const cache::Sizes& named);

}  // namespace tuner::runtime
