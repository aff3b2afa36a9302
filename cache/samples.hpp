#pragma once
/// Samples of a measurement as a compact blob: a version byte, the count, then the doubles' bytes, transposed (first
/// bytes together) and deflated. Lossless. Private to this room.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cache {

/// Empty for no samples.
std::string pack_samples(const std::vector<double>& samples);
/// nullopt for anything that pack_samples() does not make.
std::optional<std::vector<double>> unpack_samples(std::string_view blob);

}  // namespace tuner::cache
