#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <tuner/convert/json_text.hpp>
#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;
using LauncherJson = nlohmann::json;

constexpr int kMostCaptureLevels = 200;
constexpr int kMostResultLevels = 8;
constexpr const char* kProblemNames[] = {"problem_x", "problem_y", "problem_z"};

/// Required members of a capture.
class Members {
 public:
  explicit Members(fs::path file) : file_(std::move(file)) {}

  /// \p what: names the owner of the member in messages.
  const LauncherJson& of(const LauncherJson& object, const char* key, const std::string& what) const {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end())
      throw Error(fmt::format("{}: {} has no \"{}\": is this a complete launch that Kernel Launcher captured?",
                              file_.string(), what, key));
    return *found;
  }
  const LauncherJson& list(const LauncherJson& object, const char* key, const std::string& what) const {
    const LauncherJson& value = of(object, key, what);
    if (!value.is_array()) throw Error(fmt::format("{}: \"{}\" of {} is no list", file_.string(), key, what));
    return value;
  }
  std::string text(const LauncherJson& object, const char* key, const std::string& what) const {
    const LauncherJson& value = of(object, key, what);
    if (!value.is_string()) throw Error(fmt::format("{}: \"{}\" of {} is no text", file_.string(), key, what));
    return value.get<std::string>();
  }

 private:
  fs::path file_;
};

/// A value in Python's spelling.
std::string python_value(const LauncherJson& value, const fs::path& file) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number()) return text_of(value);
  if (!value.is_string()) throw python::NotUnderstood("it is not a value of a kernel: " + beginning_of(value));
  require_plain(value.get<std::string>(), file);
  return '"' + value.get<std::string>() + '"';
}

/// Translates a captured launch's expressions, trees of {"operator", "operands"}, to Python. Their division is `//`.
class CapturedExpressions {
 public:
  CapturedExpressions(const LauncherJson& problem, fs::path file) : problem_(problem), file_(std::move(file)) {}

  /// Throws python::NotUnderstood.
  std::string text(const LauncherJson& tree) const {
    if (!tree.is_object()) return python_value(tree, file_);
    if (!is_operation(tree)) throw python::NotUnderstood("it is not an expression: " + beginning_of(tree));
    const std::string what = tree["operator"].get<std::string>();
    const LauncherJson& of = tree["operands"];
    if (what == "parameter" && of.size() == 1 && of[0].is_string() && is_identifier(of[0].get<std::string>()))
      return of[0].get<std::string>();
    if (what == "problem_size" && of.size() == 1 && of[0].is_number_unsigned()) return size(of[0].get<std::size_t>());
    if (const std::string rounded = rounded_up(what, of); !rounded.empty()) return rounded;
    if (of.size() == 1) {
      if (what == "!") return fmt::format("(not {})", text(of[0]));
      if (what == "-" || what == "+") return fmt::format("({}{})", what, text(of[0]));
      if (what == "ceil" || what == "floor") return fmt::format("{}({})", what, text(of[0]));
    }
    if (of.size() == 2) {
      if (what == "/" || what == "%")
        for (const LauncherJson& one : of)
          if (one.is_number() && (one.is_number_float() || one < 0))
            throw python::NotUnderstood(fmt::format("{} of {} rounds in another way", in_quotes(what), text_of(one)));
      static const std::map<std::string, std::string> operators = {
          {"+", "+"}, {"-", "-"}, {"*", "*"},   {"/", "//"},  {"%", "%"},    {"==", "=="}, {"!=", "!="},
          {"<", "<"}, {">", ">"}, {"<=", "<="}, {">=", ">="}, {"&&", "and"}, {"||", "or"}};
      if (const auto at = operators.find(what); at != operators.end())
        return fmt::format("({} {} {})", text(of[0]), at->second, text(of[1]));
    }
    // The first operand selects one of the others by number: 0 is false, 1 is true.
    if (what == "select" && of.size() == 3)
      return fmt::format("({} if {} else {})", text(of[2]), text(of[0]), text(of[1]));
    throw python::NotUnderstood(fmt::format("{} has no translation", in_quotes(what)));
  }

 private:
  static bool is_operation(const LauncherJson& tree) {
    return tree.is_object() && tree.contains("operator") && tree["operator"].is_string() && tree.contains("operands") &&
           tree["operands"].is_array();
  }

  std::string size(std::size_t axis) const {
    if (axis >= problem_.size()) return "1";
    return problem_[axis] == 1 ? "1" : kProblemNames[axis];
  }

