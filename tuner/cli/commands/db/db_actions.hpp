#pragma once
/// The jobs of `tune db`, which are chosen by a word.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/input/options.hpp>

namespace tuner::cli {

/// One of several jobs of `tune db`, and the options that have an effect on it.
struct Action {
  std::string_view name;
  int (*run)(const Given& given);
  std::vector<std::string_view> uses;
};
/// Runs the one of \p actions that is called \p name. Throws UsageError for an unknown name, and for an option of
/// `tune db` that has no effect on it. \p before: what stands before the name on the command line.
int run_action(const Given& given, const std::vector<Action>& actions, const std::string& name,
               std::string_view before);

}  // namespace tuner::cli
