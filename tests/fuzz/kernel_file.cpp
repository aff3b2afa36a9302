/// libFuzzer: any bytes are a kernel file, or a SpecError that names its place; and what is a kernel can be enumerated.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  try {
    const KernelSpec spec = parse_kernel_file({reinterpret_cast<const char*>(data), size}, "fuzz.cu");
    if (spec.space.product() > 1e5) return 0;
    const ProblemSize problem = complete(spec, {});
    const EnumeratedSpace space = enumerate(spec, problem, {});
    for (EnumeratedSpace::Index i = 0; i < space.size() && i < 100; ++i) {
      if (why_invalid(spec, problem, {}, space.configuration(i))) __builtin_trap();
      resolve_launches(spec, problem, {}, space.configuration(i));
    }
    resolve_reference(spec, problem, {});
  } catch (const SpecError& error) {
    if (error.location().line < 1 || error.location().column < 1) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
