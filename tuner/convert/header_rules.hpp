#pragma once
/// The rules of sizes tuned together in a C++ header that is written from results: a constexpr function for each.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <tuner/convert/header_names.hpp>
#include <tuner/convert/tuned_results.hpp>
#include <tuner/core/result/size_rule.hpp>

namespace tuner::convert {

class HeaderRules {
 public:
  HeaderRules() = default;
  /// The rules of \p results. A function is called after its choices in \p problem_names, and by a name that \p
  /// functions does not have yet.
  HeaderRules(const TunedResults& results, Identifiers functions, Identifiers& problem_names);

  bool empty() const { return rules_.empty(); }
  /// The name of the function for the rule of \p row; empty: the row has none.
  std::string function_of(const TunedSize& row) const;
  /// All functions. \p number_of: the index of a configuration in the header.
  std::string functions(Identifiers& size_names,
                        const std::function<std::size_t(const Configuration&)>& number_of) const;
  /// The statements in `choose` that give a size that was not measured the choice of the nearest rule. Empty without
  /// rules.
  std::string statements() const;

 private:
  struct Rule {
    SizeRule rule;
    std::string name;
    std::string about;               // choices and device
    std::set<Configuration> stored;  // those that are still the best of a size
  };
  /// The kernel's choices, the device and the text of its rule.
  using RuleKey = std::tuple<std::string, std::string, std::string>;
  static RuleKey key_of(const TunedSize& row) { return {row.problem.choices, row.device.key, row.rule}; }

  std::map<RuleKey, Rule> rules_;
};

}  // namespace tuner::convert
