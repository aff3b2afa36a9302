#include <tuner/cli/kernel_options.hpp>

#include <fmt/format.h>

#include <tuner/session/kernel_library.hpp>

namespace tuner::cli {

void add_kernel_options(po::options_description& options) {
  auto add = options.add_options();
  add("kernel,k", po::value<std::string>()->value_name("NAME|FILE.cu"), "the kernel");
  add("size,s", po::value<Texts>()->value_name("n=1e6"), "problem size");
  add("type", po::value<Texts>()->value_name("float"), "element type");
  add("choice", po::value<Texts>()->value_name("NAME=VALUE"), "another choice of the kernel");
  add("template-path", po::value<Texts>()->value_name("DIR"), "look for kernels here first");
}

KernelSpec chosen_kernel(const po::variables_map& given) {
  if (!given.count("kernel")) throw UsageError("which kernel? Give --kernel NAME; `tune list` names the known ones");
  return KernelLibrary(template_path(given)).find(text_of(given, "kernel"));
}

ProblemOptions problem_options(const po::variables_map& given) {
  return {texts_of(given, "size"), texts_of(given, "type"), texts_of(given, "choice")};
}

Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base) {
  std::vector<std::string> known;
  for (const TuningParameter& one : spec.space.parameters()) known.push_back(one.name);
  try {
    const Configuration given = Configuration::parse(text);
    for (const auto& [name, value] : given.entries()) {
      if (!spec.space.find(name)) throw UsageError(unknown_name("parameter", name, known));
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

std::vector<std::filesystem::path> template_path(const po::variables_map& given) {
  const Texts folders = texts_of(given, "template-path");
  return {folders.begin(), folders.end()};
}

}  // namespace tuner::cli
