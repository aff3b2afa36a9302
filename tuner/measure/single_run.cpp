#include <tuner/measure/single_run.hpp>

#include <utility>
#include <variant>

#include <fmt/format.h>

#include <tuner/core/error.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

/// `64`, `(64, 512)`: leaves out dimensions of 1 at the end.
std::string dimensions(const std::array<std::int64_t, 3>& extent) {
  if (extent[1] == 1 && extent[2] == 1) return fmt::format("{}", extent[0]);
  if (extent[2] == 1) return fmt::format("({}, {})", extent[0], extent[1]);
  return fmt::format("({}, {}, {})", extent[0], extent[1], extent[2]);
}

Image compiled(Backend& backend, const CompileRequest& request, const std::string& what) {
  CompileResult result = backend.compiler().compile(request);
  if (auto* const image = std::get_if<Image>(&result)) return std::move(*image);
  const CompileError& error = std::get<CompileError>(result);
  throw Error(fmt::format("{}: {} does not compile: {}\n{}", request.file_name, what, error.message, error.log));
}

Image compiled_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& size) {
  return compiled(backend, reference_request(spec, size, backend.device().limits, backend.architecture()),
                  "the reference");
}

}  // namespace

std::string text(const LaunchShape& shape) {
  const std::string shared = shape.shared_bytes > 0 ? fmt::format(", {}", shape.shared_bytes) : "";
  return fmt::format("<<<{}, {}{}>>>", dimensions(shape.grid), dimensions(shape.block), shared);
}

std::vector<LaunchDetail> launch_details(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const Image& image) {
  std::vector<LaunchDetail> all;
  for (ResolvedLaunch& launch : resolve_launches(spec, size, limits, configuration)) {
    LaunchDetail& detail = all.emplace_back();
    detail.shape = launch.shape;
    detail.timed = launch.timed;
    if (const auto at = find_function(image, launch.expression)) detail.resources = image.functions[*at].resources;
    if (detail.resources.registers > 0) {
      detail.occupancy =
          occupancy(limits, launch.shape.threads_per_block(), detail.resources.registers, detail.shared_bytes());
      detail.resources.blocks_per_sm = detail.occupancy->blocks_per_sm;
      detail.resources.occupancy = detail.occupancy->fraction;
    }
    detail.expression = std::move(launch.expression);
  }
  return all;
}

struct SingleRun::State {
  State(Backend& b, const KernelSpec& s, const ProblemSize& asked, Configuration c, const MeasureOptions& options)
      : spec(s), size(complete(s, asked)), configuration(std::move(c)), runner(b, s, size, options) {
    const DeviceLimits& limits = b.device().limits;
    image = compiled(b, compile_request(spec, size, limits, b.architecture(), configuration, b.device().name),
                     configuration.text());
    launches = launch_details(spec, size, limits, configuration, image);
    if (!options.verify || !spec.has_reference_program()) {
      runner.prepare(nullptr);
      return;
    }
    const Image reference = compiled_reference(b, spec, size);
    runner.prepare(&reference);
  }

  const KernelSpec& spec;
  ProblemSize size;
  Configuration configuration;
  Image image;
  std::vector<LaunchDetail> launches;
  Runner runner;
};

SingleRun::SingleRun(Backend& backend, const KernelSpec& spec, const ProblemSize& size, Configuration configuration,
                     const MeasureOptions& options)
    : state_(std::make_unique<State>(backend, spec, size, std::move(configuration), options)) {}
SingleRun::~SingleRun() = default;

const std::vector<LaunchDetail>& SingleRun::launches() const { return state_->launches; }
Trial SingleRun::measure() {
  Trial trial = state_->runner.evaluate(state_->configuration, state_->image, 0);
  // The last verification may have used other inputs than expected().
  if (trial.measurement() != nullptr && state_->runner.usable()) launch();
  return trial;
}
std::optional<Outcome> SingleRun::launch() { return state_->runner.launch(state_->configuration, state_->image); }
HostBuffers SingleRun::outputs() const { return state_->runner.outputs(); }
HostBuffers SingleRun::expected() const { return state_->runner.expected(); }

ReferenceRun run_reference(Backend& backend, const KernelSpec& spec, const ProblemSize& asked,
                           const MeasureOptions& options) {
  if (!spec.has_reference_program()) throw Error(fmt::format("{}: kernel '{}' has no reference", spec.file, spec.name));
  const ProblemSize size = complete(spec, asked);
  MeasureOptions here = options;
  here.verify = true;
  here.second_inputs = false;
  Runner runner(backend, spec, size, here);
  const Image image = compiled_reference(backend, spec, size);
  runner.prepare(&image);
  ReferenceRun run;
  run.outputs = runner.reference_outputs();  // before timing runs it again
  run.outcome = runner.measure_reference();
  return run;
}

}  // namespace tuner
