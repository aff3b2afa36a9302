#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <tuner/convert/element_formula.hpp>
#include <tuner/convert/json_text.hpp>
#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;
using T1Json = nlohmann::json;

constexpr int kMostJsonLevels = 60;
constexpr std::uint64_t kMostElementBytes = 1 << 20;

const T1Json& at(const T1Json& object, const char* key) {
  static const T1Json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? nothing : *found;
}

/// A string, or a number or truth value as text; empty for any other value.
std::string text_at(const T1Json& object, const char* key) {
  const T1Json& value = at(object, key);
  return value.is_string() || value.is_number() || value.is_boolean() ? text_of(value) : "";
}

/// The number in \p value, which may be a string; nullopt if it is not a number.
std::optional<python::Constant> number_of(const T1Json& value) {
  if (!value.is_number() && !value.is_string()) return std::nullopt;
  try {
    python::Constant number = python::evaluate(*python::parse(text_of(value)));
    return number.is_number() ? std::optional(std::move(number)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Reports each member that is not in \p known as not translated.
void leave_unknown(KernelDraft& draft, const T1Json& object, const std::string& where,
                   const std::set<std::string>& known) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items())
    if (!known.contains(key) && !value.is_null() && !(value.is_array() && value.empty()))
      draft.leave(fmt::format("{}{} is not translated: {}", where, printable(key), in_quotes(beginning_of(value))));
}

void read_parameters(KernelDraft& draft, const T1Json& space) {
  for (const T1Json& one : at(space, "TuningParameters")) {
    const std::string name = text_at(one, "Name");
    const T1Json& given = at(one, "Values");
    try {
      static const python::Names truths{{"true", {true, {}, {}}}, {"false", {false, {}, {}}}};
      const std::string text = text_of(given);
      const python::Constant values = python::evaluate(*python::parse(text), truths);
      const std::size_t before = draft.parameters.size();
      draft.add_parameter(name, values);
      if (draft.parameters.size() > before && !at(one, "Default").is_null()) {
        const T1Json& preset = at(one, "Default");
        draft.parameters.back().preset = text_of(preset);
      }
    } catch (const Error& error) {
      draft.leave(fmt::format("parameter {} has no values: {}", printable(name), first_line(error.what())));
    }
    leave_unknown(draft, one, "parameter " + name + ": ", {"Name", "Type", "Values", "Default"});
  }
  if (draft.parameters.empty()) throw Error("none of its parameters could be read");
}

void read_conditions(KernelDraft& draft, const T1Json& space) {
  for (const T1Json& one : at(space, "Conditions")) {
    const std::string text = one.is_string() ? one.get<std::string>() : text_at(one, "Expression");
    try {
      draft.add_constraint(*python::parse(text), text);
    } catch (const python::NotUnderstood& error) {
      draft.leave(fmt::format("the condition {} is not translated: {}", in_quotes(text), first_line(error.what())));
    }
  }
}

constexpr const char* kDimensions[] = {"X", "Y", "Z"};

/// `ProblemSize` of the hub: sizes named problem_x, problem_y and problem_z.
void read_problem_size(KernelDraft& draft, const T1Json& kernel) {
  const T1Json& given = at(kernel, "ProblemSize");
  const T1Json list = given.is_number() ? T1Json::array({given}) : given;
  for (std::size_t i = 0; i < list.size() && i < 3; ++i)
    if (list[i].is_number_unsigned() && list[i].get<std::uint64_t>() <= INT64_MAX)
      draft.sizes.emplace_back(std::string("problem_") + "xyz"[i], text_of(list[i]));
    else
      draft.leave(fmt::format("the problem size {} is not a size", in_quotes(beginning_of(list[i]))));
}

/// The hub's grid: the problem divided by the divisors.
void divide_grid(KernelDraft& draft, const T1Json& kernel) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string size = std::string("problem_") + "xyz"[i];
    if (!draft.meaning().name(size)) continue;
    const T1Json& given = at(kernel, (std::string("GridDiv") + kDimensions[i]).c_str());
    std::string divisor;
    for (const T1Json& one : given) {
      const std::string text = draft.expression(text_of(one), "a divisor of the grid", "1");
      const bool is_word = text.find_first_of(" +-?") == std::string::npos;
      divisor += (divisor.empty() ? "" : " * ") + (is_word ? text : '(' + text + ')');
    }
    const std::string standard = std::string("block_size_") + "xyz"[i];
    if (given.is_null() || given.empty()) divisor = draft.meaning().name(standard) ? standard : "1";
    draft.grid[i] = divisor == "1" ? size : fmt::format("ceil_div({}, {})", size, divisor);
  }
}

