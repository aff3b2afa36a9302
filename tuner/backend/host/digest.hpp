#pragma once
/// SHA-256 (FIPS 180-4) of what decides a compiled object. Here as well as in cache/, which this room must not include.

#include <string>
#include <string_view>
#include <vector>

namespace tuner::host {

/// 64 hexadecimal digits of \p parts, each preceded by its length, so that moving a boundary changes the digest.
std::string digest(const std::vector<std::string_view>& parts);

}  // namespace tuner::host
