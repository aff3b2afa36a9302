#include <tuner/cli/print/session_result.hpp>

#include <algorithm>
#include <limits>

#include <tuner/cli/print/metrics.hpp>
#include <tuner/cli/print/progress.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/effort.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/explain/explain_trial.hpp>

namespace tuner::cli {
namespace {

/// Above this fraction of a ceiling, which was measured itself, the rate is explained.
constexpr double kExplained = 1.05;

/// \p valid: 0 if unknown.
std::string tried_text(std::size_t tried, std::size_t valid, SpaceCount::Kind kind) {
  if (valid == 0 || (valid == tried && kind == SpaceCount::Kind::more_than))
    return fmt::format("tried {}", plural(tried, "configuration"));
  return fmt::format("tried {} of {} configuration{}", format_count(tried),
                     format_count(SpaceCount{static_cast<double>(valid), kind}), valid == 1 ? "" : "s");
}

/// As far as a stored number shows. Larger spaces are not listed.
SpaceCount::Kind kind_of_stored(std::size_t valid) {
  return valid > kMostListed ? SpaceCount::Kind::about : SpaceCount::Kind::exact;
}

std::string compared_with(const std::string& reference) {
  if (reference.empty()) return {};
  return fmt::format("      verified against the {}\n", printable(reference));
}

/// The end of the output: the best configuration, lines \p about it, and its speed.
std::string result_lines(const Subject& subject, const std::string& configuration, const std::string& about, double ns,
                         const Style& style) {
  return fmt::format("{}  {}\nbest  {}\n{}      {}\n", style.bold(subject.spec->name), subject.size->text(),
                     style.bold(configuration), about, style.loud(speed_text(subject, ns)));
}

/// A line for each of several devices: its number of runs, and how much its times differ from those of the device that
/// decides.
std::string lanes_text(const std::vector<LaneReport>& lanes) {
  std::string text;
  for (const LaneReport& lane : lanes) {
    text += fmt::format("{}  {}: {}", text.empty() ? "lanes   " : "        ", lane.name, plural(lane.trials, "run"));
    if (lane.offset > 0)
      text += fmt::format(", {:+.2f}% ({:+.2f} to {:+.2f}) in time", 100 * (lane.offset - 1),
                          100 * (lane.offset_low - 1), 100 * (lane.offset_high - 1));
    if (!lane.lost.empty()) text += ", given up: " + printable(lane.lost.substr(0, lane.lost.find('\n')));
    text += '\n';
  }
  return text;
}

/// Why the best is below the first row of the table; empty if it is the first row, or the line about ties says it.
std::string passed_over(const Subject& subject, const SessionResult& result) {
  const std::vector<const Trial*> rows = candidates(subject, result.trials);
  if (rows.empty() || !subject.objective.is_time()) return {};
  const Configuration& first = rows.front()->configuration;
  if (first == result.best->configuration || contains(result.ties, first)) return {};
  return "note      a row above the best did not keep its lead at each placement, or was measured at other placements "
         "than "
         "it, or only in the search\n";
}

/// Whether the default is slower than the best as far as that matters. nullopt: not compared, hardly anything was
/// tried, or the interval holds both.
std::optional<bool> is_default_slower(const SessionResult& result) {
  if (!result.default_over_best || result.effort < Effort::quick) return std::nullopt;
  constexpr double kMatters = 1 + kWorthwhileImprovement;
  if (result.default_over_best->low > kMatters) return true;
  return result.default_over_best->high <= kMatters ? std::optional(false) : std::nullopt;
}

/// Whether tuning is worth it here, in one line.
std::string default_text(const SessionResult& result, bool is_best) {
  if (!result.default_over_best) return {};
  const auto& [ratio, low, high] = *result.default_over_best;
  const std::optional<bool> is_worth = is_default_slower(result);
  if (!is_best && is_worth.value_or(true))
    return fmt::format("default   the best takes {:.3g} of the default's time (95% interval {:.3g} to {:.3g})\n",
                       1 / ratio, 1 / high, low > 0 ? 1 / low : std::numeric_limits<double>::infinity());
  const auto loss = [](double one) { return 100 * std::max(one - 1, 0.0); };
  return fmt::format("default   the default is within {:.1f}% of the {} (95% interval {:.1f} to {:.1f}%){}\n",
                     loss(ratio), is_best ? "fastest" : "best", loss(low), loss(high),
                     is_worth == false ? ": tuning is not worth it here" : "");
}

/// DevicePeaks::floor_of(). In other uses than by itself, a launch that does nothing costs less.
double floor_ns(const Subject& subject, double ns) {
  return subject.objective.use() == Use::single ? subject.device->peaks.floor_of(ns) : 0;
}

std::string time_text(const Subject& subject, double ns) {
  const double floor = floor_ns(subject, ns);
  if (floor <= 0) return format_ns(ns);
  return fmt::format("{}, of which {} are a launch that does nothing", format_ns(ns), format_ns(floor));
}

}  // namespace

std::string speed_text(const Subject& subject, double ns) {
  const Throughput rate = rates(subject, ns);
  std::string memory = rate.bytes_per_second ? format_rate(*rate.bytes_per_second) : "";
  const std::string arithmetic = rate.flops_per_second ? "  " + format_flops(*rate.flops_per_second) : "";
  const bool aside = rate.arithmetic_leads();
  if (rate.ceiling_fraction)
    memory += fmt::format("{} {} of this device's {}", aside ? "," : " ", format_percent(*rate.ceiling_fraction),
                          rate.ceiling == "reads"    ? "read rate"
                          : rate.ceiling == "copy"   ? "copy rate"
                          : rate.ceiling == "writes" ? "write rate"
                                                     : "rate for as many reads and writes");
  if (rate.ceiling_fraction.value_or(0) > kExplained)
    memory += " (more than memory gives: served by caches, or not measured here)";
  const std::string time = time_text(subject, ns);
  if (memory.empty()) return time + arithmetic;
  return time + (aside ? arithmetic + "  (" + memory + ')' : "  " + memory + arithmetic);
}

std::string limit_text(const Verdict& verdict) {
  return fmt::format("{}: {}{}", name(verdict.limit), verdict.reason,
                     verdict.counted || verdict.limit == Limit::unknown ? "" : " (by the model, without counters)");
}

Json json_rates(const Subject& subject, double ns) {
  const Throughput rate = rates(subject, ns);
  Json object = Json::object();
  if (const double floor = floor_ns(subject, ns); floor > 0) object["floor_ns"] = floor;
  if (rate.bytes_per_second) object["bytes_per_s"] = *rate.bytes_per_second;
  if (rate.flops_per_second) object["flops_per_s"] = *rate.flops_per_second;
  if (rate.ceiling_fraction) object["ceiling_fraction"] = *rate.ceiling_fraction, object["ceiling"] = rate.ceiling;
  return object;
}

std::string failure_summary(const std::vector<Trial>& trials, const Style& style) {
  OutcomeCounts counts;
  for (const Trial& trial : trials) counts.add(trial.outcome);
  if (counts.failures() == 0) return {};
  std::string text = fmt::format("failed    {} of {}\n", counts.failures(), plural(trials.size(), "trial"));
  for (const std::string_view kind : outcome_names()) {
    const std::size_t of_kind = counts.of(*outcome_kind(kind));
    if (kind == "ok" || of_kind == 0) continue;
    const std::string count = fmt::format("{:>4} {:<8}", of_kind, kind);
    text += fmt::format("  {} {}\n", kind == "wrong" ? style.red(count) : count,
                        style.dim(printable(usual_failure(trials, kind))));
  }
  return text;
}

std::string winner(const Subject& subject, const SessionResult& result, const std::string& database, const Style& style,
                   bool below_table) {
  const Trial& best = *result.best;
  const Measurement& measured = *best.measurement();
  const std::size_t now = result.trials.size() - result.resumed;
  std::string text =
      fmt::format("done      {} in {} ({}); {}\n", plural(now, "trial"), format_seconds(result.wall_seconds),
                  tuner::text(result.stop_reason), tried_text(result.trials.size(), result.valid, result.valid_is));
  text += fmt::format(
      "time      {} measuring, {} verifying, {} loading, {} waiting; {} compiling, summed over all compilers\n",
      format_seconds(result.times.measure), format_seconds(result.times.verify), format_seconds(result.times.load),
      format_seconds(result.times.wait), format_seconds(result.times.compile));
  if (measured.throttled) text += style.yellow("note      the clocks dropped while it was measured") + '\n';
  if (!result.checked.empty()) text += fmt::format("checked   {}\n", printable(result.checked));
  if (!result.ties.empty())
    text += fmt::format("ties      {} as fast as the best within the noise; it is the simplest\n",
                        plural(result.ties.size(), "configuration"));
  if (below_table) text += passed_over(subject, result);
  text += default_text(result, best.configuration == subject.spec->default_configuration);
  text += lanes_text(result.lanes);
  const Verdict why = explain(*subject.spec, *subject.size, *subject.device, best);
  text += fmt::format("limit     {}\n", limit_text(why));
  for (const std::string& remark : why.remarks) text += fmt::format("remark    {}\n", remark);
  text += fmt::format("stored in {}\n\n", printable(database));
  const Use use = subject.objective.use().value_or(Use::single);
  std::string about =
      fmt::format("      {}, 95% interval {} to {}, noise {}{}{}\n", plural(measured.samples_ns.size(), "sample"),
                  format_ns(measured.low_ns), format_ns(measured.high_ns), format_percent(measured.relative_noise),
                  measured.clock_mhz > 0 ? fmt::format(", SM clock {:.0f} MHz", measured.clock_mhz) : "",
                  use == Use::single ? "" : fmt::format(", {}", named(use).surroundings));
  about += subject.verified ? compared_with(subject.reference)
                            : "      not verified: it is never served, and may be wrong\n";
  return text + result_lines(subject, best.configuration.text(), about, measured.median_ns, style);
}

Answer known_answer(const Subject& subject, const StoredAnswer& known, const Style& style) {
  const cache::WisdomMatch& match = known.match;
  const cache::BestRecord& best = *match.best;
  Json data{{"configuration", Configuration::parse(best.configuration)},
            {"configuration_text", best.configuration},
            {"outcome", "ok"},
            {"median_ns", best.median_ns},
            {"low_ns", best.low_ns},
            {"high_ns", best.high_ns},
            {"relative_noise", best.relative_noise},
            {"verified", true},
            {"measured_ms", best.measured_ms}};
  if (!best.effort.empty()) data["effort"] = best.effort;
  if (!subject.reference.empty()) data["reference"] = subject.reference;
  if (!best.checked.empty()) data["checked"] = best.checked;
  if (!best.target.empty()) data["target"] = best.target;
  data.update(json_rates(subject, best.median_ns));
  Answer answer;
  answer.data("problem", *subject.size)
      .data("objective", subject.objective.name)
      .data("from_cache", true)
      .data("tier", cache::name(match.tier))
      .data("reason", match.reason)
      .data("database", match.database)
      .data("shipped", match.shipped)
      .data("best", std::move(data));
  if (known.tried > 0) answer.data("tried", known.tried);
  if (known.valid > 0) answer.data("space", Json{{"valid", known.valid}});
  answer.styled(fmt::format(
      "cache     answered from {}; nothing was measured ({}--force measures again)\n"
      "          {}{}; on {} UTC, with {} samples\n\n",
      printable(match.database),
      known.tried > 0 && !known.is_whole_space() ? "more effort, or a larger --budget or --trials searches on, " : "",
      known.tried > 0 ? tried_text(known.tried, known.valid, kind_of_stored(known.valid)) + "; " : "",
      printable(match.reason), format_instant(best.measured_ms), best.samples));
  answer.styled(
      result_lines(subject, printable(best.configuration), compared_with(subject.reference), best.median_ns, style));
  return answer;
}

Answer unmeasured_answer(const Subject& subject, const StoredAnswer& known, const Style& style) {
  const Configuration served = Configuration::parse(known.configuration);
  const std::string reason = known.match                                     ? known.match.reason
                             : served == subject.spec->default_configuration ? "the kernel's default"
                                                                             : "the first valid configuration";
  Answer answer;
  answer.data("problem", *subject.size)
      .data("objective", subject.objective.name)
      .data("from_cache", true)
      .data("best", nullptr)
      .data("served", {{"configuration", served}, {"reason", reason}});
  answer.styled(
      fmt::format("cache     nothing is stored for exactly this; nothing was measured (--effort quick measures)\n\n"
                  "{}  {}\nserved  {}\n        {}\n",
                  style.bold(subject.spec->name), subject.size->text(), style.bold(printable(known.configuration)),
                  printable(reason)));
  return answer;
}

Json json_result(const Subject& subject, const SessionResult& result, const std::string& database) {
  OutcomeCounts counts;
  for (const Trial& trial : result.trials) counts.add(trial.outcome);
  Json outcomes = Json::object();
  for (const std::string_view kind : outcome_names()) outcomes[std::string(kind)] = counts.of(*outcome_kind(kind));
  Json object{
      {"problem", *subject.size},
      {"objective", subject.objective.name},
      {"from_cache", false},
      {"space", {{"product", result.product}, {"valid", result.valid}, {"valid_is", count_word(result.valid_is)}}},
      {"stop_reason", text(result.stop_reason)},
      {"effort", named(result.effort).name},
      {"wall_s", result.wall_seconds},
      {"resumed", result.resumed},
      {"tried", result.trials.size()},
      {"outcomes", outcomes},
      {"database", database}};
  object["best"] = nullptr;
  if (result.best) {
    object["best"] = *result.best;
    object["best"].update(json_rates(subject, result.best->measurement()->median_ns));
    if (subject.verified && !subject.reference.empty()) object["best"]["reference"] = subject.reference;
    if (!result.checked.empty()) object["best"]["checked"] = result.checked;
    object["best"]["verdict"] = explain(*subject.spec, *subject.size, *subject.device, *result.best);
  }
  if (const auto& compared = result.default_over_best) {
    object["default"] = {{"time_over_best", compared->ratio}, {"low", compared->low}, {"high", compared->high}};
    if (const auto is_worth = is_default_slower(result)) object["default"]["worth_tuning"] = *is_worth;
  }
  object["ties"] = Json::array();
  for (const Configuration& one : result.ties) object["ties"].push_back(one.text());
  if (!subject.trade_off.empty()) {
    Json configurations = Json::array();
    for (const Trial* const trial : pareto_front(result.trials, subject.trade_off))
      configurations.push_back(trial->configuration.text());
    object["front"] = {{"objectives", subject.trade_off}, {"configurations", std::move(configurations)}};
  }
  for (const LaneReport& lane : result.lanes) {
    Json one{{"name", lane.name}, {"runs", lane.trials}};
    if (lane.offset > 0)
      one.update({{"offset", lane.offset}, {"offset_low", lane.offset_low}, {"offset_high", lane.offset_high}});
    if (!lane.lost.empty()) one["given_up"] = lane.lost;
    object["lanes"].push_back(std::move(one));
  }
  object["trials"] = result.trials;
  return object;
}

}  // namespace tuner::cli
