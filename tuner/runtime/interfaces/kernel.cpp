#include <tuner/kernel.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/runtime/decide/decide.hpp>
#include <tuner/runtime/decide/make_plan.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

namespace tuner {

namespace {

KernelSpec with_launches(KernelSpec spec) {
  if (spec.launches.empty())
    throw Error(ErrorCode::invalid_kernel,
                "kernel '" + spec.name + "' has no launch: describe it in a kernel file, or with KernelBuilder");
  return spec;
}

}  // namespace

Kernel::Kernel(KernelSpec spec) try
    : served_(std::make_shared<Served>(std::make_shared<const KernelSpec>(with_launches(std::move(spec))), Choices{})) {
} catch (...) {
  runtime::leave_with_error();
}

Kernel Kernel::from_file(const std::string& name_or_path) try {
  return Kernel(KernelLibrary().find(name_or_path));
} catch (...) {
  runtime::leave_with_error();
}

Kernel Kernel::from_source(std::string_view text, const std::string& name) try {
  return Kernel(parse_kernel_file(text, name));
} catch (...) {
  runtime::leave_with_error();
}

const std::string& Kernel::name() const { return spec().name; }

const KernelSpec& Kernel::spec() const { return *served_->spec; }

Kernel Kernel::with(const Choices& choices) const try {
  ProblemSize probe;
  probe.choices = served_->completed(choices);
  for (const SizeSpec& size : spec().sizes) probe.sizes[size.name] = 1;
  complete(spec(), probe);  // throws for an unknown choice or value
  Kernel result = *this;
  result.served_ = std::make_shared<Served>(served_->spec, std::move(probe.choices), served_->use);
  return result;
} catch (...) {
  runtime::leave_with_error();
}

Kernel Kernel::used_as(Use use) const try {
  Kernel result = *this;
  result.served_ = std::make_shared<Served>(served_->spec, served_->choices, use);
  return result;
} catch (...) {
  runtime::leave_with_error();
}

void Kernel::launch_erased(Stream stream, Workspace workspace, const Sizes& sizes,
                           const detail::LaunchArgument* arguments, std::size_t count) const try {
  served_->launch({stream, workspace, sizes, arguments, count});
} catch (...) {
  runtime::leave_with_error();
}

std::size_t Kernel::prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                                   std::size_t count, std::size_t captures) const try {
  return served_->prepare({stream, {}, sizes, arguments, count, nullptr, true}, captures);
} catch (...) {
  runtime::leave_with_error();
}

std::string Kernel::explain(const Sizes& sizes, const Choices& types) const try {
  const runtime::ServedProblem problem(*served_, sizes, types);
  const ProblemSize lowest = runtime::problem_of(spec(), runtime::size_classes(sizes), problem.size.choices);
  runtime::ServedDevice& device = problem.device;
  const auto is_broken = [&](const Configuration& configuration) {
    return device.modules.is_broken(runtime::served_request(device, spec(), problem.size, configuration));
  };
  const auto sentence = [&](Use use) {
    const runtime::Decision decision = runtime::forecast({problem.terms.wisdom, device.device(), spec(), problem.size,
                                                          lowest, problem.terms.settings.tuning_time, use},
                                                         is_broken)
                                           .decision;
    return decision.configuration.text() + " (" + decision.reason + ')';
  };
  const std::string usual = sentence(served_->use.value_or(Use::single));
  if (served_->use || !traits(device.device().key).is_gpu) return usual;
  const std::string in_graph = sentence(Use::graph);
  return in_graph == usual ? usual : usual + "; in a graph " + in_graph;
} catch (...) {
  runtime::leave_with_error();
}

std::vector<std::int64_t> Kernel::elements(const Sizes& sizes, const Choices& types) const try {
  const runtime::ServedProblem problem(*served_, sizes, types);
  const Bindings names = bindings(spec(), problem.size, problem.device.device().limits);
  std::vector<std::int64_t> counts;
  for (const BufferSpec& buffer : spec().buffers)
    if (!buffer.is_work_space() && buffer.role != BufferRole::constant)
      counts.push_back(buffer.count.evaluate_integer(names));
  return counts;
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace tuner
