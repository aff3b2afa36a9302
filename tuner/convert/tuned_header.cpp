#include <tuner/convert/tuned_header.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tuner/convert/header_names.hpp>
#include <tuner/convert/header_rules.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

/// A parameter of the kernel, as a member of `Configuration`.
struct Member {
  std::string parameter;
  std::string name;
  std::string type;                 // in C++
  std::vector<std::string> values;  // of an enumeration, sorted
  Identifiers words = {};

  std::string literal(const Value& value) {
    if (!values.empty()) return type + "::" + words.of(value.text());
    if (value.is_boolean()) return value.boolean() ? "true" : "false";
    return value.is_string() ? value.string() : std::to_string(value.integer());  // a floating number
  }
};

class HeaderWriter {
 public:
  HeaderWriter(const TunedResults& results, const HeaderOptions& options) : results_(results), options_(options) {
    if (results.rows.empty()) throw Error("there are no results for a header");
    name_ = Identifiers({"std"}).of(results.kernel.name);
    for (const auto& [size, value] : results.rows.front().problem.sizes) sizes_.push_back(size);
    for (const TunedSize& row : results.rows) {
      if (std::ranges::find(problems_, row.problem.choices) == problems_.end())
        problems_.push_back(row.problem.choices);
      add_configuration(row.configuration);
      if (row.problem.sizes.size() != sizes_.size() ||
          !std::ranges::all_of(sizes_, [&](auto& size) { return row.problem.sizes.contains(size); }))
        throw Error(fmt::format("results of kernel {} have different sizes: {} and {}", results.kernel.name,
                                cache::sizes_text(results.rows.front().problem.sizes),
                                cache::sizes_text(row.problem.sizes)));
    }
    if (options.default_configuration) add_configuration(*options.default_configuration);
    std::ranges::sort(problems_);
    for (const std::string& problem : problems_) problem_names_.of(problem);
    for (const std::string& size : sizes_) size_names_.of(size);
    make_members();
    std::set<std::string> taken;
    for (const Member& member : members_) taken.insert(member.type);
    rules_ = HeaderRules(results, Identifiers(std::move(taken)), problem_names_);
  }

  std::string text() {
    text_ += head();
    text_ += fmt::format("#pragma once\n\n#include <cmath>\n\nnamespace tuned::{} {{\n\n", name_);
    add_types();
    add_configurations();
    text_ += rules_.functions(size_names_, [this](const Configuration& one) { return number(one); });
    add_rows();
    add_choose();
    add_dispatch();
    text_ += fmt::format("}}  // namespace tuned::{}\n", name_);
    return text_;
  }

