#include <tuner/measure/numbers/throughput.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

Throughput throughput(const KernelSpec& spec, const ProblemSize& size, const Device& device, double ns) {
  Throughput result;
  if (!(ns > 0)) return result;
  const Bindings names = bindings(spec, size, device.limits);
  if (spec.work.flops)
    result.flops_per_second = double(evaluate_amount(spec, *spec.work.flops, size, device.limits)) / ns * 1e9;
  if (!spec.work.bytes) return result;
  const double bytes = double(evaluate_amount(spec, *spec.work.bytes, size, device.limits));
  result.bytes_per_second = bytes / ns * 1e9;

  double written = 0;
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.is_output())
      written +=
          double(buffer.count.evaluate_integer(names)) * double(info(resolved_type(spec, size, buffer.type)).bytes);
  result.written = bytes > 0 ? std::min(written / bytes, 1.0) : 0;
  result.ceiling = "mix";
  for (const auto& [pure, name] : {std::pair{0.0, "reads"}, {0.5, "copy"}, {1.0, "writes"}})
    if (std::abs(result.written - pure) < 0.01) result.written = pure, result.ceiling = name;
  const double ceiling = device.ceilings.of_mix(result.written);
  if (!(ceiling > 0)) return result;
  result.ceiling_rate = ceiling;
  result.ceiling_fraction = *result.bytes_per_second / ceiling;
  return result;
}

}  // namespace tuner