void read_launch(KernelDraft& draft, const T1Json& kernel) {
  const T1Json& local = at(kernel, "LocalSize");
  const T1Json& global = at(kernel, "GlobalSize");
  for (std::size_t i = 0; i < 3; ++i)
    if (const std::string text = text_at(local, kDimensions[i]); !text.empty())
      draft.block[i] = draft.expression(text, std::string("the block's ") + kDimensions[i], "1");
  if (!draft.sizes.empty()) {
    divide_grid(draft, kernel);
  } else {
    const std::string type = text_at(kernel, "GlobalSizeType");
    const bool in_blocks = type.empty() ? text_at(kernel, "Language") == "CUDA" : type == "CUDA";
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string text = text_at(global, kDimensions[i]);
      if (text.empty()) continue;
      const std::string size = draft.expression(text, std::string("the grid's ") + kDimensions[i], "1");
      draft.grid[i] = in_blocks || draft.block[i] == "1" || size == "1"
                          ? size
                          : fmt::format("ceil_div({}, {})", size, draft.block[i]);
    }
  }
  if (const T1Json& shared = at(kernel, "SharedMemory"); shared.is_number() && shared.get<double>() > 0)
    draft.shared = text_of(shared);
  else if (shared.is_string())
    draft.shared = draft.expression(shared.get<std::string>(), "the dynamic shared memory", "0");
}

std::string count_of(KernelDraft& draft, const T1Json& given, const std::string& name, int factor) {
  const std::string text = given.is_string() || given.is_number() ? text_of(given) : "1";
  if (given.is_null()) draft.leave(fmt::format("buffer {} has no size: it is 1 here", name));
  const std::string count = draft.expression(text, "the size of buffer " + name, "1");
  return factor == 1 ? count : fmt::format("({}) * {}", count, factor);
}

