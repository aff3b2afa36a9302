#pragma once
/// Fills, compares and fingerprints memory of the host backend.

#include <cstddef>
#include <cstdint>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

void fill(void* to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed);
/// Integers must be equal. Floating types are compared by fill_value::differs.
Comparison compare(const void* actual, const void* expected, ElementType type, std::size_t count,
                   const Tolerance& tolerance);
std::uint64_t fingerprint(const void* from, std::size_t bytes);

}  // namespace tuner::host
