#include <bench/truth/table.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <bench/truth/numbers.hpp>

#include <tuner/measure/numbers/statistics.hpp>

namespace bench::truth {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

constexpr double kMedianRegret = 0.005, kHighRegret = 0.01, kClassRegret = 0.02;
constexpr double kFalseAlarms = 0.001, kMisses = 0.05;

std::string percent(double part) { return fmt::format("{:.2f}%", 100 * part); }
std::string us(double ns) { return fmt::format("{:.3f} us", ns / 1e3); }

/// By how much \p a is slower than \p b.
double regret(const Replays& replays, const std::string& a, const std::string& b) {
  return std::max(0.0, paired_ratio(replays, a, b) - 1);
}

class Writer {
 public:
  explicit Writer(const Json& findings) : findings_(findings) {}

  Table write() {
    winners();
    told();
    classes();
    compare();
    return std::move(table_);
  }

 private:
  std::vector<Json> of(const char* part) const {
    std::vector<Json> all;
    for (const Json& one : findings_)
      if (one.at("part") == part) all.push_back(one);
    return all;
  }

  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    table_.text += fmt::format(format, std::forward<Values>(values)...) + '\n';
  }

  /// \p held: whether the goal is reached, as a word.
  const char* goal(bool held) {
    table_.holds = table_.holds && held;
    return held ? "held" : "NOT HELD";
  }

