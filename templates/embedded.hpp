#pragma once
/// The kernel files of this folder as text inside the program, so that an installed binary needs no files beside it.
/// Generated at build time from the listed .cu files; nothing here parses or runs them.

#include <span>
#include <string_view>

namespace tuner {

struct EmbeddedTemplate {
  std::string_view name;            ///< the file's name without `.cu`: "reduce"
  std::string_view text;            ///< the whole file
  std::string_view sha256;          ///< of `text`
  std::string_view counted_sha256;  ///< of `text` without the lines of uncounted_directives.inc
};

/// All built-in kernel files, sorted by name. The text lives as long as the program.
std::span<const EmbeddedTemplate> embedded_templates();

}  // namespace tuner
