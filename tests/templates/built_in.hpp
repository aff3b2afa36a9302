#pragma once
/// The kernel files that come with tuner, for tests.

#include <string>
#include <string_view>

#include <templates/embedded.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/error.hpp>

namespace tuner::testing {

/// The kernel file \p name. Throws Error when there is none.
inline KernelSpec built_in(std::string_view name) {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    if (file.name == name) return parse_kernel_file(file.text, std::string(name) + ".cu");
  }
  throw Error("no template " + std::string(name));
}

/// The default configuration of \p spec with \p changes, such as "finish=atomic threads=128".
inline Configuration default_with(const KernelSpec& spec, const std::string& changes) {
  Configuration configuration = *spec.default_configuration;
  const Configuration changed = Configuration::parse(changes);
  for (const auto& [name, value] : changed.entries()) configuration.set(name, value);
  return configuration;
}

}  // namespace tuner::testing
