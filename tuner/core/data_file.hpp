#pragma once
/// Files of numbers that kernel files name: `.npy` as NumPy writes it (format versions 1 to 3), or the bytes of the
/// elements and nothing else.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/element_type.hpp>

namespace tuner {

/// The \p count elements of \p type that \p path holds, as they lie in memory. What begins as `.npy` does is read so,
/// everything else raw. Throws Error that names the file, and both types, shapes or sizes where they differ.
std::vector<std::byte> read_data_file(const std::filesystem::path& path, ElementType type, std::size_t count);

/// The same of \p bytes, which \p file holds.
std::vector<std::byte> numbers_of(const std::string& file, std::string_view bytes, ElementType type, std::size_t count);

/// What a `.npy` file of \p count elements of \p type begins with; their bytes, as they lie in memory, are the rest of
/// it. bfloat16, which NumPy lacks, is written as two bytes of no kind.
std::string npy_header(ElementType type, std::size_t count);

}  // namespace tuner
