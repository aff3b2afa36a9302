#include <tuner/runtime/decide/size_class.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner::runtime {

std::optional<Sizes> sizes_in_order(const KernelSpec& spec, const cache::Sizes& named) {
  Sizes sizes;
  for (const SizeSpec& size : spec.sizes) {
    const auto at = named.find(size.name);
    if (at == named.end()) return std::nullopt;
    sizes.push_back(at->second);
  }
  return sizes;
}

}  // namespace tuner::runtime
