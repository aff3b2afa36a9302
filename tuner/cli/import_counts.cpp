#include <tuner/cli/import_counts.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {

std::string counts_text(const std::string& source, const cache::ImportCount& count) {
  return fmt::format("{}  new: {}, {}, {}, {} in quarantine; known already: {}\n", printable(source),
                     plural(count.best, "best configuration"), plural(count.sessions, "session"),
                     plural(count.trials, "trial"), count.quarantined, count.unchanged);
}

Json counts_json(const std::string& source, const cache::ImportCount& count) {
  return {{"source", source},
          {"best", count.best},
          {"sessions", count.sessions},
          {"trials", count.trials},
          {"quarantined", count.quarantined},
          {"unchanged", count.unchanged}};
}

}  // namespace tuner::cli
