#include <tuner/measure/measure_options.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/reference.hpp>

namespace tuner {

bool answers(const KernelSpec& spec, const RecordedLaunch& recorded) {
  return recorded.has_answers() && !spec.has_reference_program();
}

std::string weaker_reference(const KernelSpec& spec, const RecordedLaunch& recorded) {
  return answers(spec, recorded) ? "recorded launch" : weaker_reference(spec);
}

}  // namespace tuner
