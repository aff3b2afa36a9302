#include <tuner/cli/verdict.hpp>

#include <fmt/format.h>

namespace tuner::cli {
std::string limit_text(const Verdict& verdict) {
  return fmt::format("{}: {}{}", name(verdict.limit), verdict.reason,
                     verdict.counted || verdict.limit == Limit::unknown ? "" : " (by the model, without counters)");
}

Json to_json(const Verdict& verdict) {
  return {{"limit", name(verdict.limit)}, {"reason", verdict.reason},   {"counted", verdict.counted},
          {"busiest", verdict.busiest},   {"numbers", verdict.numbers}, {"remarks", verdict.remarks}};
}

}  // namespace tuner::cli
