#pragma once
/// Reads files that users name, if they are regular and not too large. A FIFO would block for ever, and a device might
/// never end. Files of numbers are either `.npy` as NumPy writes it (format versions 1 to 3), or hold only the bytes of
/// the elements.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/values/element_type.hpp>

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

/// Reads \p count elements of \p type from \p path, as they lie in memory. A file that begins like `.npy` is read as
/// one; any other file is read as raw bytes. Throws Error, which names the file and, if types, shapes or sizes differ,
/// both of them.
std::vector<std::byte> read_data_file(const std::filesystem::path& path, ElementType type, std::size_t count);

/// The same for \p bytes, the contents of \p file.
std::vector<std::byte> numbers_of(const std::string& file, std::string_view bytes, ElementType type, std::size_t count);

/// The beginning of a `.npy` file of \p count elements of \p type. Their bytes follow, as they lie in memory. NumPy has
/// neither bfloat16 nor fp8 and smaller: such an element is written as untyped bytes.
std::string npy_header(ElementType type, std::size_t count);

}  // namespace tuner
