#include <tuner/convert/kernel_draft.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <tuner/convert/floating_value.hpp>
#include <tuner/convert/shorter.hpp>
#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestLine = 120;
constexpr std::size_t kMostDefaults = 200'000;  // configurations that are tried to find a default

std::string values_text(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : " ") + value;
  return text;
}

/// Formats \p text as lines of a comment.
std::string comment_lines(const std::string& text) {
  std::string lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    std::string safe = printable(line);
    if (safe.ends_with('\\')) safe += '.';
    lines += "// " + safe + '\n';
  }
  return lines;
}

std::string cpp_type(const std::string& type) {
  const auto found = element_type(type);  // the spellings of this room are a subset of core's
  return std::string(info(tuner::element_type(found ? found->name : type).value()).spelling);
}

std::string joined(const std::array<std::string, 3>& shape) {
  const int count = shape[2] != "1" ? 3 : shape[1] != "1" ? 2 : 1;
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + shape[static_cast<std::size_t>(i)];
  return text;
}

}  // namespace

void KernelDraft::leave(std::string sentence) {
  if (std::find(left.begin(), left.end(), sentence) == left.end()) left.push_back(std::move(sentence));
}

std::string KernelDraft::safe_name(const DraftArgument& argument) const {
  // The name of a constant buffer must stay: it identifies the variable.
  return argument.role == DraftArgument::Role::constant ? argument.name : possible_name(argument.name);
}

void KernelDraft::set_kernel(const std::string& name) {
  instantiate = name;
  kernel = std::string(trimmed(std::string_view(name).substr(0, name.find('<'))));
  if (const std::size_t colon = kernel.rfind(':'); colon != std::string::npos) kernel.erase(0, colon + 1);
}

std::string KernelDraft::qualified_name() const {
  const std::string& name = instantiate.empty() ? kernel : instantiate;
  if (name.substr(0, name.find('<')).find(':') != std::string::npos) return name;
  const std::string code = code_of(source_text);
  const auto signature = find_signature(code, kernel);
  return signature ? namespaces_at(code, signature->begin) + name : name;
}

Meaning KernelDraft::meaning() const {
  Meaning meaning;
  meaning.constants = constants;
  std::set<std::string> known;
  for (const DraftParameter& one : parameters) {
    std::vector<python::Constant> values;
    bool is_floating = false;
    for (const std::string& text : one.values) {
      const Value value = Value::parse(text);
      const std::optional<double> number = floating_value(value);
      is_floating = is_floating || number;
      if (value.is_integer())
        values.push_back({value.integer(), {}, {}});
      else if (number)
        values.push_back({*number, {}, {}});
    }
    if (!is_floating) known.insert(one.name);  // kernel files do not compute with floating numbers
    if (values.size() == one.values.size()) meaning.constants[one.name] = {std::move(values), {}, {}};
  }
  for (const auto& [name, value] : sizes) {
    known.insert(name);
    meaning.sizes.insert(name);
    if (name.starts_with("problem_")) meaning.problem.push_back(possible_name(name));
  }
  for (const DraftArgument& one : arguments)
    if (one.role == DraftArgument::Role::size) {
      known.insert(one.name);
      meaning.sizes.insert(one.name);
    }
  meaning.name = [known](const std::string& name) {
    return known.contains(name) ? std::optional(possible_name(name)) : std::nullopt;
  };
  return meaning;
}

