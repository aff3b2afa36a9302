#pragma once
/// The pages of all commands for other programs: a man page, and completions for bash and zsh. They are made of the
/// same tables as --help, when tuner is built.

#include <string>
#include <vector>

#include <tuner/cli/options.hpp>

namespace tuner::cli {

struct CommandPage {
  std::string name, summary;
  Options options;
};

/// \p as: "man", "bash" or "zsh". Throws UsageError for anything else.
std::string manual(const std::string& as, const std::vector<CommandPage>& pages);

}  // namespace tuner::cli
