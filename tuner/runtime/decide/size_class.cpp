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

bool is_of_class(const KernelSpec& spec, const cache::Sizes& measured, const ProblemSize& lowest) {
  const std::optional<Sizes> sizes = sizes_in_order(spec, measured);
  return sizes && size_classes(*sizes) == sizes_in_order(spec, lowest.sizes);
}

}  // namespace tuner::runtime