/// The `fill` for a T1 generator of \p type, an expression of the element's number i; nullopt if it has no translation.
std::optional<std::string> generated(const KernelDraft& draft, const std::string& source, const std::string& type) {
  if (source == "i") return "iota";
  Meaning meaning = draft.meaning();
  meaning.sizes.insert("i");
  const auto others = meaning.name;
  meaning.name = [others](const std::string& name) { return name == "i" ? std::optional(name) : others(name); };
  try {
    std::string text = translate(source, meaning);
    (void)Expression::parse(text, {});
    return "expression " + text;
  } catch (const Error&) {  // not an expression of whole numbers
  }
  if (type != "half" && type != "float" && type != "double") return std::nullopt;
  try {
    return "expression " + element_formula(source, meaning);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The same in C++, if only the element's number is used.
std::optional<std::string> generated_in_cpp(const KernelDraft& draft, const std::string& source,
                                            const std::string& type) {
  const auto text = generated(draft, source, type);
  if (!text || *text == "iota") return text ? std::optional<std::string>("i") : std::nullopt;
  std::string formula = text->substr(std::string_view("expression ").size());
  for (const std::string_view word : words_of(formula))
    if (is_identifier(word) && word != "i") return std::nullopt;
  return formula;
}

/// Sets the fill of \p buffer.
void read_fill(KernelDraft& draft, const T1Json& argument, DraftArgument& buffer) {
  const std::string type = text_at(argument, "FillType"), source = text_at(argument, "DataSource");
  const auto value = number_of(at(argument, "FillValue"));
  if (type == "Constant") {
    buffer.fill = "constant " + number_text(value ? value->number() : 0);
  } else if (type == "Random") {
    if (value) buffer.fill = "uniform 0 " + number_text(value->number());
  } else if (std::error_code error;
             type == "BinaryRaw" && is_plain(source) && fs::is_regular_file(draft.folder / source, error)) {
    buffer.file = draft.folder / source;
  } else if (const auto text = type == "Generator" ? generated(draft, source, buffer.type) : std::nullopt) {
    buffer.fill = *text;
  } else if (!type.empty() && buffer.role != DraftArgument::Role::out) {
    draft.leave(fmt::format("buffer {} is filled by {} {}: write a `fill` for it", buffer.name, printable(type),
                            in_quotes(source)));
  }
}

/// Whether \p source has a variable `__constant__ … name`.
bool has_constant(const std::string& source, const std::string& name) {
  const std::string code = code_of(source);
  for (std::size_t at = 0; (at = code.find("__constant__", at)) != std::string::npos; ++at)
    if (occurs_in_code(std::string_view(code).substr(at, code.find(';', at) - at), name)) return true;
  return false;
}

void read_argument(KernelDraft& draft, const T1Json& one, std::set<std::string>& names) {
  DraftArgument argument;
  argument.name = text_at(one, "Name");
  if (!is_identifier(argument.name)) argument.name = fmt::format("argument{}", draft.arguments.size() + 1);
  while (!names.insert(argument.name).second) argument.name += "_";
  const std::string memory = text_at(one, "MemoryType"), given_type = text_at(one, "Type");
  const auto type = element_type(given_type);
  const auto value = number_of(at(one, "FillValue"));
  if (memory == "Scalar") {
    argument.type = type ? type->name : "float";
    const bool whole = argument.type.find("int") != std::string::npos || argument.type == "unsigned";
    const bool is_size = whole && value && value->is_integer() && value->integer() >= 0 && argument.type != "int8" &&
                         argument.type != "uint8" && argument.type != "int16" && argument.type != "uint16";
    argument.role = is_size ? DraftArgument::Role::size : DraftArgument::Role::scalar;
    argument.value = !value                ? "0"
                     : value->is_integer() ? std::to_string(value->integer())
                                           : number_text(value->number());
    if (!type || type->count > 1)
      draft.leave(fmt::format("argument {} has the type {}: give its own", argument.name, in_quotes(given_type)));
    if (!value) draft.leave(fmt::format("argument {} has no value: it is 0 here", argument.name));
  } else if (memory == "Vector") {
    const std::string access = text_at(one, "AccessType");
    argument.role = access == "ReadOnly"    ? DraftArgument::Role::in
                    : access == "WriteOnly" ? DraftArgument::Role::out
                                            : DraftArgument::Role::inout;
    if (type) argument.type = type->name;
    const T1Json& bytes = at(one, "TypeSize");
    if (!type) {
      argument.type = "uint8";
      draft.leave(
          fmt::format("buffer {} has elements of type {}: they are bytes here", argument.name, in_quotes(given_type)));
    }
    const bool has_bytes = bytes.is_number_unsigned() && bytes.get<std::uint64_t>() <= kMostElementBytes;
    const int factor = type ? type->count : has_bytes ? bytes.get<int>() : 1;
    argument.count = count_of(draft, at(one, "Size"), argument.name, factor);
    read_fill(draft, one, argument);
  } else {
    draft.leave(
        fmt::format("argument {} is in memory of the kind {}: it is left out", argument.name, in_quotes(memory)));
    return;
  }
  leave_unknown(draft, one, "argument " + argument.name + ": ",
                {"Name", "Type", "MemoryType", "AccessType", "MemType", "FillType", "FillValue", "Size", "TypeSize",
                 "Output", "DataSource", "RandomSeed"});
  // Kernel Tuner copies it into the variable with that name and also passes it.
  if (memory == "Vector" && text_at(one, "MemType") == "Constant" && has_constant(draft.source_text, argument.name)) {
    DraftArgument constant = argument;
    constant.role = DraftArgument::Role::constant;
    draft.arguments.push_back(std::move(constant));
    while (!names.insert(argument.name).second) argument.name += "_";
    draft.leave(
        fmt::format("the argument {} and its constant memory had the same numbers, and have different ones here: "
                    "that matters if the kernel reads both",
                    argument.name));
  }
  draft.arguments.push_back(std::move(argument));
}

void read_answer(KernelDraft& draft, const T1Json& one) {
  const std::string target = text_at(one, "TargetName"), source = text_at(one, "DataSource"),
                    type = text_at(one, "FillType"), threshold = text_at(one, "ValidationThreshold");
  const auto output = std::find_if(draft.arguments.begin(), draft.arguments.end(),
                                   [&](const DraftArgument& argument) { return argument.name == target; });
  std::error_code error;
  if (type == "BinaryRaw" && is_plain(source) && output != draft.arguments.end() &&
      fs::is_regular_file(draft.folder / source, error))
    output->answer = draft.folder / source;
  else if (const auto formula = type == "Generator" && output != draft.arguments.end()
                                    ? generated_in_cpp(draft, source, output->type)
                                    : std::nullopt)
    output->answer_formula = *formula;
  else
    draft.leave(fmt::format("{} should become {} {}{}: write a `reference` for it", printable(target), printable(type),
                            in_quotes(source.empty() ? text_at(one, "FillValue") : source),
                            threshold.empty() ? "" : fmt::format(" within {}", printable(threshold))));
  if (at(one, "ValidationThreshold").is_number())
    draft.tolerance =
        (text_at(one, "ValidationMethod") == "SideBySideRelativeComparison" ? "relative " : "absolute ") + threshold;
}

void read_arguments(KernelDraft& draft, const T1Json& kernel) {
  std::set<std::string> names{draft.kernel};
  for (const DraftParameter& one : draft.parameters) names.insert(one.name);
  for (const auto& [name, value] : draft.sizes) names.insert(name);
  for (const T1Json& one : at(kernel, "Arguments")) read_argument(draft, one, names);
  for (const T1Json& one : at(kernel, "ReferenceArguments")) read_answer(draft, one);
}

/// Finds KernelFile like KTT and Kernel Tuner: beside the description, or in the folder above. `kernel.cu.hip` is a
/// translation of the `kernel.cu` beside it.
fs::path source_of(const T1Json& kernel, const fs::path& file) {
  const fs::path given = text_at(kernel, "KernelFile");
  std::error_code error;
  for (const fs::path& folder : {file.parent_path(), file.parent_path() / ".."}) {
    const fs::path translated = folder / given, original = fs::path(translated).replace_extension();
    if (given.extension() == ".hip" && fs::is_regular_file(original, error)) return original.lexically_normal();
    if (fs::is_regular_file(translated, error)) return translated.lexically_normal();
  }
  return file.parent_path() / given;
}

KernelDraft read_description(const T1Json& root, const fs::path& file) {
  const T1Json& space = at(root, "ConfigurationSpace");
  const T1Json& kernel = at(root, "KernelSpecification");
  if (!space.is_object() || !kernel.is_object())
    throw Error(fmt::format("{}: no T1 description: it needs \"ConfigurationSpace\" and \"KernelSpecification\"",
                            file.string()));
  KernelDraft draft;
  draft.folder = file.parent_path();
  draft.origin = fmt::format("T1 description {}", file.filename().string());
  draft.set_kernel(text_at(kernel, "KernelName"));
  if (draft.kernel.empty()) throw Error(fmt::format("{}: \"KernelName\" is missing", file.string()));
  require_plain(draft.instantiate, file);
  require_plain(text_at(kernel, "KernelFile"), file);
  draft.source = source_of(kernel, file);
  read_source(draft);
  if (const std::string language = text_at(kernel, "Language"); language != "CUDA")
    draft.leave(fmt::format("the kernel is written in {}: translate it to CUDA C++", in_quotes(language)));
  read_problem_size(draft, kernel);
  read_parameters(draft, space);
  read_conditions(draft, space);
  read_launch(draft, kernel);
  read_arguments(draft, kernel);
  for (const T1Json& one : at(kernel, "CompilerOptions"))
    if (one.is_string()) draft.add_option(one.get<std::string>());
  add_kernel_tuner_macros(draft);
  agree_with_kernel(draft);
  leave_unknown(draft, root, "",
                {"ConfigurationSpace", "KernelSpecification", "General", "Search", "SearchSettings", "Budget",
                 "BenchmarkConfig"});
  leave_unknown(draft, space, "ConfigurationSpace: ", {"TuningParameters", "Conditions"});
  leave_unknown(
      draft, kernel, "KernelSpecification: ",
      {"Language",       "CompilerOptions", "BenchmarkName", "BenchmarkPath", "KernelName",         "KernelFile",
       "GlobalSizeType", "LocalSize",       "GlobalSize",    "GridDivX",      "GridDivY",           "GridDivZ",
       "ProblemSize",    "SharedMemory",    "Stream",        "Arguments",     "ReferenceArguments", "Device",
       "Profiling",      "SimulationInput", "Misc"});
  return draft;
}

}  // namespace

KernelDraft read_t1(const std::string& text, const fs::path& file) {
  try {
    return read_description(parse_json(text, kMostJsonLevels, file), file);
  } catch (const T1Json::exception& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace tuner::convert
