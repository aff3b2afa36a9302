#include <tuner/backend/cuda/compile/compiled_cluster.hpp>

#include <algorithm>
#include <string>

#include <tuner/backend/elf_image.hpp>

namespace tuner::cuda {
namespace {

/// An entry of a section `.nv.info.KERNEL`. If it has kSized, `value` bytes follow it.
struct Attribute {
  std::uint8_t format, name;
  std::uint16_t value;
};
constexpr std::uint8_t kSized = 4;
constexpr std::uint8_t kBlocksOfCluster = 0x3d;  // EIATTR_CTA_PER_CLUSTER of cuobjdump

}  // namespace

std::array<std::int64_t, 3> compiled_cluster(std::span<const std::byte> cubin, std::string_view symbol) {
  const ElfImage image(cubin);
  const std::string wanted = ".nv.info." + std::string(symbol);
  for (std::size_t i = 0; i < image.sections(); ++i) {
    const Elf64_Shdr section = image.section(i);
    if (image.name(section) != wanted) continue;
    const std::uint64_t end = std::min<std::uint64_t>(cubin.size(), section.sh_offset + section.sh_size);
    for (std::uint64_t at = section.sh_offset; at < end;) {
      const auto attribute = image.read<Attribute>(at);
      at += sizeof attribute;
      if (attribute.format != kSized) continue;
      if (attribute.name == kBlocksOfCluster) {
        const auto blocks = image.read<std::array<std::uint32_t, 3>>(at);
        return {blocks[0], blocks[1], blocks[2]};
      }
      at += attribute.value;
    }
  }
  return {};
}

}  // namespace tuner::cuda
