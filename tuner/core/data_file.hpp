#pragma once
/// Files of numbers that kernel files name. Such a file is either `.npy` as NumPy writes it (format versions 1 to 3),
/// or holds only the bytes of the elements.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/element_type.hpp>

namespace tuner {

/// Reads \p count elements of \p type from \p path, as they lie in memory. A file that begins like `.npy` is read as
/// one; any other file is read as raw bytes. Throws Error, which names the file and, if types, shapes or sizes differ,
/// both of them.
std::vector<std::byte> read_data_file(const std::filesystem::path& path, ElementType type, std::size_t count);

/// The same for \p bytes, the contents of \p file.
std::vector<std::byte> numbers_of(const std::string& file, std::string_view bytes, ElementType type, std::size_t count);

/// The beginning of a `.npy` file of \p count elements of \p type. Their bytes follow, as they lie in memory. NumPy has
/// no bfloat16: such an element is written as two untyped bytes.
std::string npy_header(ElementType type, std::size_t count);

}  // namespace tuner
