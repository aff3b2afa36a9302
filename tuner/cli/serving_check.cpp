#include <tuner/cli/serving_check.hpp>

#include <stdexcept>

#include <fmt/format.h>

#include <tuner/cli/database_options.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {

std::optional<KernelSpec> kernel_named(const std::string& name) {
  if (KernelLibrary::is_path(name)) return KernelLibrary().find(name);
  try {
    return KernelLibrary().find(name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

ServingCheck::ServingCheck(std::optional<KernelSpec> known) {
  if (known) kernels_.emplace(known->name, std::move(known));
}

std::optional<std::string> ServingCheck::operator()(const cache::Context& about, const std::string& configuration) {
  const auto [at, is_new] = kernels_.try_emplace(about.kernel.name);
  // A stored name is data: it is looked up as a name, never opened as a path.
  if (is_new && !KernelLibrary::is_path(about.kernel.name)) at->second = kernel_named(about.kernel.name);
  if (!at->second) return std::nullopt;
  std::optional<std::string> why;
  try {
    why = why_invalid(*at->second, from_record(about.problem), from_record(about.device).limits,
                      Configuration::parse(configuration));
  } catch (const std::invalid_argument& error) {
    why = error.what();
  } catch (const Error& error) {
    why = error.what();
  }
  if (why) rejected_.emplace(about.kernel.name + ": " + configuration, *why);
  return why;
}

void ServingCheck::warn() const {
  for (const auto& [name, spec] : kernels_)
    if (!spec)
      cli::warn(fmt::format("kernel {} is not known here: nobody checked that its configurations are valid",
                            printable(name)));
  if (rejected_.empty()) return;
  const auto& [what, why] = *rejected_.begin();
  cli::warn(fmt::format("{} would not be served and {} left out: {} ({})",
                        plural(static_cast<std::int64_t>(rejected_.size()), "configuration"),
                        rejected_.size() == 1 ? "is" : "are", printable(what), printable(why)));
}

}  // namespace tuner::cli