  void winners() {
    const std::vector<Json> all = of("winners");
    if (all.empty()) return;
    line("| problem | tunings | winners | regret: median | 95th percentile | worst | default over best |");
    line("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    Numbers regrets, apart;
    Rate differ;
    for (const Json& one : all) winners_of(one, regrets, differ, apart);
    const double middle = tuner::median(regrets), high = quantile(regrets, 0.95);
    line("\n1. Regret of {} winners: median {} (goal {}: {}), 95th percentile {} (goal {}: {}), worst {}.",
         regrets.size(), percent(middle), percent(kMedianRegret), goal(middle <= kMedianRegret), percent(high),
         percent(kHighRegret), goal(high <= kHighRegret), percent(quantile(regrets, 1)));
    table_.json["regret"] = {{"tunings", regrets.size()}, {"median", middle}, {"p95", high}};
    table_.json["tunings_differ"] = {{"pairs", differ.cases}, {"differ", differ.hits}};
    if (apart.empty()) {
      line("2. Of {} pairs of tunings of one problem, none differs.\n", differ.cases);
      return;
    }
    line(
        "2. Of {} pairs of tunings of one problem, {} differ in the winner: {}. These differ in time by {} (median) "
        "and {} "
        "(95th percentile).\n",
        differ.cases, differ.hits, percent(differ.value()), percent(tuner::median(apart)),
        percent(quantile(apart, 0.95)));
    table_.json["tunings_differ"]["median"] = tuner::median(apart);
    table_.json["tunings_differ"]["p95"] = quantile(apart, 0.95);
  }

  void winners_of(const Json& one, Numbers& regrets, Rate& differ, Numbers& apart) {
    const auto replays = one.at("replays").get<Replays>();
    std::vector<std::string> picks, names;
    for (const Json& seed : one.at("seeds")) picks.push_back(seed.at("configuration"));
    for (const auto& [name, ns] : replays) names.push_back(name);
    const std::string best = fastest(replays, names);
    Numbers own;
    for (const std::string& pick : picks) own.push_back(regret(replays, pick, best));
    for (std::size_t a = 0; a < picks.size(); ++a) {
      for (std::size_t b = a + 1; b < picks.size(); ++b) {
        ++differ.cases;
        if (picks[a] == picks[b]) continue;
        ++differ.hits;
        apart.push_back(std::max(regret(replays, picks[a], picks[b]), regret(replays, picks[b], picks[a])));
      }
    }
    regrets.insert(regrets.end(), own.begin(), own.end());
    std::vector<std::string> distinct = picks;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    line("| {} | {} | {} | {} | {} | {} | {} |", one.at("problem").get<std::string>(), picks.size(), distinct.size(),
         percent(tuner::median(own)), percent(quantile(own, 0.95)), percent(quantile(own, 1)),
         one.contains("default") ? fmt::format("{:.3f}", paired_ratio(replays, one.at("default"), best)) : "");
  }

  void told() {
    const std::vector<Json> all = of("told");
    if (all.empty()) return;
    line("| problem | told | search | finalists | new process | served call |");
    line("| --- | ---: | ---: | ---: | ---: | ---: |");
    Rate exceed;
    double worst = 1;
    for (const Json& one : all) {
      const double told_ns = one.at("told_ns");
      std::string row = fmt::format("| {} | {} |", one.at("problem").get<std::string>(), us(told_ns));
      for (const char* where : {"search", "finalists", "new process", "served call"}) {
        const double had = one.at("had").at(where), ratio = told_ns / had;
        const bool exceeds = !(std::abs(told_ns - had) <= tolerance_ns(had));
        ++exceed.cases;
        exceed.hits += exceeds ? 1 : 0;
        if (!(std::abs(std::log(ratio)) <= std::abs(std::log(worst)))) worst = ratio;
        row += fmt::format(" {:.3f} ({:+.0f} ns){} |", ratio, told_ns - had, exceeds ? " EXCEEDS" : "");
      }
      line("{}", row);
    }
    line("\n3. Told over had: {} of {} exceed 2% and 50 ns (goal none: {}), worst {:.3f}.\n", exceed.hits, exceed.cases,
         goal(exceed.hits == 0), worst);
    table_.json["told_over_had"] = {{"cases", exceed.cases}, {"exceed", exceed.hits}, {"worst", worst}};
  }

  void classes() {
    const std::vector<Json> all = of("classes");
    if (all.empty()) return;
    line("| tuned here and at twice the sizes | drawn | regret |");
    line("| --- | --- | ---: |");
    Numbers regrets;
    for (const Json& one : all) {
      for (const Json& drawn : one.at("draws")) {
        regrets.push_back(regret(drawn.at("replays").get<Replays>(), drawn.at("served"), drawn.at("own")));
        line("| {} | {} | {} |", one.at("problem").get<std::string>(), drawn.at("problem").get<std::string>(),
             percent(regrets.back()));
      }
    }
    const double high = quantile(regrets, 0.95);
    line("\n4. Regret of a size class at {} sizes: median {}, 95th percentile {} (goal {}: {}).\n", regrets.size(),
         percent(regrets.empty() ? NAN : tuner::median(regrets)), percent(high), percent(kClassRegret),
         goal(high <= kClassRegret));
    table_.json["size_class_regret"] = {{"sizes", regrets.size()}, {"p95", high}};
  }

  void compare() {
    const std::vector<Json> all = of("compare");
    if (all.empty()) return;
    line("| problem | equal pairs | called different | slowed down by 1% | found |");
    line("| --- | ---: | ---: | ---: | ---: |");
    Rate alarms, apart, misses;
    for (const Json& one : all) {
      Rate here, missed;
      for (const Json& pair : one.at("equal")) {
        const bool alarm = pair.at("verdict") == "slower" || pair.at("verdict") == "faster";
        ++here.cases, here.hits += alarm ? 1 : 0;
        if (pair.at("apart")) ++apart.cases, apart.hits += alarm ? 1 : 0;
      }
      for (const Json& pair : one.at("slower")) ++missed.cases, missed.hits += pair.at("verdict") == "slower" ? 0 : 1;
      line("| {} | {} | {} | {} | {} |", one.at("problem").get<std::string>(), here.cases, here.hits, missed.cases,
           missed.cases - missed.hits);
      alarms.cases += here.cases, alarms.hits += here.hits;
      misses.cases += missed.cases, misses.hits += missed.hits;
    }
    line(
        "\n5. Of {} equal pairs, {} are called different: {} (goal {}: {}). {} of these pairs share no measurement; "
        "they "
        "bound the rate by {}.",
        alarms.cases, alarms.hits, percent(alarms.value()), percent(kFalseAlarms),
        goal(!(alarms.value() > kFalseAlarms)), apart.cases, percent(apart.high()));
    line("   Of {} pairs with a slowdown by 1%, {} are missed: {} (goal {}: {}), 95% interval {} to {}.", misses.cases,
         misses.hits, percent(misses.value()), percent(kMisses), goal(!(misses.value() > kMisses)),
         percent(misses.low()), percent(misses.high()));
    table_.json["compare"] = {
        {"equal", alarms.cases}, {"false_alarms", alarms.hits}, {"slowed", misses.cases}, {"missed", misses.hits}};
  }

  const Json& findings_;
  Table table_;
};

}  // namespace

Table table_of(const Json& findings) { return Writer(findings).write(); }

}  // namespace bench::truth