void KernelDraft::add_parameter(const std::string& name, const python::Constant& values) {
  if (!is_identifier(name)) {
    leave(fmt::format("{} cannot be the name of a parameter", in_quotes(name)));
    return;
  }
  const auto has_name = [&](const DraftParameter& one) { return one.name == name; };
  if (std::any_of(parameters.begin(), parameters.end(), has_name)) {
    leave(fmt::format("there are two parameters {}: the second is left out", name));
    return;
  }
  DraftParameter parameter{name, {}, {}};
  const std::vector<python::Constant> one{values};
  for (const python::Constant& value : values.list() ? *values.list() : one) {
    std::string text;
    if (const bool* truth = std::get_if<bool>(&value.value)) {
      text = *truth ? "true" : "false";
    } else if (value.is_integer()) {
      text = std::to_string(value.integer());
    } else if (value.is_number() && std::fabs(value.number()) < 1e15) {
      text = number_text(value.number());
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
    } else if (value.string() && !value.string()->empty() &&
               std::all_of(value.string()->begin(), value.string()->end(),
                           [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; })) {
      text = *value.string();
    } else {
      leave(fmt::format("a value of parameter {} is not a number, truth value or word: write it in another way", name));
      continue;
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), text) == parameter.values.end())
      parameter.values.push_back(std::move(text));
  }
  if (parameter.values.empty()) {
    leave(fmt::format("no value of parameter {} was understood", name));
    return;
  }
  // A parameter has values of one kind.
  const bool some_truth = std::any_of(parameter.values.begin(), parameter.values.end(),
                                      [](const auto& value) { return value == "true" || value == "false"; });
  const bool all_truth = std::all_of(parameter.values.begin(), parameter.values.end(),
                                     [](const auto& value) { return value == "true" || value == "false"; });
  if (some_truth && !all_truth)
    for (std::string& value : parameter.values) value = value == "true" ? "1" : value == "false" ? "0" : value;
  const auto is_floating = [](const std::string& value) { return floating_value(Value::parse(value)).has_value(); };
  if (std::any_of(parameter.values.begin(), parameter.values.end(), is_floating))
    for (std::string& value : parameter.values)
      if (Value::parse(value).is_integer()) value += ".0";
  parameters.push_back(std::move(parameter));
}

void KernelDraft::add_constraint(const python::Node& tree, const std::string& text) {
  try {
    for (std::string& condition : translate_conditions(tree, meaning())) {
      (void)Expression::parse(condition, {});
      constraints.push_back(std::move(condition));
    }
  } catch (const Error& error) {
    leave(fmt::format("the condition {} is not translated: {}", in_quotes(text), first_line(error.what())));
  }
}

std::string KernelDraft::expression(const std::string& text, const std::string& what, const std::string& otherwise) {
  try {
    std::string translated = translate(text, meaning());
    (void)Expression::parse(translated, {});
    return translated;
  } catch (const Error& error) {
    leave(fmt::format("{} is {} here and was {}: {}", what, otherwise, in_quotes(text), first_line(error.what())));
    return otherwise;
  }
}

void KernelDraft::add_option(const std::string& option) {
  if (option.empty()) return;
  if (option.find_first_of("\n\r\"\\{}") != std::string::npos) {
    leave(fmt::format("the compiler's option {} is not translated", in_quotes(option)));
    return;
  }
  const bool own = option.starts_with("-std") || option.starts_with("--std") || option.starts_with("-arch") ||
                   option.starts_with("--gpu-architecture") || option.starts_with("-gencode") || option == "-O2" ||
                   option == "-O3" || option == "-lineinfo";
  if (own) return;  // NVRTC compiles, for the present device
  if (option.starts_with("-D")) {
    const std::size_t equals = option.find('=');
    const std::string value = equals == std::string::npos ? "1" : option.substr(equals + 1);
    try {
      (void)Expression::parse(value, {});
    } catch (const Error&) {
      leave(fmt::format("the macro {} is not translated: its value is not an integer expression", in_quotes(option)));
      return;
    }
    macros.emplace_back(option.substr(2, equals == std::string::npos ? equals : equals - 2), value);
  } else if (const std::size_t path = option.find_first_not_of(' ', 2);
             option.starts_with("-I") && path != std::string::npos) {
    include_paths.push_back(option.substr(path));
  } else if (option.starts_with("-cl-") || !option.starts_with('-') || option.find(' ') != std::string::npos) {
    leave(fmt::format("NVRTC has no option {}", in_quotes(option)));
  } else {
    options.push_back(option);
  }
}

