#pragma once
/// The variables of an image in ELF form: a shared object of a CPU, or a cubin.

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct ImageVariable {
  std::string symbol;
  std::uint64_t at = 0;  ///< st_value
  std::size_t bytes = 0;
  bool has_contents = false;  ///< in the file; otherwise it is zero when the image is loaded
};

/// The variables in sections whose names begin with one of \p sections. Empty if \p code is in another form.
inline std::vector<ImageVariable> variables_in(std::span<const std::byte> code,
                                               std::span<const std::string_view> sections) {
  const auto read = [&]<typename T>(T value, std::uint64_t offset) {
    if (offset <= code.size() && code.size() - offset >= sizeof value)
      std::memcpy(&value, code.data() + offset, sizeof value);
    return value;
  };
  const auto text_at = [&](std::uint64_t offset) -> std::string {
    if (offset >= code.size()) return {};
    const auto* const text = reinterpret_cast<const char*>(code.data() + offset);
    return {text, ::strnlen(text, code.size() - offset)};
  };
  const auto header = read(Elf64_Ehdr{}, 0);
  std::vector<ImageVariable> result;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return result;
  const auto section = [&](std::size_t i) { return read(Elf64_Shdr{}, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  const std::uint64_t names = section(header.e_shstrndx).sh_offset;
  const auto is_meant = [&](const Elf64_Sym& symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 || symbol.st_shndx >= header.e_shnum)
      return false;
    const Elf64_Shdr place = section(symbol.st_shndx);
    if ((place.sh_flags & SHF_WRITE) == 0 || (place.sh_flags & SHF_TLS) != 0) return false;
    const std::string name = text_at(names + place.sh_name);
    for (const std::string_view one : sections)
      if (name.starts_with(one) && !name.starts_with(".data.rel.ro")) return true;
    return false;
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const std::uint64_t symbol_names = section(table.sh_link).sh_offset;
    const std::uint64_t end = std::min<std::uint64_t>(code.size(), table.sh_offset + table.sh_size);
    for (std::uint64_t at = table.sh_offset; at < end; at += sizeof(Elf64_Sym)) {
      const auto symbol = read(Elf64_Sym{}, at);
      if (is_meant(symbol))
        result.push_back({text_at(symbol_names + symbol.st_name), symbol.st_value, std::size_t{symbol.st_size},
                          section(symbol.st_shndx).sh_type != SHT_NOBITS});
    }
  }
  return result;
}

}  // namespace tuner
