#include <tuner/cli/input/problems.hpp>

#include <algorithm>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/input/options.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::cli {
namespace {

/// `int` and `int32` mean the same: kernel files store canonical names.
std::string canonical(const ChoiceSpec& choice, const std::string& value) {
  if (!choice.is_type) return value;
  const auto type = element_type(value);
  return type ? std::string(info(*type).name) : value;
}

std::string checked(const ChoiceSpec& choice, const std::string& given) {
  const std::string value = canonical(choice, given);
  if (!contains(choice.values, value))
    throw UsageError(
        unknown_name(fmt::format("{} for {}", choice.is_type ? "type" : "value", choice.name), given, choice.values));
  return value;
}

using Choices = std::map<std::string, std::string>;

/// Every combination of the values in \p options; one without entries if there are none.
std::vector<Choices> read_choices(const KernelSpec& spec, const ProblemOptions& options) {
  std::map<std::string, std::vector<std::string>> asked;
  const auto ask = [&](const ChoiceSpec& choice, const std::string& given) {
    std::vector<std::string>& values = asked[choice.name];
    std::string value = checked(choice, given);
    if (!contains(values, value)) values.push_back(std::move(value));
  };
  for (const std::string& text : options.choices)
    for (const auto& [name, values] : parse_lists(text, "--choice")) {
      const ChoiceSpec* const choice = spec.find_choice(name);
      const bool is_scalar = spec.find_scalar(name) != nullptr;
      if (!is_scalar) require_known("choice of kernel " + spec.name, name, names_of(spec.choices));
      for (const std::string& value : values)
        if (is_scalar)
          asked[name].push_back(value);
        else
          ask(*choice, value);
    }
  const std::vector<std::string> types = split(options.types, ',');
  if (const ChoiceSpec* const type = spec.type_choice(); type == nullptr && !types.empty()) {
    throw UsageError("--type: kernel {} has no type to choose", spec.name);
  } else if (type != nullptr && !types.empty()) {
    if (asked.count(type->name)) throw UsageError("--type and --choice {}: both choose the type; give one", type->name);
    for (const std::string& name : types) ask(*type, name);
  }
  return combinations(asked);
}

/// Halves the sizes of \p problem that are not in \p given until one run moves no more than \p most_bytes. Stops before
/// the default configuration becomes invalid.
bool shrink(const KernelSpec& spec, const std::map<std::string, std::int64_t>& given, const DeviceLimits& limits,
            std::int64_t most_bytes, ProblemSize& problem) {
  if (!spec.work.bytes) return false;
  const auto suits = [&](const ProblemSize& one) {
    return spec.default_configuration && !why_invalid(spec, one, limits, *spec.default_configuration);
  };
  const bool must_suit = suits(problem);
  bool shrunk = false;
  for (;;) {
    if (evaluate_amount(spec, *spec.work.bytes, problem, limits) <= most_bytes) return shrunk;
    ProblemSize half = problem;
    bool smaller = false;
    for (auto& [name, value] : half.sizes)
      if (!given.count(name) && value >= 64) value /= 2, smaller = true;
    if (!smaller || (must_suit && !suits(half))) return shrunk;
    problem = std::move(half);
    shrunk = true;
  }
}

using Sizes = std::map<std::string, std::int64_t>;

/// Each of \p all names sizes that no other does: whoever gave them may have meant one problem.
bool may_be_one(const std::vector<Sizes>& all) {
  Sizes together;
  std::size_t names = 0;
  for (const Sizes& one : all) {
    together.insert(one.begin(), one.end());
    names += one.size();
  }
  return all.size() > 1 && names > 0 && together.size() == names;
}

}  // namespace

std::vector<Choices> combinations(const std::map<std::string, std::vector<std::string>>& values) {
  std::vector<Choices> all(1);
  for (const auto& [name, list] : values) {
    std::vector<Choices> longer;
    for (const Choices& one : all)
      for (const std::string& value : list) longer.emplace_back(one)[name] = value;
    all = std::move(longer);
  }
  return all;
}

std::map<std::string, std::int64_t> read_sizes(const KernelSpec& spec, const std::string& text) {
  std::map<std::string, std::int64_t> sizes;
  if (text.find('=') == std::string::npos && spec.sizes.size() == 1)
    sizes[spec.sizes[0].name] = parse_count(text, "--size");
  else
    sizes = parse_sizes(text, "--size");
  for (const auto& [name, value] : sizes) require_known("size", name, names_of(spec.sizes));
  return sizes;
}

Problems select_problems(const KernelSpec& spec, const ProblemOptions& options, const Device& device) {
  std::vector<Sizes> sizes;
  for (const std::string& text : split(options.sizes, ';')) sizes.push_back(read_sizes(spec, text));
  if (sizes.empty()) sizes.emplace_back();

  Problems problems;
  problems.may_be_one = may_be_one(sizes);
  for (const Choices& choices : read_choices(spec, options))
    for (const auto& given : sizes) {
      ProblemSize problem = complete(spec, {given, choices});
      if (!traits(device.key).is_gpu)
        problems.shrunk |= shrink(spec, given, device.limits, options.host_bytes, problem);
      problems.list.push_back(std::move(problem));
    }
  return problems;
}

ProblemSize select_problem(const KernelSpec& spec, const ProblemOptions& options, const Device& device,
                           std::string_view command) {
  std::vector<ProblemSize> problems = select_problems(spec, options, device).list;
  if (problems.size() == 1) return std::move(problems.front());
  std::string together;
  for (const SizeSpec& size : spec.sizes) together += fmt::format("{}{}=…", together.empty() ? "" : ",", size.name);
  throw UsageError("{} looks at one problem, and these are {}: give one --size {}, --type and --choice", command,
                   problems.size(), together);
}

}  // namespace tuner::cli
