#include <tuner/measure/single_run.hpp>

#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/reference_failure.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner {
namespace {

/// `64`, `(64, 512)`: leaves out dimensions of 1 at the end.
std::string dimensions(const std::array<std::int64_t, 3>& extent) {
  if (extent[1] == 1 && extent[2] == 1) return fmt::format("{}", extent[0]);
  if (extent[2] == 1) return fmt::format("({}, {})", extent[0], extent[1]);
  return fmt::format("({}, {}, {})", extent[0], extent[1], extent[2]);
}

/// \p message: makes that of an error.
Image compile(Backend& backend, const CompileRequest& request, const auto& message) {
  CompileResult result = backend.compiler().compile(request);
  if (auto* const image = std::get_if<Image>(&result)) return std::move(*image);
  throw Error(ErrorCode::compiler, message(std::get<CompileError>(result)));
}

Image compile_configuration(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                            const Configuration& configuration) {
  const Device& device = backend.device();
  const CompileRequest request =
      compile_request(spec, size, device.limits, backend.architecture(), configuration, device.name);
  return compile(backend, request, [&](const CompileError& error) {
    return fmt::format("{}: {} does not compile: {}\n{}", spec.program.file, configuration.text(), error.message,
                       error.log);
  });
}

Image compile_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& size) {
  return compile(backend, reference_request(spec, size, backend.device().limits, backend.architecture()),
                 [&](const CompileError& error) { return reference_failure(spec, error); });
}

}  // namespace

std::string text(const LaunchShape& shape) {
  const std::string shared = shape.shared_bytes > 0 ? fmt::format(", {}", shape.shared_bytes) : "";
  return fmt::format("<<<{}, {}{}>>>", dimensions(shape.grid), dimensions(shape.block), shared);
}

SingleRun::SingleRun(Backend& backend, const KernelSpec& spec, const ProblemSize& asked, Configuration configuration,
                     const MeasureOptions& options)
    : configuration_(std::move(configuration)), runner_(backend, spec, asked, options) {
  const ProblemSize size = complete(spec, asked);
  image_ = compile_configuration(backend, spec, size, configuration_);
  launches_ = launch_details(spec, size, backend.device().limits, configuration_, image_);
  if (traits(backend.device().key).is_gpu) count_clusters(launches_, image_, backend);  // the host has to run a kernel
  if (!options.verify || !spec.has_reference_program()) {
    runner_.prepare(nullptr);
    return;
  }
  const Image reference = compile_reference(backend, spec, size);
  runner_.prepare(&reference);
}

Trial SingleRun::measure() {
  Trial trial = runner_.evaluate(configuration_, image_, 0);
  // The last verification may have used other inputs than expected().
  if (trial.measurement() != nullptr && runner_.usable()) launch();
  return trial;
}

ReferenceRun run_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& asked,
                           const MeasureOptions& options) {
  if (!spec.has_reference_program())
    throw Error(fmt::format("{}: kernel '{}' has no reference", spec.program.file, spec.name));
  const ProblemSize size = complete(spec, asked);
  MeasureOptions here = options;
  here.verify = true;
  here.second_inputs = here.own_problems = false;
  Runner runner(backend, spec, size, here);
  const Image image = compile_reference(backend, spec, size);
  runner.prepare(&image);
  ReferenceRun run;
  run.outputs = runner.reference_outputs();  // before timing runs it again
  run.outcome = runner.measure_reference();
  return run;
}

}  // namespace tuner
