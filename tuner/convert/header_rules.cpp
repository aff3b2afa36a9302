#include <tuner/convert/header_rules.hpp>

#include <utility>

#include <fmt/format.h>

#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner::convert {

HeaderRules::HeaderRules(const TunedResults& results, Identifiers functions, Identifiers& problem_names) {
  for (const TunedSize& row : results.rows) {
    auto known = rules_.find(key_of(row));
    if (known == rules_.end()) {
      auto rule = SizeRule::parse(row.rule);
      if (!rule || rule->branch(row.problem.sizes) == nullptr) continue;
      const std::string of = fmt::format("{} {} {}", row.problem.choices, row.device.key, row.rule);
      const std::string& name = functions.of(of, "rule_" + problem_names.of(row.problem.choices));
      Rule added{std::move(*rule), name, row.problem.choices + " on " + device_name(row.device), {}};
      known = rules_.emplace(key_of(row), std::move(added)).first;
    }
    known->second.stored.insert(row.configuration);
  }
}

std::string HeaderRules::function_of(const TunedSize& row) const {
  const auto at = rules_.find(key_of(row));
  return at != rules_.end() ? at->second.name : "";
}

std::string HeaderRules::functions(Identifiers& size_names,
                                   const std::function<std::size_t(const Configuration&)>& number_of) const {
  std::string text;
  for (const auto& [key, one] : rules_) {
    const auto size = [&](const std::string& name) { return "size." + size_names.of(name); };
    const SizeRule::Regret& between = one.rule.between;
    text += fmt::format(
        "/// The rule for {}, of sizes tuned together: an index in `configurations`; -1: it says "
        "nothing about \\p size.\n",
        comment(printable(one.about)));
    if (between.sizes > 0)
      text += fmt::format("/// At sizes between, it is {} slower than the best (95% interval {} to {}, at most {}).\n",
                          format_percent(between.median), format_percent(between.low), format_percent(between.high),
                          format_percent(between.worst));
    text += fmt::format("constexpr int {}(const Size& size) {{\n", one.name);
    for (const auto& [name, ends] : one.rule.range)
      text += fmt::format("  if ({0} < {1} || {0} > {2}) return -1;\n", size(name),
                          class_begin(ends.least, one.rule.range.size()), ends.most);
    for (const SizeRule::Branch& branch : one.rule.branches) {
      std::string condition;
      for (const SizeRule::Bound& bound : branch.bounds) {
        std::string product;
        for (const std::string& name : bound.sizes)
          product += fmt::format("{}static_cast<double>({})", product.empty() ? "" : " * ", size(name));
        std::string below = scalar_text(bound.below);
        if (below.find_first_of(".e") == std::string::npos) below += ".0";
        condition += fmt::format("{}{} < {}", condition.empty() ? "" : " && ", product, below);
      }
      const std::string chosen =
          one.stored.contains(branch.configuration) ? std::to_string(number_of(branch.configuration)) : "-1";
      text += condition.empty() ? fmt::format("  return {};", chosen)
                                : fmt::format("  if ({}) return {};", condition, chosen);
      text += fmt::format("  // {}\n", comment(branch.configuration.text()));
    }
    text += "}\n\n";
  }
  return text;
}

std::string HeaderRules::statements() const {
  if (rules_.empty()) return {};
  return
      R"(  if (best && best_distance > 1e-9) {  // the compiler's logarithms may be rounded otherwise
    int chosen = -1;
    for (int i = first_row[place]; i < first_row[place + 1]; ++i) {
      const Row& row = rows[i];
      const bool is_there = row.device.compute_capability == best->device.compute_capability &&
                            row.device.multiprocessors == best->device.multiprocessors &&
                            row.device.l2_bytes == best->device.l2_bytes;
      if (!is_there || !row.rule || row.rule(size) < 0 || (chosen >= 0 && distance_to(row) >= best_distance)) continue;
      chosen = row.rule(size);
      best_distance = distance_to(row);
    }
    if (chosen >= 0) return chosen;
  }
)";
}

}  // namespace tuner::convert
