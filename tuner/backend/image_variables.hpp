#pragma once
/// The variables of an image in ELF form.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/elf_image.hpp>

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
  const ElfImage image(code);
  const auto is_meant = [&](const Elf64_Sym& symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 || symbol.st_shndx >= image.sections())
      return false;
    const Elf64_Shdr place = image.section(symbol.st_shndx);
    if ((place.sh_flags & SHF_WRITE) == 0 || (place.sh_flags & SHF_TLS) != 0) return false;
    const std::string name = image.name(place);
    for (const std::string_view one : sections)
      if (name.starts_with(one) && !name.starts_with(".data.rel.ro")) return true;
    return false;
  };
  std::vector<ImageVariable> result;
  for (std::size_t i = 0; i < image.sections(); ++i) {
    const Elf64_Shdr table = image.section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const std::uint64_t symbol_names = image.section(table.sh_link).sh_offset;
    const std::uint64_t end = std::min<std::uint64_t>(code.size(), table.sh_offset + table.sh_size);
    for (std::uint64_t at = table.sh_offset; at < end; at += sizeof(Elf64_Sym)) {
      const auto symbol = image.read<Elf64_Sym>(at);
      if (is_meant(symbol))
        result.push_back({image.text_at(symbol_names + symbol.st_name), symbol.st_value, std::size_t{symbol.st_size},
                          image.section(symbol.st_shndx).sh_type != SHT_NOBITS});
    }
  }
  return result;
}

}  // namespace tuner
