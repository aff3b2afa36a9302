#pragma once
/// Reading files that somebody named: regular ones, up to a size. A FIFO would wait for ever, a device never end.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tuner {

/// No kernel file that people write comes near this.
inline constexpr std::int64_t kMaxKernelFileBytes = std::int64_t{1} << 20;

/// A file of numbers is no larger than what a machine can hold.
inline constexpr std::int64_t kMaxDataFileBytes = std::int64_t{1} << 40;

/// Throws Error, with \p what ("kernel file") and the reason, unless \p path is a regular file of at most \p limit
/// bytes that can be read.
void require_input_file(const std::filesystem::path& path, std::int64_t limit, std::string_view what);
/// All bytes of it. Throws as require_input_file(), also when the file grows past \p limit meanwhile.
std::string read_input_file(const std::filesystem::path& path, std::int64_t limit, std::string_view what);

}  // namespace tuner