  /// A division that rounds up is written a / b + (a % b != 0). Empty for any other expression.
  std::string rounded_up(const std::string& what, const LauncherJson& of) const {
    const auto is = [](const LauncherJson& tree, const char* operation) {
      return is_operation(tree) && tree["operator"] == operation && tree["operands"].size() == 2;
    };
    if (what != "+" || of.size() != 2 || !is(of[0], "/") || !is(of[1], "!=")) return {};
    const LauncherJson& remainder = of[1]["operands"][0];
    if (!is(remainder, "%") || remainder["operands"] != of[0]["operands"] || of[1]["operands"][1] != 0) return {};
    const std::string a = text(of[0]["operands"][0]), b = text(of[0]["operands"][1]);
    return b == "1" ? a : a == "1" ? "1" : fmt::format("ceil({} / {})", a, b);
  }

  const LauncherJson& problem_;
  fs::path file_;
};

/// The bytes in \p list; empty if it contains anything else.
std::vector<std::uint8_t> bytes_in(const LauncherJson& list) {
  std::vector<std::uint8_t> bytes;
  for (const LauncherJson& one : list) {
    if (!one.is_number_unsigned() || one.get<std::uint64_t>() > 255) return {};
    bytes.push_back(one.get<std::uint8_t>());
  }
  return bytes;
}

template <typename T>
std::string number_in(const std::vector<std::uint8_t>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else
    return std::isfinite(value) ? number_text(static_cast<double>(value)) : "";
}

/// The number of \p type in the little-endian \p bytes; nullopt for other types and lengths.
std::optional<std::string> number_of(const std::string& type, const std::vector<std::uint8_t>& bytes) {
  static_assert(std::endian::native == std::endian::little);
  using Reader = std::string (*)(const std::vector<std::uint8_t>&);
  static const std::map<std::string, std::pair<std::size_t, Reader>> readers = {
      {"int8", {1, number_in<std::int8_t>}},   {"uint8", {1, number_in<std::uint8_t>}},
      {"int16", {2, number_in<std::int16_t>}}, {"uint16", {2, number_in<std::uint16_t>}},
      {"int", {4, number_in<std::int32_t>}},   {"unsigned", {4, number_in<std::uint32_t>}},
      {"int64", {8, number_in<std::int64_t>}}, {"uint64", {8, number_in<std::uint64_t>}},
      {"float", {4, number_in<float>}},        {"double", {8, number_in<double>}}};
  const auto at = readers.find(type);
  if (at == readers.end() || at->second.first != bytes.size()) return std::nullopt;
  std::string number = at->second.second(bytes);
  return number.empty() ? std::nullopt : std::optional(std::move(number));
}

std::size_t bytes_of(const DraftType& type) {
  static const std::map<std::string, std::size_t> sizes = {{"int8", 1},   {"uint8", 1}, {"int16", 2},    {"uint16", 2},
                                                           {"half", 2},   {"int", 4},   {"unsigned", 4}, {"float", 4},
                                                           {"double", 8}, {"int64", 8}, {"uint64", 8}};
  return sizes.at(type.name) * static_cast<std::size_t>(type.count);
}

class CaptureReader {
 public:
  CaptureReader(const LauncherJson& root, fs::path file)
      : root_(root),
        file_(std::move(file)),
        members_(file_),
        kernel_(members_.of(root, "kernel", "it")),
        expressions_(members_.list(root, "problem_size", "it"), file_) {
    if (!kernel_.is_object()) throw Error(fmt::format("{}: its \"kernel\" is no object", file_.string()));
  }

