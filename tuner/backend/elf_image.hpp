#pragma once
/// Reads an image in ELF form: a shared object of a CPU, or a cubin. Bytes beyond its end are read as zeros.

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace tuner {

class ElfImage {
 public:
  /// \p code must outlive it.
  explicit ElfImage(std::span<const std::byte> code) : code_(code), header_(read<Elf64_Ehdr>(0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64) header_ = {};
    names_ = section(header_.e_shstrndx).sh_offset;
  }

  /// 0 if the image has another form.
  std::size_t sections() const { return header_.e_shnum; }
  Elf64_Shdr section(std::size_t i) const { return read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)); }
  std::string name(const Elf64_Shdr& section) const { return text_at(names_ + section.sh_name); }

  template <typename T>
  T read(std::uint64_t offset) const {
    T value{};
    if (offset <= code_.size() && code_.size() - offset >= sizeof value)
      std::memcpy(&value, code_.data() + offset, sizeof value);
    return value;
  }

  std::string text_at(std::uint64_t offset) const {
    if (offset >= code_.size()) return {};
    const auto* const text = reinterpret_cast<const char*>(code_.data() + offset);
    return {text, ::strnlen(text, code_.size() - offset)};
  }

 private:
  std::span<const std::byte> code_;
  Elf64_Ehdr header_;
  std::uint64_t names_;
};

}  // namespace tuner
