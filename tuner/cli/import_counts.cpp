#include <tuner/cli/import_counts.hpp>

#include <fmt/format.h>

#include <tuner/cli/format.hpp>

namespace tuner::cli {

std::string import_text(const cache::ImportCount& count) {
  return fmt::format("new: {}, {}, {}, {} in quarantine; known already: {}", plural(count.best, "best configuration"),
                     plural(count.sessions, "session"), plural(count.trials, "trial"), count.quarantined,
                     count.unchanged);
}

}  // namespace tuner::cli
