#include <tuner/kernel.hpp>

#include <tuner/core/kernel_file.hpp>
#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/decide.hpp>
#include <tuner/runtime/kernel_impl.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner {

Kernel::Kernel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Kernel::Kernel(KernelSpec spec) : impl_(std::make_shared<Impl>()) {
  impl_->spec = std::make_shared<const KernelSpec>(std::move(spec));
}

Kernel Kernel::from_file(const std::string& name_or_path) { return Kernel(KernelLibrary().find(name_or_path)); }

Kernel Kernel::from_source(std::string_view text, const std::string& name) {
  return Kernel(parse_kernel_file(text, name));
}

const std::string& Kernel::name() const { return impl_->spec->name; }

const KernelSpec& Kernel::spec() const { return *impl_->spec; }

Kernel Kernel::with(const Choices& choices) const {
  auto impl = std::make_shared<Impl>();
  impl->spec = impl_->spec;
  impl->choices = impl_->choices;
  for (const auto& [name, value] : choices) impl->choices[name] = value;
  ProblemSize probe;
  probe.choices = impl->choices;
  for (const SizeSpec& size : impl->spec->sizes) probe.sizes[size.name] = 1;
  complete(*impl->spec, probe);  // throws for an unknown choice or value
  return Kernel(std::move(impl));
}

void Kernel::launch_erased(Stream stream, Workspace workspace, const Sizes& sizes,
                           const detail::LaunchArgument* arguments, std::size_t count) const {
  impl_->launch({stream, workspace, sizes, arguments, count});
}

std::size_t Kernel::prepare_erased(Stream stream, const Sizes& sizes, const detail::LaunchArgument* arguments,
                                   std::size_t count, std::size_t captures) const {
  return impl_->prepare({stream, {}, sizes, arguments, count}, captures);
}

std::string Kernel::explain(const Sizes& sizes, const Choices& types) const {
  Choices choices = impl_->choices;
  for (const auto& [name, value] : types) choices[name] = value;
  runtime::Serving& serving = runtime::Serving::process();
  const runtime::WarningsAtEnd warnings(serving);
  const ProblemSize size = runtime::problem_of(spec(), sizes, std::move(choices));
  const runtime::Decision decision =
      runtime::decide(serving, serving.device(serving.context_for(nullptr)), spec(), size, false);
  return decision.configuration.text() + " (" + decision.reason + ')';
}

}  // namespace tuner
