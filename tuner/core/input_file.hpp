#pragma once
/// Reads files that users name, if they are regular and not too large. A FIFO would block for ever, and a device might
/// never end.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tuner {

/// Far more than a kernel file that people write.
inline constexpr std::int64_t kMaxKernelFileBytes = std::int64_t{1} << 20;

/// More than the memory of a machine.
inline constexpr std::int64_t kMaxDataFileBytes = std::int64_t{1} << 40;

/// Throws Error, which names \p what ("kernel file") and the reason, unless \p path is a regular file of at most
/// \p limit bytes.
void require_input_file(const std::filesystem::path& path, std::int64_t limit, std::string_view what);
/// All bytes of \p path. Throws like require_input_file(), also if the file cannot be read or grows beyond \p limit
/// meanwhile.
std::string read_input_file(const std::filesystem::path& path, std::int64_t limit, std::string_view what);

/// \p text without the byte order mark that some editors put before UTF-8. A compiler that is given text instead of a
/// file reports an error for it.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace tuner
