#include <tuner/kernel.hpp>

#include <tuner/core/kernel_file.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/served_problem.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner {

Kernel::Kernel(KernelSpec spec)
    : served_(std::make_shared<runtime::ServedKernel>(std::make_shared<const KernelSpec>(std::move(spec)), Choices{})) {
}

Kernel Kernel::from_file(const std::string& name_or_path) { return Kernel(KernelLibrary().find(name_or_path)); }

Kernel Kernel::from_source(std::string_view text, const std::string& name) {
  return Kernel(parse_kernel_file(text, name));
}

const std::string& Kernel::name() const { return spec().name; }

const KernelSpec& Kernel::spec() const { return *served_->spec; }

Kernel Kernel::with(const Choices& choices) const {
  ProblemSize probe;
  probe.choices = served_->completed(choices);
  for (const SizeSpec& size : spec().sizes) probe.sizes[size.name] = 1;
  complete(spec(), probe);  // throws for an unknown choice or value
  Kernel result = *this;
  result.served_ = std::make_shared<runtime::ServedKernel>(served_->spec, std::move(probe.choices));
  return result;
}

void Kernel::launch_erased(Stream stream, Workspace workspace, const Sizes& sizes,
                           const detail::LaunchArgument* arguments, std::size_t count) const {
  served_->launch({stream, workspace, sizes, arguments, count});
}

std::size_t Kernel::prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                                   std::size_t count, std::size_t captures) const {
  return served_->prepare({stream, {}, sizes, arguments, count, nullptr, true}, captures);
}

std::string Kernel::explain(const Sizes& sizes, const Choices& types) const {
  const runtime::ServedProblem problem(*served_, sizes, types);
  const ProblemSize lowest = runtime::problem_of(spec(), runtime::size_classes(sizes), problem.size.choices);
  const runtime::Decision decision =
      runtime::decide(problem.terms, problem.device, spec(), problem.size, lowest, false);
  return decision.configuration.text() + " (" + decision.reason + ')';
}

}  // namespace tuner
