#include <tuner/cli/commands/db/db_actions.hpp>

#include <fmt/format.h>

#include <tuner/core/values/named.hpp>

namespace tuner::cli {

int run_action(const Given& given, const std::vector<Action>& actions, const std::string& name,
               std::string_view before) {
  require_known(fmt::format("{} of {}", before.starts_with('-') ? "value" : "action", before), name, names_of(actions));
  const Action& action = *find_named(actions, name);
  for (const char* option :
       {"db", "kernel", "device", "size", "choice", "config", "all", "as", "arch", "force", "json"})
    if (!contains(action.uses, option))
      given.refuse({option}, fmt::format("with `{}{}{}`", before, name.empty() ? "" : " ", name));
  return action.run(given);
}

}  // namespace tuner::cli