 private:
  void add_configuration(const Configuration& configuration) {
    if (!configurations_.empty() &&
        !std::equal(configuration.entries().begin(), configuration.entries().end(),
                    configurations_.front().entries().begin(), configurations_.front().entries().end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; }))
      throw Error(fmt::format("configurations of kernel {} have different parameters: '{}' and '{}'",
                              results_.kernel.name, configurations_.front().text(), configuration.text()));
    if (std::ranges::find(configurations_, configuration) == configurations_.end())
      configurations_.push_back(configuration);
  }

  std::size_t number(const Configuration& configuration) const {
    const auto at = std::ranges::find(configurations_, configuration);
    return static_cast<std::size_t>(at - configurations_.begin());
  }

  void make_members() {
    Identifiers names({"Chosen", "Configuration", "configuration", "configurations", "index"});
    for (const auto& [parameter, first] : configurations_.front().entries()) {
      Member& member = members_.emplace_back(Member{parameter, names.of(parameter), "int", {}});
      bool booleans = true, integers = true, floating = true;
      std::set<std::string> values;
      for (const Configuration& one : configurations_) {
        const Value& value = *one.find(parameter);
        booleans = booleans && value.is_boolean();
        integers = integers && value.is_integer();
        floating = floating && value.fraction();
        values.insert(value.text());
        if (value.is_integer() && (value.integer() > std::numeric_limits<std::int32_t>::max() ||
                                   value.integer() < std::numeric_limits<std::int32_t>::min()))
          member.type = "long long";
      }
      if (booleans) {
        member.type = "bool";
      } else if (floating) {
        member.type = "double";
      } else if (!integers) {
        member.type = names.of("the values of " + parameter, member.name + "_values");
        member.values = {values.begin(), values.end()};
        for (const std::string& value : member.values) member.words.of(value);
      }
    }
  }

  std::string row_remark(const TunedSize& row) const {
    return fmt::format("{} {}: {}", printable(device_name(row.device)), printable(cache::sizes_text(row.problem.sizes)),
                       format_ns(row.median_ns));
  }

  std::string head() {
    std::string size_values, parameters;
    for (const std::string& size : sizes_) size_values += (size_values.empty() ? "" : ", ") + size_names_.of(size);
    for (const Member& member : members_) parameters += (parameters.empty() ? "C::" : ", C::") + member.name;
    const std::string problem =
        problems_.size() > 1 ? fmt::format("<tuned::{}::Problem::{}>", name_, problem_names_.of(problems_.front()))
                             : "";
    std::string text = fmt::format(R"({0}{1}: written by `tune db export --as header`, not to be edited.
// C++17 without dependencies, also in a .cu file.
//
//   const tuned::{2}::Device device{{10 * p.major + p.minor, p.multiProcessorCount, p.l2CacheSize}};  // a cudaDeviceProp p
//   tuned::{2}::dispatch{3}(device, {{{4}}}, [&](auto chosen) {{
//     using C = decltype(chosen);  // with each parameter as a constant
//     {1}<...><<<grid, block, 0, stream>>>(...);  // with {5}, in the order of the kernel's template
//   }});
//
// The device is the measured one of the same compute capability with the nearest number of multiprocessors (then of
// bytes of L2). Any other device gets the default configuration. The size is the measured one that is nearest by ratios.{6}
// `dispatch` instantiates the callable once for each configuration that it may choose, and returns its result.
// Programs that compile at run time find the numbers in `configurations[choose(...)]`.
)",
                                   kHeaderMark, comment(results_.kernel.name), name_, problem, size_values, parameters,
                                   rules_.empty() ? ""
                                                  : "\n// A size that was not measured gets the choice of the rule of "
                                                    "sizes tuned together, within its range.");
    for (std::size_t at = 0; at < options_.remark.size();) {
      const std::size_t end = std::min(options_.remark.find('\n', at), options_.remark.size());
      text += "// " + comment(options_.remark.substr(at, end - at)) + '\n';
      at = end + 1;
    }
    return text + fmt::format("// Kernel source: {}.\n", printable(results_.kernel.source_hash));
  }

  void add_types() {
    for (Member& member : members_) {
      if (member.values.empty()) continue;
      text_ += fmt::format("enum class {} {{", member.type);
      for (std::size_t i = 0; i < member.values.size(); ++i)
        text_ += (i ? ", " : " ") + member.words.of(member.values[i]);
      text_ += " };\n\n";
    }
    text_ += "/// The kernel's parameters.\nstruct Configuration {\n";
    for (const Member& member : members_) text_ += fmt::format("  {} {};\n", member.type, member.name);
    text_ +=
        "};\n\n/// A device. l2_bytes distinguishes devices with equal numbers of multiprocessors; 0: not "
        "known.\nstruct Device {\n  int compute_capability;  // 90 for 9.0\n  int multiprocessors;\n  long long "
        "l2_bytes = 0;\n};\n\nstruct Size {\n";
    for (const std::string& size : sizes_) text_ += fmt::format("  long long {};\n", size_names_.of(size));
    text_ += "};\n\n/// The caller's choices: types and kinds of the operation.\nenum class Problem {\n";
    for (const std::string& problem : problems_)
      text_ += fmt::format("  {},{}\n", problem_names_.of(problem), problem.empty() ? "" : "  // " + comment(problem));
    text_ += "};\n\n";
  }

  void add_configurations() {
    text_ += "inline constexpr Configuration configurations[] = {\n";
    for (const Configuration& one : configurations_) {
      std::string values;
      for (Member& member : members_)
        values += (values.empty() ? "" : ", ") + member.literal(*one.find(member.parameter));
      text_ += fmt::format("    {{{}}},  // {}: {}\n", values, number(one), comment(one.text()));
    }
    text_ += "};\n\n/// The configuration for devices that resemble no measured one.\n";
    text_ += fmt::format("inline constexpr int default_configuration = {};\n\n", default_number());
  }

  void add_rows() {
    text_ += fmt::format(
        "/// A measured problem, with the logarithms of its sizes.\nstruct Row {{\n  Device "
        "device;\n  double log2_size[{}];\n  int configuration;\n{}}};\n\ninline constexpr Row rows[] = {{\n",
        std::max<std::size_t>(1, sizes_.size()), rules_.empty() ? "" : "  int (*rule)(const Size&);  // null: none\n");
    std::string firsts;
    std::size_t count = 0;
    for (const std::string& problem : problems_) {
      firsts += fmt::format("{}, ", count);
      for (const TunedSize& row : results_.rows)
        if (row.problem.choices == problem) {
          text_ += row_text(row);
          ++count;
        }
    }
    text_ += fmt::format(
        "}};\n\n/// The first row of each Problem, and how many rows there are.\n"
        "inline constexpr int first_row[] = {{{}{}}};\n\n",
        firsts, count);
  }

  std::string row_text(const TunedSize& row) {
    std::string logs;
    for (const std::string& size : sizes_) {
      const std::int64_t value = row.problem.sizes.at(size);
      logs += fmt::format("{}{}", logs.empty() ? "" : ", ",
                          value > 0 ? fmt::format("{:.17g}", std::log2(static_cast<double>(value))) : "-64.0");
    }
    const std::string function = rules_.function_of(row);
    const std::string rule = rules_.empty() ? "" : function.empty() ? ", nullptr" : ", " + function;
    return fmt::format("    {{{{{}, {}, {}}}, {{{}}}, {}{}}},  // {}\n", row.device.compute_capability,
                       row.device.sm_count, row.device.l2_bytes, logs.empty() ? "0.0" : logs, number(row.configuration),
                       rule, row_remark(row));
  }

  /// The kernel's default, else the first of the configurations with the most rows.
  std::size_t default_number() const {
    if (options_.default_configuration) return number(*options_.default_configuration);
    std::vector<std::size_t> rows(configurations_.size());
    for (const TunedSize& row : results_.rows) ++rows[number(row.configuration)];
    return static_cast<std::size_t>(std::ranges::max_element(rows) - rows.begin());
  }

  void add_choose() {
    std::string wanted;
    for (const std::string& size : sizes_)
      wanted += fmt::format("{}log2_of(size.{})", wanted.empty() ? "" : ", ", size_names_.of(size));
    text_ += fmt::format(
        R"(/// The index in `configurations` of the best one for \p problem. Examines all its rows.
inline int choose(Problem problem, const Device& device, [[maybe_unused]] const Size& size) {{
  [[maybe_unused]] const auto log2_of = [](long long n) {{ return n > 0 ? std::log2(static_cast<double>(n)) : -64.0; }};
  const auto apart = [](long long a, long long b) {{ return a < b ? b - a : a - b; }};
  const double wanted[] = {{{0}}};
  const auto distance_to = [&](const Row& row) {{
    double distance = 0;
    for (int k = 0; k < static_cast<int>(sizeof(wanted) / sizeof(*wanted)); ++k)
      distance += std::fabs(row.log2_size[k] - wanted[k]);
    return distance;
  }};
  const Row* best = nullptr;
  long long best_multiprocessors = 0, best_l2 = 0;
  double best_distance = 0;
  const int place = static_cast<int>(problem);
  for (int i = first_row[place]; i < first_row[place + 1]; ++i) {{
    const Row& row = rows[i];
    if (row.device.compute_capability != device.compute_capability) continue;
    const long long multiprocessors = apart(row.device.multiprocessors, device.multiprocessors);
    const long long l2 = device.l2_bytes > 0 ? apart(row.device.l2_bytes, device.l2_bytes) : 0;
    const double distance = distance_to(row);
    const bool nearer = multiprocessors != best_multiprocessors ? multiprocessors < best_multiprocessors
                        : l2 != best_l2                         ? l2 < best_l2
                                                                : distance < best_distance;
    if (best && !nearer) continue;
    best = &row;
    best_multiprocessors = multiprocessors;
    best_l2 = l2;
    best_distance = distance;
  }}
{1}  return best ? best->configuration : default_configuration;
}}

)",
        wanted.empty() ? "0.0" : wanted, rules_.statements());
  }

  void add_dispatch() {
    text_ +=
        "/// One configuration as a type: its parameters are constants.\ntemplate <int index>\nstruct Chosen {\n"
        "  static constexpr Configuration configuration = configurations[index];\n";
    for (const Member& member : members_)
      text_ += fmt::format("  static constexpr {0} {1} = configurations[index].{1};\n", member.type, member.name);
    text_ += "};\n\n/// Calls \\p launch with the Chosen for \\p size on \\p device.\ntemplate <Problem problem";
    if (problems_.size() == 1) text_ += " = Problem::" + problem_names_.of(problems_.front());
    text_ +=
        ", class Launch>\ndecltype(auto) dispatch(const Device& device, const Size& size, Launch&& launch) {\n"
        "  const int chosen = choose(problem, device, size);\n";
    const std::size_t other = default_number();
    const bool only = problems_.size() == 1;
    const std::string indent = only ? "  " : "    ";
    for (const std::string& problem : problems_) {
      std::set<std::size_t> numbers;
      for (const TunedSize& row : results_.rows)
        if (row.problem.choices == problem) numbers.insert(number(row.configuration));
      numbers.erase(other);
      if (!only) text_ += problem == problems_.front() ? "  " : " else ";
      if (!only && problem != problems_.back())
        text_ += fmt::format("if constexpr (problem == Problem::{}) ", problem_names_.of(problem));
      if (!only) text_ += "{\n";
      text_ += indent + "switch (chosen) {\n";
      for (const std::size_t one : numbers)
        text_ += fmt::format("{1}  case {0}: return launch(Chosen<{0}>{{}});\n", one, indent);
      text_ += fmt::format("{1}  default: return launch(Chosen<{0}>{{}});\n{1}}}\n", other, indent);
      if (!only) text_ += "  }";
    }
    if (!only) text_ += '\n';
    text_ += "}\n\n";
  }

  const TunedResults& results_;
  const HeaderOptions& options_;
  std::string name_;
  std::string text_;
  std::vector<std::string> sizes_;
  std::vector<std::string> problems_;  // texts of choices
  std::vector<Configuration> configurations_;
  std::vector<Member> members_;
  HeaderRules rules_;
  Identifiers size_names_{{"Size"}}, problem_names_;
};

}  // namespace

std::string header_text(const TunedResults& results, const HeaderOptions& options) {
  return HeaderWriter(results, options).text();
}

}  // namespace tuner::convert
