#include <tuner/cli/input/kernel_options.hpp>

#include <cstdlib>

#include <tuner/cli/input/metric_options.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

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

std::optional<KernelSpec> kernel_named(const std::string& name) try {
  return KernelLibrary().find(name);
} catch (const Error&) {
  if (KernelLibrary::is_path(name)) throw;
  return std::nullopt;
}

KernelsByName::KernelsByName(std::optional<KernelSpec> known) {
  if (known) kernels_.emplace(known->name, std::move(known));
}

const KernelSpec* KernelsByName::find(const std::string& name) {
  const auto [at, is_new] = kernels_.try_emplace(name);
  if (is_new && !KernelLibrary::is_path(name)) at->second = kernel_named(name);
  return at->second ? &*at->second : nullptr;
}

std::vector<std::string> KernelsByName::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, spec] : kernels_)
    if (!spec) names.push_back(name);
  return names;
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

Budget read_budget(const Given& given, const Objective& objective) {
  Budget budget;
  const Texts limits = split(given.texts("budget"), ',');
  if (given.has("budget") && limits.empty())
    throw UsageError("--budget is empty: give a time or a part, as in 30s or 5%");
  for (const std::string& limit : limits) {
    if (limit.ends_with('%'))
      budget.fraction = parse_number(limit.substr(0, limit.size() - 1), "--budget", 0, 100) / 100;
    else
      budget.wall_time = parse_duration(limit, "--budget");
  }
  if (given.has("trials")) {
    budget.trials = static_cast<std::size_t>(parse_count(given.text("trials"), "--trials", 1));
  }
  if (given.has("until-unlikely"))
    budget.until_unlikely = parse_number(given.text("until-unlikely"), "--until-unlikely", 0, 1);
  if (given.has("target")) budget.target = parse_metric(given.text("target"), "--target", objective);
  return budget;
}

std::map<std::string, double> read_strategy_options(const Given& given) {
  std::map<std::string, double> options;
  for (const std::string& text : given.texts("option"))
    for (const auto& [name, value] : parse_assignments(text, "--option"))
      options[name] = parse_number(value, "--option", -1e300, 1e300);
  return options;
}

std::uint64_t read_seed(const Given& given) {
  return static_cast<std::uint64_t>(parse_count(given.text("seed"), "--seed"));
}

Use given_use(const Given& given) {
  const std::string name = given.text("as");
  require_known("use", name, names_of(kUses));
  return *use_of(name);
}

std::string wanted_device(const Given& given) {
  if (given.has("device")) {
    const std::string text = given.text("device");
    for (const std::string& one : split({text}, ','))
      if (!is_device_name(one) && one != "all")
        throw UsageError(
            "--device: unknown device {}: it is auto, host, cuda, all, or the number of a GPU, or several numbers with "
            "commas (`tune devices` lists them)",
            in_quotes(one));
    return text;
  }
  const char* const device = std::getenv("TUNER_DEVICE");
  return device && *device ? device : "auto";
}

}  // namespace tuner::cli