/// The values of a possible configuration, in the order of the parameters. Prefers the original's default, then the
/// valid configuration that differs from it in the fewest parameters. Without a default, takes the one, among the
/// first, whose block is nearest to 256 threads.
std::optional<std::vector<std::string>> KernelDraft::find_default() {
  const std::string threads = fmt::format("({}) * ({}) * ({})", block[0], block[1], block[2]);
  std::vector<Expression> all;
  std::optional<Expression> size_of_block;
  try {
    for (const std::string& one : constraints) all.push_back(Expression::parse(one, {}));
    size_of_block = Expression::parse(threads, {});
  } catch (const Error&) {
    return std::nullopt;
  }
  Bindings fixed;
  for (const auto& [name, value] : sizes) fixed.set(possible_name(name), Value::parse(value));
  for (const DraftArgument& one : arguments)
    if (one.role == DraftArgument::Role::size) fixed.set(possible_name(one.name), Value::parse(one.value));
  fixed.set("warp_size", 32);

  std::vector<std::size_t> digits(parameters.size(), 0);
  const auto bind = [&] {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      fixed.set(possible_name(parameters[i].name), Value::parse(parameters[i].values[digits[i]]));
  };
  const auto threads_of = [&]() -> std::int64_t {
    try {
      const std::int64_t count = size_of_block->evaluate_integer(fixed);
      const bool holds =
          std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.evaluate_boolean(fixed); });
      return holds && count >= 1 && count <= 1024 ? count : 0;
    } catch (const Error&) {
      return 0;
    }
  };
  const auto values = [&] {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < parameters.size(); ++i) chosen.push_back(parameters[i].values[digits[i]]);
    return chosen;
  };

  std::size_t presets = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& list = parameters[i].values;
    // With only one value, the original does not use the default.
    if (list.size() == 1 || !parameters[i].preset) continue;
    const auto at = std::find(list.begin(), list.end(), *parameters[i].preset);
    if (at == list.end()) {
      leave(fmt::format("the default {} of parameter {} is not among its values", printable(*parameters[i].preset),
                        parameters[i].name));
      continue;
    }
    ++presets;
    digits[i] = static_cast<std::size_t>(at - list.begin());
  }
  const std::vector<std::size_t> own = digits;
  std::size_t steps = 0;
  const auto holds = [&] {
    bind();
    return ++steps < kMostDefaults && threads_of() > 0;
  };
  // Changes as few parameters as possible, the last ones first.
  std::vector<std::size_t> open;  // parameters with several values
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].values.size() > 1) open.push_back(i);
  const std::function<bool(std::size_t, std::size_t)> change = [&](std::size_t end, std::size_t count) {
    if (count == 0) return holds();
    for (std::size_t at = end; at-- > count - 1 && steps < kMostDefaults;) {
      const std::size_t i = open[at];
      for (std::size_t digit = 0; digit < parameters[i].values.size(); ++digit) {
        if (digit == own[i]) continue;
        digits[i] = digit;
        if (change(at, count - 1)) return true;
      }
      digits[i] = own[i];
    }
    return false;
  };
  const auto nearest = [&]() -> std::optional<std::vector<std::string>> {
    steps = 0;
    for (std::size_t count = 0; count <= open.size() && steps < kMostDefaults; ++count) {
      digits = own;
      if (!change(open.size(), count)) continue;
      if (count > 0 && presets > 0) leave("the original's default violates a condition: another default is used here");
      return values();
    }
    return std::nullopt;
  };
  if (presets > 0) return nearest();

  std::optional<std::vector<std::string>> best;
  double best_distance = 1e9;
  for (std::fill(digits.begin(), digits.end(), std::size_t{0}); steps < kMostDefaults; ++steps) {
    bind();
    if (const std::int64_t count = threads_of(); count > 0) {
      const double distance = std::fabs(std::log2(static_cast<double>(count)) - 8);
      if (distance < best_distance) {
        best = values();
        best_distance = distance;
      }
      if (distance == 0) break;
    }
    std::size_t place = parameters.size();
    while (place > 0 && ++digits[place - 1] == parameters[place - 1].values.size()) digits[--place] = 0;
    if (place == 0) break;
  }
  return best ? best : nearest();
}

namespace {

bool is_output(const DraftArgument& one) {
  return one.role == DraftArgument::Role::out || one.role == DraftArgument::Role::inout;
}

}  // namespace

/// Whether no input is random. Otherwise a known answer would belong to other numbers.
bool KernelDraft::knows_inputs() const {
  using enum DraftArgument::Role;
  return std::none_of(arguments.begin(), arguments.end(), [](const DraftArgument& one) {
    const bool is_input = one.role != size && one.role != scalar && one.role != out;
    return is_input && one.file.empty() && (one.fill.empty() || one.fill.starts_with("uniform"));
  });
}

