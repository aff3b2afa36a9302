#include <tuner/cli/kernel_options.hpp>

#include <fmt/format.h>

#include <tuner/core/error.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner::cli {

void add_kernel_options(Options& options) {
  options.text("kernel,k", "NAME|FILE.cu", "the kernel");
  options.texts("size,s", "n=1e6", "problem size");
  options.texts("type", "float", "element type");
  options.texts("choice", "NAME=VALUE", "another choice of the kernel");
  options.texts("template-path", "DIR", "look for kernels here first");
}

KernelSpec chosen_kernel(const Given& given) {
  if (!given.has("kernel")) throw UsageError("which kernel? Give --kernel NAME; `tune list` names the known ones");
  return KernelLibrary(template_path(given)).find(given.text("kernel"));
}

std::optional<KernelSpec> kernel_named(const std::string& name) {
  if (KernelLibrary::is_path(name)) return KernelLibrary().find(name);
  try {
    return KernelLibrary().find(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

ProblemOptions problem_options(const Given& given) {
  return {given.texts("size"), given.texts("type"), given.texts("choice")};
}

Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base) {
  const std::vector<std::string> known = names_of(spec.space.parameters());
  try {
    const Configuration given = Configuration::parse(text);
    for (const auto& [name, value] : given.entries()) {
      require_known("parameter", name, known);
      base.set(name, value);
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--config: {}", error.what()));
  }
  std::string missing;
  for (const std::string& name : known)
    if (base.find(name) == nullptr) missing += (missing.empty() ? "" : ", ") + name;
  if (!missing.empty())
    throw UsageError(fmt::format("--config: kernel {} has no default, so each parameter needs a value; missing: {}",
                                 spec.name, missing));
  return base;
}

std::vector<std::filesystem::path> template_path(const Given& given) {
  const Texts folders = given.texts("template-path");
  return {folders.begin(), folders.end()};
}

}  // namespace tuner::cli
