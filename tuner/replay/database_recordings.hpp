#pragma once
/// tuner's own results as recordings: what `tune replay --space ~/.cache/tuner/wisdom.db` reads.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/replay/recording.hpp>

namespace tuner::replay {

/// Receives one sentence for each part of a database that is left out.
using Warn = std::function<void(const std::string&)>;

/// Spaces with fewer measured configurations than this compare nothing.
inline constexpr std::size_t kFewestMeasured = 8;

/// True for the first bytes of a database file.
bool is_database(std::string_view bytes);
/// True for text of `tune export`.
bool is_exported(std::string_view text);

/// A recording for each kernel, source, device, software, conditions and problem of which at least kFewestMeasured
/// configurations were measured; the others are left out with a warning. The file is opened read-only. Throws
/// RecordingError when it cannot be used or nothing is left.
std::vector<Recording> read_database(const std::filesystem::path& file, const Warn& warn = {});

/// The same of the text that `tune export --all` writes; \p origin names it in messages.
std::vector<Recording> parse_exported(std::string_view text, const std::string& origin, const Warn& warn = {});

}  // namespace tuner::replay