/// The answer file of each output; empty if one is missing or belongs to other inputs.
std::vector<std::pair<std::string, fs::path>> KernelDraft::answers() const {
  std::vector<std::pair<std::string, fs::path>> all;
  const auto is_known = [](const DraftArgument& one) { return !one.answer.empty(); };
  if (std::none_of(arguments.begin(), arguments.end(), is_known) || !knows_inputs()) return {};
  for (const DraftArgument& one : arguments) {
    if (!is_output(one)) continue;
    const fs::path& file = one.answer.empty() ? one.file : one.answer;  // the kernel does not change it
    if (file.empty()) return {};
    all.emplace_back(safe_name(one), file);
  }
  return all;
}

/// The outputs, if a formula is known for each.
std::vector<DraftArgument> KernelDraft::computed_answers() const {
  std::vector<DraftArgument> all;
  for (const DraftArgument& one : arguments)
    if (is_output(one)) all.push_back(one);
  const auto is_known = [](const DraftArgument& one) { return !one.answer_formula.empty(); };
  return knows_inputs() && std::all_of(all.begin(), all.end(), is_known) ? all : std::vector<DraftArgument>();
}

Conversion KernelDraft::finished(const fs::path& output_folder) {
  std::string text;
  const auto seen_from_output = [&](const fs::path& path) {
    const fs::path from = output_folder.is_absolute() ? fs::current_path() / path : path;
    return from.lexically_normal().lexically_proximate(output_folder.lexically_normal()).generic_string();
  };
  text += fmt::format("#pragma tuner kernel      {}\n", kernel);
  for (const std::string& include : include_paths)
    text += fmt::format("#pragma tuner include_path \"{}\"\n",
                        fs::path(include).is_absolute() ? include : seen_from_output(folder / include));
  for (const auto& [name, values] : types) text += fmt::format("#pragma tuner type        {} = {}\n", name, values);
  if (!sizes.empty() ||
      std::any_of(arguments.begin(), arguments.end(), [](auto& one) { return one.role == DraftArgument::Role::size; }))
    text += '\n';
  std::vector<std::pair<std::string, std::string>> sized;  // type and value, and the sizes that have them
  const auto add_size = [&](const std::string& name, const std::string& type, const std::string& value) {
    const std::string end = (type == "int" ? "" : " : " + type) + " = " + value;
    if (sized.empty() || sized.back().first != end)
      sized.emplace_back(end, possible_name(name));
    else
      sized.back().second += ' ' + possible_name(name);
  };
  std::set<std::string> said;
  for (const auto& [name, value] : sizes) {
    std::string type = "int";
    for (const DraftArgument& one : arguments)
      if (one.role == DraftArgument::Role::size && one.name == name) type = one.type;
    add_size(name, type, value);
    said.insert(name);
  }
  for (const DraftArgument& one : arguments)
    if (one.role == DraftArgument::Role::size && said.insert(one.name).second) add_size(one.name, one.type, one.value);
  std::string all_sized;
  for (const auto& [end, all] : sized) all_sized += (all_sized.empty() ? "" : ", ") + all + end;
  if (!sized.empty()) text += "#pragma tuner size        " + all_sized + '\n';
  text += '\n';
  std::string names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const DraftParameter& one = parameters[i];
    const bool begins = i == 0 || parameters[i - 1].values != one.values;
    const bool ends = i + 1 == parameters.size() || parameters[i + 1].values != one.values;
    text += (begins ? "#pragma tuner parameter   " : " ") + possible_name(one.name);
    if (ends) text += fmt::format(" = {}\n", values_text(one.values));
    if (!parameters_are_macros || !one.is_macro) continue;
    const auto& limits = device_limit_names();
    if (possible_name(one.name) == one.name)
      names += ' ' + one.name;
    else if (std::find(limits.begin(), limits.end(), one.name) == limits.end())
      macros.emplace_back(one.name, possible_name(one.name));
    else
      leave(fmt::format(
          "the macro {0} is not defined, because kernel files use the name for a limit of the device: call it {0}_ in "
          "the kernel, and add that to `define`",
          one.name));
  }
  for (std::size_t i = 0; i < constraints.size(); ++i)
    text += fmt::format("#pragma tuner constraint  c{}: {}\n", i + 1, constraints[i]);
  if (!names.empty()) text += "#pragma tuner define     " + names + '\n';
  for (const auto& [name, value] : macros) text += fmt::format("#pragma tuner define      {} = {}\n", name, value);
  for (const std::string& option : options) text += "#pragma tuner compile     " + option + '\n';

  text += '\n';
  std::string order, buffers;
  std::vector<std::pair<std::string, std::string>> fills;  // a fill, and the buffers that have it
  const auto add_fill = [&](const std::string& name, const std::string& fill) {
    const auto at = std::find_if(fills.begin(), fills.end(), [&](const auto& one) { return one.first == fill; });
    if (at == fills.end())
      fills.emplace_back(fill, name);
    else
      at->second += ", " + name;
  };
  for (const DraftArgument& one : arguments) {
    const std::string name = safe_name(one);
    if (one.role != DraftArgument::Role::constant) order += (order.empty() ? "" : ", ") + name;
    const char* role = one.role == DraftArgument::Role::in         ? "in      "
                       : one.role == DraftArgument::Role::out      ? "out     "
                       : one.role == DraftArgument::Role::inout    ? "inout   "
                       : one.role == DraftArgument::Role::constant ? "constant"
                                                                   : nullptr;
    if (role) {
      // Successive buffers of one kind share a line.
      const std::string begin = fmt::format("#pragma tuner {}    ", role);
      const std::string buffer = fmt::format("{}[{}] : {}", name, one.count, one.type);
      if (buffers.starts_with(begin) && buffers.size() + buffer.size() < kLongestLine) {
        text.pop_back();
        buffers += ", " + buffer;
        text += ", " + buffer + '\n';
      } else {
        buffers = begin + buffer;
        text += buffers + '\n';
      }
    }
    if (one.role == DraftArgument::Role::scalar) buffers.clear();
    if (one.role == DraftArgument::Role::scalar)
      text += fmt::format("#pragma tuner scalar      {} : {} = {}\n", name, one.type, one.value);
    if (one.role == DraftArgument::Role::out) continue;
    if (!one.file.empty())
      add_fill(name, fmt::format("file \"{}\"", seen_from_output(one.file)));
    else if (!one.fill.empty())
      add_fill(name, one.fill);
  }
  for (const auto& [fill, filled] : fills) text += fmt::format("#pragma tuner fill        {} = {}\n", filled, fill);
  if (!tolerance.empty()) text += "#pragma tuner tolerance   " + tolerance + '\n';
  text += fmt::format("\n#pragma tuner instantiate {}\n#pragma tuner block       {}\n#pragma tuner grid        {}\n",
                      qualified_name(), joined(block), joined(grid));
  if (!shared.empty()) text += "#pragma tuner shared      " + shared + '\n';
  if (order.empty())
    leave("the kernel's arguments are not known: add `in`, `out`, `scalar` and `arguments` lines");
  else
    text += "#pragma tuner arguments   " + order + '\n';
  const auto preset = find_default();
  if (preset) {
    text += "#pragma tuner default    ";
    for (std::size_t i = 0; i < parameters.size(); ++i)
      text += fmt::format(" {}={}", possible_name(parameters[i].name), (*preset)[i]);
    text += '\n';
  } else {
    leave("no configuration that satisfies all conditions was found: add a `default`");
  }
  const auto files = answers();
  const auto computed = files.empty() ? computed_answers() : std::vector<DraftArgument>();
  for (const auto& [name, file] : files)
    text += fmt::format("#pragma tuner reference   file {} = \"{}\"\n", name, seen_from_output(file));
  for (const DraftArgument& one : computed)
    text += fmt::format(
        "#pragma tuner reference   {0}_answer\n#pragma tuner block       256\n#pragma tuner grid        ceil_div({1}, "
        "256)\n#pragma tuner arguments   {0}, {1} : int64\n",
        safe_name(one), one.count);
  const bool has_answer = !files.empty() || !computed.empty();
  for (const DraftArgument& one : arguments)
    if (!has_answer && !one.answer_formula.empty())
      leave(fmt::format("{} should become {}: write a `reference` for it", one.name, in_quotes(one.answer_formula)));
  if (!has_answer && preset) text += "#pragma tuner reference   default\n";
  if (!has_answer)
    leave(
        "results are compared with those of the kernel's default configuration: write a `reference` that "
        "is right, or make sure that this one is");
  if (is_inline) {
    text += '\n' + source_text + (source_text.ends_with('\n') ? "" : "\n");
  } else {
    text += fmt::format("\n#pragma tuner source      \"{}\"\n", seen_from_output(source));
    if (source_text.empty()) leave(fmt::format("the kernel's source {} could not be read", printable(source.string())));
  }
  const bool may_be_elsewhere = source_text.empty() || source_text.find("#include \"") != std::string::npos;
  if (!may_be_elsewhere && !occurs_in_code(source_text, kernel))
    leave(fmt::format("the source has no kernel {}: check the spelling", printable(kernel)));
  for (const DraftArgument& one : computed)
    text += fmt::format(
        "\n__global__ void {0}_answer({1}* {0}, long long n) {{\n  const long long i = blockIdx.x * 256LL + "
        "threadIdx.x;\n  if (i < n) {0}[i] = {2};\n}}\n",
        safe_name(one), cpp_type(one.type), one.answer_formula);

  const std::string line = is_inline ? "" : fmt::format("#pragma tuner source      \"{}\"\n", seen_from_output(source));
  const auto read = [&](std::string whole) {
    if (const std::size_t at = line.empty() ? std::string::npos : whole.find(line); at != std::string::npos)
      whole.replace(at, line.size(), source_text);
    return parse_kernel_file(whole, "the kernel file");
  };
  if (!order.empty() && !source_text.empty()) try {
      text = without_what_its_kernel_says(text, read);
    } catch (const Error& error) {
      leave(fmt::format("tune does not accept this file: {}", first_line(error.what())));
    }

  std::string head = comment_lines(fmt::format("Made from the {} by `tune convert`.", origin));
  if (!left.empty()) head += "//\n// Left to finish by hand:\n";
  for (const std::string& sentence : left) head += comment_lines("- " + sentence);
  return {head + text, left, is_inline ? fs::path() : source};
}