  KernelDraft read() {
    draft_.folder = file_.parent_path();
    draft_.parameters_are_macros = false;
    draft_.origin = fmt::format("launch {} that Kernel Launcher captured", file_.filename().string());
    read_source_text();
    read_space();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      draft_.block[axis] = shape("block_size", axis, "the block's ");
      draft_.grid[axis] = shape("grid_size", axis, "the grid's ");
    }
    if (const auto shared = kernel_.find("shared_memory");
        shared != kernel_.end() && !shared->is_null() && *shared != 0)
      draft_.shared = expression(*shared, "the dynamic shared memory", "0");
    read_template_arguments();
    read_arguments();
    if (const auto macros = kernel_.find("defines"); macros != kernel_.end())
      for (const auto& [name, value] : macros->items()) read_macro(name, value);
    for (const LauncherJson& option : kernel_.value("compile_flags", LauncherJson::array()))
      if (option.is_string())
        draft_.add_option(option.get<std::string>());
      else
        draft_.leave("a compiler option is an expression: " + beginning_of(option));
    for (const LauncherJson& header : kernel_.value("headers", LauncherJson::array()))
      draft_.leave(fmt::format("the program gave the header {}: write it to a folder of `include_path`",
                               header.is_object() ? printable(header.value("file", "")) : ""));
    return std::move(draft_);
  }

 private:
  void read_source_text() {
    draft_.set_kernel(members_.text(kernel_, "name", "its kernel"));
    require_plain(draft_.instantiate, file_);
    if (const auto own = kernel_.find("source"); own != kernel_.end() && own->is_string()) {
      draft_.source_text = kernel_["source"].get<std::string>();
      draft_.is_inline = true;
    } else {
      // The capture was made where the program was built: tries that file, then one with its name beside the capture.
      const std::string given = members_.text(kernel_, "file", "its kernel, which is not in the capture itself,");
      require_plain(given, file_);
      std::error_code error;
      draft_.source = file_.parent_path() / given;
      if (!fs::is_regular_file(draft_.source, error)) draft_.source = file_.parent_path() / fs::path(given).filename();
      read_source(draft_);
    }
  }

  void read_space() {
    const LauncherJson& problem = root_["problem_size"];
    for (std::size_t axis = 0; axis < std::min<std::size_t>(problem.size(), 3); ++axis)
      if (!problem[axis].is_number_unsigned() || problem[axis].get<std::uint64_t>() > INT64_MAX)
        throw Error(fmt::format("{}: its problem size {} is not a size", file_.string(), beginning_of(problem)));
      else if (problem[axis] != 1)
        draft_.sizes.emplace_back(kProblemNames[axis], std::to_string(problem[axis].get<std::uint64_t>()));
    const LauncherJson& space = members_.of(root_, "config_space", "it");
    for (const LauncherJson& one : members_.list(space, "parameters", "its \"config_space\"")) {
      std::string values;
      const std::string name = members_.text(one, "name", "a parameter");
      for (const LauncherJson& value : members_.list(one, "values", "parameter " + printable(name)))
        values += (values.empty() ? "[" : ", ") + python_value(value, file_);
      const std::size_t before = draft_.parameters.size();
      draft_.add_parameter(name, python::evaluate(*python::parse(values.empty() ? "[]" : values + ']')));
      if (const auto preset = one.find("default"); draft_.parameters.size() > before && preset != one.end())
        draft_.parameters.back().preset = text_of(*preset);
    }
    for (const LauncherJson& one : members_.list(space, "restrictions", "its \"config_space\"")) try {
        const std::string text = expressions_.text(one);
        draft_.add_constraint(*python::parse(text), text);
      } catch (const python::NotUnderstood& error) {
        draft_.leave(fmt::format("a restriction is not translated: {}", first_line(error.what())));
      }
  }

  std::string expression(const LauncherJson& tree, const std::string& what, const std::string& otherwise) {
    try {
      return draft_.expression(expressions_.text(tree), what, otherwise);
    } catch (const python::NotUnderstood& error) {
      draft_.leave(fmt::format("{} is {} here: {}", what, otherwise, first_line(error.what())));
      return otherwise;
    }
  }

  std::string shape(const char* key, std::size_t axis, const std::string& what) {
    const LauncherJson& given = members_.list(kernel_, key, "its kernel");
    return axis < given.size() ? expression(given[axis], what + "XYZ"[axis], "1") : "1";
  }

  void read_template_arguments() {
    std::string list;
    for (const LauncherJson& one : kernel_.value("template_args", LauncherJson::array())) {
      list += list.empty() ? "" : ", ";
      if (one.is_string()) {
        require_plain(one.get<std::string>(), file_);
        list += one.get<std::string>();
      } else {
        const std::string text = expression(one, "an argument of the template", "1");
        list += is_identifier(text) || !one.is_object() ? text : '{' + text + '}';
      }
    }
    if (!list.empty()) draft_.instantiate += '<' + list + '>';
  }

  void read_macro(const std::string& name, const LauncherJson& value) {
    if (!is_identifier(name))
      draft_.leave(fmt::format("{} cannot be the name of a macro", in_quotes(name)));
    else if (value.is_string())
      draft_.leave(fmt::format("the macro {} is the text {}: define it in a header or in the kernel", name,
                               in_quotes(value.get<std::string>())));
    else
      draft_.macros.emplace_back(name, expression(value, "the macro " + name, "0"));
  }

  void read_arguments() {
    const LauncherJson& all = members_.list(root_, "arguments", "it");
    const auto signature = find_signature(code_of(draft_.source_text), draft_.kernel);
    const bool named = signature && signature->arguments.size() == all.size();
    std::set<std::string> names{draft_.kernel};
    for (const DraftParameter& one : draft_.parameters) names.insert(one.name);
    for (const auto& [name, value] : draft_.sizes) names.insert(name);
    for (std::size_t i = 0; i < all.size(); ++i) {
      DraftArgument argument;
      argument.name = named ? signature->arguments[i].name : "";
      if (!is_identifier(argument.name)) argument.name = fmt::format("argument{}", i + 1);
      while (!names.insert(argument.name).second) argument.name += "_";
      if (members_.text(all[i], "kind", "argument " + argument.name) == "scalar")
        read_scalar(all[i], std::move(argument));
      else
        read_buffer(all[i], std::move(argument));
    }
  }

  void read_scalar(const LauncherJson& given, DraftArgument argument) {
    const std::string where = "argument " + argument.name;
    const std::string type = plain_type(members_.text(given, "type", where));
    const auto known = element_type(type);
    const LauncherJson& data = members_.list(given, "data", where);
    const auto value = known && known->count == 1 ? number_of(known->name, bytes_in(data)) : std::nullopt;
    if (!value)
      draft_.leave(fmt::format("argument {} has no known value of type {}: give both", argument.name, in_quotes(type)));
    argument.type = known && known->count == 1 ? known->name : "int";
    argument.value = value.value_or("0");
    const bool can_be_size =
        argument.type == "int" || argument.type == "unsigned" || argument.type == "int64" || argument.type == "uint64";
    argument.role = value && can_be_size && value->find('-') == std::string::npos ? DraftArgument::Role::size
                                                                                  : DraftArgument::Role::scalar;
    draft_.arguments.push_back(std::move(argument));
  }

  void read_buffer(const LauncherJson& given, DraftArgument argument) {
    const std::string type = members_.text(given, "type", "buffer " + argument.name);
    const auto known = element_type(plain_type(type));
    argument.type = known ? known->name : "uint8";
    if (known && known->count > 1) argument.type += std::to_string(known->count);
    if (!known)
      draft_.leave(
          fmt::format("buffer {} has elements of type {}: they are bytes here", argument.name, in_quotes(type)));
    argument.role = type.find("const") != std::string::npos ? DraftArgument::Role::in : DraftArgument::Role::inout;
    argument.file = data_file(given, "file", argument.name);
    if (given.contains("reference_file")) argument.answer = data_file(given, "reference_file", argument.name);
    std::error_code error;
    const auto bytes = argument.file.empty() ? 0 : fs::file_size(argument.file, error);
    const std::size_t element = known ? bytes_of(*known) : 1;
    argument.count = std::to_string(error || bytes < element ? 1 : bytes / element);
    if (error || bytes < element) {
      if (!argument.file.empty())
        draft_.leave(fmt::format("buffer {} was in {}, which cannot be read: its size is 1 here", argument.name,
                                 in_quotes(argument.file.string())));
      argument.file.clear();
    }
    draft_.arguments.push_back(std::move(argument));
  }

  /// The file with the numbers of buffer \p name. If it is compressed, empty with a sentence.
  fs::path data_file(const LauncherJson& given, const char* key, const std::string& name) {
    const std::string file = members_.text(given, key, "buffer " + name);
    require_plain(file, file_);
    if (!file.ends_with(".gz")) return file_.parent_path() / file;
    draft_.leave(
        fmt::format("buffer {} is in {}, which is compressed: gunzip it, name the file without .gz in the "
                    "capture, and convert again",
                    name, in_quotes(file)));
    return {};
  }

  const LauncherJson& root_;
  fs::path file_;
  Members members_;
  const LauncherJson& kernel_;
  CapturedExpressions expressions_;
  KernelDraft draft_;
};

