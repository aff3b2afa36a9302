#pragma once
/// The five numbers of bench/truth, from the findings of its parts. Pure.

#include <string>

#include <nlohmann/json.hpp>

namespace bench::truth {

struct Table {
  std::string text;     ///< Markdown
  bool holds = true;    ///< all goals for which there are findings
  nlohmann::json json;  ///< the five numbers, as far as there are findings
};

/// \p findings: an array of the objects that steps() makes, from one run or several.
Table table_of(const nlohmann::json& findings);

}  // namespace bench::truth