void add_kernel_tuner_macros(KernelDraft& draft) {
  if (occurs_in_code(draft.source_text, "kernel_tuner")) draft.macros.emplace_back("kernel_tuner", "1");
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string axis(1, "xyz"[i]), block = "block_size_" + axis, grid = "grid_size_" + axis;
    if (!draft.meaning().name(block) && occurs_in_code(draft.source_text, block))
      draft.macros.emplace_back(block, draft.block[i]);
    if (!draft.meaning().name(grid) && occurs_in_code(draft.source_text, grid))
      draft.macros.emplace_back(grid, draft.grid[i]);
  }
}

bool is_plain(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < ' ' || c == '"' || c == '\\' || c == 127; });
}

void require_plain(const std::string& text, const fs::path& file) {
  if (!is_plain(text))
    throw Error(fmt::format("{}: {} is not possible in a kernel file", file.string(), in_quotes(text)));
}

std::optional<DraftType> element_type(const std::string& name) {
  static constexpr std::pair<const char*, std::string_view> kTypes[] = {
      {"int8", ",int8,int8_t,char,signed char,"},
      {"uint8", ",uint8,uint8_t,unsigned char,bool,"},
      {"int16", ",int16,int16_t,short,"},
      {"uint16", ",uint16,uint16_t,unsigned short,"},
      {"int", ",int,int32,int32_t,signed int,"},
      {"unsigned", ",unsigned,uint32,uint32_t,unsigned int,"},
      {"int64", ",int64,int64_t,long,long long,"},
      {"uint64", ",uint64,uint64_t,unsigned long,unsigned long long,size_t,"},
      {"half", ",half,__half,float16,"},
      {"float", ",float,float32,single,"},
      {"double", ",double,float64,"}};
  for (const auto& [type, names] : kTypes)
    if (names.find(',' + name + ',') != std::string_view::npos) return DraftType{type};
  for (const char* base : {"half", "float", "double", "int"})
    for (const int count : {2, 3, 4, 8, 16})
      if (name == base + std::to_string(count)) return DraftType{base, count};
  return std::nullopt;
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return std::to_string(static_cast<long long>(value));
  return fmt::format("{}", value);
}

}  // namespace tuner::convert