/// The results for one device and problem size in a wisdom file.
struct WisdomGroup {
  std::string device;
  std::vector<std::uint64_t> problem;
  std::size_t results = 0;
  double best = 0;
  LauncherJson configuration;
};

}  // namespace

KernelDraft read_launcher_capture(const std::string& text, const fs::path& file) {
  try {
    return CaptureReader(parse_json(text, kMostCaptureLevels, file), file).read();
  } catch (const LauncherJson::exception& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

KernelDraft read_launcher_wisdom(const std::string& text, const fs::path& file) try {
  KernelDraft draft;
  draft.folder = file.parent_path();
  draft.origin = fmt::format("wisdom file {} of Kernel Launcher", file.filename().string());
  std::vector<std::string> names;
  std::vector<WisdomGroup> groups;
  std::vector<std::vector<LauncherJson>> values;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const LauncherJson one = parse_json(line, kMostResultLevels, file);
    if (one.contains("tunable_parameters")) {
      if (!names.empty())
        throw Error(fmt::format("{}:{}: a second line with \"tunable_parameters\"", file.string(), number));
      names = one["tunable_parameters"].get<std::vector<std::string>>();
      values.resize(names.size());
      draft.kernel = one.value("key", "");
      continue;
    }
    const auto require_list = [&](const char* key) {
      if (!one.contains(key) || !one[key].is_array())
        throw Error(fmt::format("{}:{}: the result has no list \"{}\"", file.string(), number, key));
    };
    require_list("config");
    const LauncherJson& configuration = one["config"];
    for (const LauncherJson& value : configuration)
      if (!value.is_string() && !value.is_number() && !value.is_boolean())
        throw Error(
            fmt::format("{}:{}: {} cannot be the value of a parameter", file.string(), number, beginning_of(value)));
    const LauncherJson time = one.value("time", LauncherJson());
    if (configuration.size() != names.size())
      throw Error(fmt::format("{}:{}: it has {} values for {} parameters", file.string(), number, configuration.size(),
                              names.size()));
    for (std::size_t i = 0; i < names.size(); ++i)
      if (std::find(values[i].begin(), values[i].end(), configuration[i]) == values[i].end())
        values[i].push_back(configuration[i]);
    if (!time.is_number()) continue;
    const std::string device = one.value("environment", LauncherJson::object()).value("device_name", "");
    require_list("problem_size");
    const auto problem = one["problem_size"].get<std::vector<std::uint64_t>>();
    auto at = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& group) { return group.device == device && group.problem == problem; });
    if (at == groups.end()) at = groups.insert(groups.end(), {device, problem, 0, 0, {}});
    if (at->results++ == 0 || time < at->best) {
      at->best = time.get<double>();
      at->configuration = configuration;
    }
  }
  if (names.empty()) throw Error(fmt::format("{}: no line has \"tunable_parameters\"", file.string()));
  if (!is_identifier(draft.kernel)) draft.kernel = "kernel";
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::sort(values[i].begin(), values[i].end());
    std::string list;
    for (const LauncherJson& value : values[i]) list += (list.empty() ? "[" : ", ") + python_value(value, file);
    draft.add_parameter(names[i], python::evaluate(*python::parse(list.empty() ? "[]" : list + ']')));
  }
  draft.leave("a wisdom file has measured values but no kernel: add its `source`, `block`, `grid` and buffers");
  const WisdomGroup* most = nullptr;
  for (const WisdomGroup& group : groups) {
    if (!most || group.results > most->results) most = &group;
    std::string best, problem;
    for (std::size_t i = 0; i < names.size(); ++i)
      best += fmt::format(" {}={}", printable(names[i]), printable(text_of(group.configuration[i])));
    for (const std::uint64_t size : group.problem) problem += (problem.empty() ? "" : "x") + std::to_string(size);
    draft.leave(fmt::format("for comparison: on {}, the best of {} at {} took {} ms:{}", printable(group.device),
                            group.results, problem, group.best, best));
  }
  if (most) {
    for (std::size_t axis = 0; axis < std::min<std::size_t>(most->problem.size(), 3); ++axis)
      draft.sizes.emplace_back(kProblemNames[axis], std::to_string(most->problem[axis]));
    for (DraftParameter& one : draft.parameters) {
      const LauncherJson& value = most->configuration[static_cast<std::size_t>(
          std::find(names.begin(), names.end(), one.name) - names.begin())];
      one.preset = text_of(value);
    }
  }
  draft.is_inline = true;
  return draft;
} catch (const LauncherJson::exception& error) {
  throw Error(fmt::format("{}: a line is not JSON, or lacks a member: {}", file.string(), error.what()));
}

}  // namespace tuner::convert
