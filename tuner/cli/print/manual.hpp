#pragma once
/// The man page and the completions of shells.

#include <string>
#include <vector>

#include <tuner/cli/input/options.hpp>

namespace tuner::cli {

struct CommandPage {
  std::string name, summary;
  Options options;
};
/// The pages of all commands for other programs, made of the same tables as --help when tuner is built. \p as: "man" (a
/// man page), "bash" or "zsh" (completions). Throws UsageError for anything else.
std::string manual(const std::string& as, const std::vector<CommandPage>& pages);

}  // namespace tuner::cli
