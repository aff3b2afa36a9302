#include <tuner/measure/throughput.hpp>

#include <algorithm>

#include <tuner/core/element_type.hpp>

namespace tuner {

Throughput throughput(const KernelSpec& spec, const ProblemSize& size, const Device& device, double ns) {
  Throughput result;
  if (!(ns > 0)) return result;
  const Bindings names = bindings(spec, size, device.limits);
  if (spec.flops) result.flops_per_second = double(evaluate_amount(spec, *spec.flops, size, device.limits)) / ns * 1e9;
  if (!spec.bytes) return result;
  const double bytes = double(evaluate_amount(spec, *spec.bytes, size, device.limits));
  result.bytes_per_second = bytes / ns * 1e9;

  double written = 0;
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.role == BufferRole::out || buffer.role == BufferRole::inout)
      written +=
          double(buffer.count.evaluate_integer(names)) * double(info(resolved_type(spec, size, buffer.type)).bytes);
  // Each byte that is written goes with one that is read, as in a copy; the rest is reads alone.
  const double copied = result.copied = bytes > 0 ? std::clamp(2 * written / bytes, 0.0, 1.0) : 0;
  result.ceiling = copied < 0.02 ? "reads" : copied > 0.98 ? "copy" : "mix";
  const double ceiling = result.ceiling == "reads" ? device.read_ceiling
                         : result.ceiling == "copy"
                             ? device.copy_ceiling
                             : 1 / (copied / device.copy_ceiling + (1 - copied) / device.read_ceiling);
  if (!(ceiling > 0)) return result;
  result.ceiling_rate = ceiling;
  result.ceiling_fraction = *result.bytes_per_second / ceiling;
  return result;
}

}  // namespace tuner
