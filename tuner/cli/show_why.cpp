#include <tuner/cli/commands.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/stored_results.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/tune_request.hpp>
#include <tuner/core/format.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {
namespace {

constexpr const char* kFrozenNote = " ($TUNER_FROZEN: this file and no other)";

/// The configuration that would run: the answer, or the kernel file's default.
std::string served(const KernelSpec& spec, const cache::WisdomMatch& match) {
  if (match.best) return match.best->configuration;
  return spec.default_configuration ? spec.default_configuration->text() : "";
}

std::string explanation(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                        const cache::WisdomMatch& match) {
  cache::Database& user = wisdom.user();
  std::string text = fmt::format("{}  {}  on {}\n", spec.name, size.text(), printable(device.name));
  std::vector<std::pair<std::string, std::string>> about{
      {"asked", user.path().empty() ? "memory" : user.path().string() + (wisdom.frozen() ? kFrozenNote : "")}};
  for (const cache::Database* one : wisdom.databases())
    if (one->is_shipped()) about.emplace_back("", one->path().string() + " (shipped)");
  for (const cache::RejectedCandidate& one : match.rejected)
    about.emplace_back("passed over", fmt::format("{} ({}, {}): {}", one.configuration, cache::name(one.tier),
                                                  one.database, one.reason));
  about.emplace_back("tier", std::string(cache::name(match.tier)));
  about.emplace_back("reason", match.reason);
  if (match.best) {
    const cache::BestRecord& best = *match.best;
    about.emplace_back("database", match.database + (match.shipped ? " (shipped)" : ""));
    about.emplace_back("measured", fmt::format("{} {} for {} on {}, {} UTC, {} samples", format_ns(best.median_ns),
                                               format_interval(best.median_ns, best.low_ns, best.high_ns),
                                               cache::sizes_text(best.problem.sizes), best.device.name,
                                               format_instant(best.measured_ms), best.samples));
    const std::string reference = match.shipped || wisdom.frozen() ? weaker_reference(spec) : reference_of(user, best);
    if (!reference.empty()) about.emplace_back("verified", "against the " + reference);
    about.emplace_back("software", best.environment.driver + ", " + best.environment.compiler);
  }
  about.emplace_back("served",
                     served(spec, match).empty() ? "nothing: the kernel has no default" : served(spec, match));
  return text + facts(about, "  ");
}

}  // namespace

int show_why(const Given& given) {
  const KernelSpec spec = chosen_kernel(given);
  const Device device = choose_device(wanted_device(given)).device;
  Wisdom wisdom(read_only_wisdom(given));

  Json answers = Json::array();
  std::string text;
  for (const ProblemSize& size : select_problems(spec, problem_options(given), device).list) {
    const cache::WisdomMatch match = wisdom.lookup(spec, size, device);
    text += explanation(spec, size, device, wisdom, match);
    Table rejected({"configuration", "tier", "database", "reason"});
    for (const cache::RejectedCandidate& one : match.rejected)
      rejected.add({one.configuration, cache::name(one.tier), one.database, one.reason});
    answers.push_back({{"kernel", spec.name},
                       {"problem", to_json(size)},
                       {"device", device.key.text()},
                       {"tier", cache::name(match.tier)},
                       {"reason", match.reason},
                       {"database", match.database},
                       {"shipped", match.shipped},
                       {"frozen", wisdom.frozen()},
                       {"served", served(spec, match)},
                       {"rejected", rejected.json()}});
  }
  return answer(given, {{"answers", answers}}, text);
}

}  // namespace tuner::cli
