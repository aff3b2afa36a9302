#include <tuner/cli/kernel_options.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/named.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner::cli {

KernelSpec find_kernel(const std::string& name_or_path) try {
  return KernelLibrary().find(name_or_path);
} catch (const Error& error) {
  if (error.code() == ErrorCode::not_found && !KernelLibrary::is_path(name_or_path)) throw UsageError(error.what());
  throw;
}

KernelSpec chosen_kernel(const Given& given) {
  if (!given.has("kernel")) throw UsageError(kWhichKernel);
  return find_kernel(given.text("kernel"));
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
  const Configuration given = parse_configuration(text, "--config");
  for (const auto& [name, value] : given.entries()) {
    require_known("parameter", name, known);
    base.set(name, value);
  }
  std::vector<std::string> missing = known;
  std::erase_if(missing, [&](const std::string& name) { return base.find(name) != nullptr; });
  if (!missing.empty())
    throw UsageError("--config: kernel {} has no default, so each parameter needs a value; missing: {}", spec.name,
                     listed(missing, ", "));
  return base;
}

}  // namespace tuner::cli
