#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <tuner/convert/kernel_draft.hpp>
#include <tuner/convert/script.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;
using python::Node;
using python::NotUnderstood;
using python::Tree;

// Limits for the whole script.
constexpr int kMostArrays = 2000;  // arrays that array_of() examines
constexpr int kMostArrayLevels = 100;
constexpr int kMostRestrictions = 20'000;

/// The properties of a NumPy array that a kernel file can express.
struct Array {
  std::string type = "float64";
  std::string count;
  std::string fill = {};
  bool uninitialised = false;
};

class ScriptReader {
 public:
  explicit ScriptReader(fs::path file) : file_(std::move(file)) {}

  KernelDraft read(const std::string& text) {
    script_ = read_script(text);
    if (!script_.call)
      throw Error(fmt::format(
          "{}: no simple call of tune_kernel was found: {}", file_.string(),
          script_.no_call.empty() ? "a line such as 'results, env = tune_kernel(…)', by that name" : script_.no_call));
    if (script_.calls_again) draft_.leave("the script calls tune_kernel more than once: this is the first call");
    draft_.folder = file_.parent_path();
    draft_.origin = fmt::format("Kernel Tuner script {}", file_.filename().string());
    sort_arguments();
    read_kernel();
    read_problem();
    read_parameters();
    read_restrictions();
    read_launch();
    read_arguments();
    read_constants();
    read_options();
    add_kernel_tuner_macros(draft_);
    return std::move(draft_);
  }

 private:
  // ---- the call ----------------------------------------------------------------------------------------------------

  void sort_arguments() {
    static const char* const kPlaces[] = {"kernel_name",  "kernel_source", "problem_size", "arguments",
                                          "tune_params",  "grid_div_x",    "grid_div_y",   "grid_div_z",
                                          "restrictions", "answer",        "atol"};
    std::size_t place = 0;
    for (std::size_t i = 1; i < script_.call->children.size(); ++i) {
      const std::string& keyword = script_.call->keywords[i - 1];
      if (keyword == "**") {
        draft_.leave(fmt::format("the call passes {}, which was not examined",
                                 in_quotes(python::text_of(*script_.call->children[i]))));
      } else if (!keyword.empty()) {
        given_[keyword == "kernel_string" ? "kernel_source" : keyword] = script_.call->children[i];
      } else if (place < std::size(kPlaces)) {
        given_[kPlaces[place++]] = script_.call->children[i];
      }
    }
    if (script_.decides)
      draft_.leave("the script has branches or loops before the call: they were read as if each line ran once");
  }

  /// The argument \p name of the call, with names replaced by their values; null when it is missing or None.
  Tree argument(const std::string& name) {
    const auto at = given_.find(name);
    if (at == given_.end()) return nullptr;
    Tree tree = script_.followed(at->second);
    return tree->kind == Node::Kind::name && tree->text == "None" ? nullptr : tree;
  }

  std::optional<std::string> word(const std::string& name) {
    const Tree tree = argument(name);
    if (!tree) return std::nullopt;
    try {
      const python::Constant value = python::evaluate(*tree, script_.constants);
      if (value.string()) return *value.string();
    } catch (const NotUnderstood&) {
    }
    draft_.leave(fmt::format("{} is {}, which cannot be evaluated", name, in_quotes(python::text_of(*tree))));
    return std::nullopt;
  }

  void read_kernel() {
    draft_.set_kernel(word("kernel_name").value_or(""));
    if (draft_.instantiate.empty())
      throw Error(fmt::format("{}: the kernel's name is not a simple text", file_.string()));
    require_plain(draft_.instantiate, file_);
    const std::string source = kernel_source();
    const bool is_text = source.find('\n') != std::string::npos || source.find('{') != std::string::npos;
    if (is_text) {
      draft_.source_text = source;
      draft_.is_inline = true;
    } else {
      std::error_code error;
      const fs::path folder = file_.parent_path();
      require_plain(source, file_);
      draft_.source = folder / source;
      // If the path is built at run time, only its end is known.
      if (!fs::is_regular_file(draft_.source, error)) draft_.source = folder / fs::path(source).filename();
      if (!fs::is_regular_file(draft_.source, error)) draft_.source = folder / source;
      draft_.source = draft_.source.lexically_normal();
      read_source(draft_);
    }
    const std::string language = word("lang").value_or("CUDA");
    for (const char* plain : {"CUDA", "cuda", "NVCUDA", "nvcuda", "CUPY", "cupy", "Cupy"})
      if (language == plain) return;
    draft_.leave(fmt::format("the kernel's language is {}: translate it to CUDA C++", in_quotes(language)));
  }

  /// The name of the source file, or the source itself.
  std::string kernel_source() {
    const Tree tree = argument("kernel_source");
    if (!tree) return {};
    try {
      const python::Constant value = python::evaluate(*tree, script_.constants);
      if (value.string()) return *value.string();
    } catch (const NotUnderstood&) {
    }
    // open("x.cu").read(), a path built from parts, or a list of files, the first of which has the kernel
    std::vector<std::string> names;
    std::set<std::string> followed_names;
    file_names(*tree, names, followed_names);
    if (!names.empty()) {
      if (names.size() > 1)
        draft_.leave(fmt::format("of the files {}, the first is assumed to have the kernel", python::text_of(*tree)));
      return names.front();
    }
    draft_.leave(fmt::format("kernel_source is {}, which is not worked out", in_quotes(python::text_of(*tree))));
    return {};
  }

  /// Examines each name once, because names may refer to each other.
  void file_names(const Node& tree, std::vector<std::string>& names, std::set<std::string>& followed_names) const {
    if (tree.kind == Node::Kind::string && tree.text.find('.') != std::string::npos && tree.text.size() > 3)
      names.push_back(tree.text);
    if (tree.kind == Node::Kind::name)
      if (const auto at = script_.defined.find(tree.text);
          at != script_.defined.end() && followed_names.size() < 20 && followed_names.insert(tree.text).second)
        file_names(*at->second, names, followed_names);
    for (const Tree& child : tree.children) file_names(*child, names, followed_names);
  }

  void read_problem() {
    const Tree tree = argument("problem_size");
    if (!tree) return;
    const bool is_list = tree->kind == Node::Kind::tuple || tree->kind == Node::Kind::list;
    const auto given = given_.find("problem_size");
    std::vector<Tree> parts = is_list ? tree->children : std::vector<Tree>{given->second};
    for (std::size_t i = 0; i < parts.size() && i < 3; ++i) problem_part(i, parts[i]);
  }

  void problem_part(std::size_t i, const Tree& part) {
    const std::string axis(1, "xyz"[i]);
    try {
      const python::Constant value = python::evaluate(*part, script_.constants);
      if (value.string()) {
        problem_[i] = *value.string();  // an expression with parameters
        return;
      }
      if (!value.is_integer()) throw NotUnderstood("is no integer");
      const std::string name = part->kind == Node::Kind::name ? part->text : "problem_" + axis;
      const auto known =
          std::find_if(draft_.sizes.begin(), draft_.sizes.end(), [&](auto& one) { return one.first == name; });
      if (known == draft_.sizes.end()) draft_.sizes.emplace_back(name, std::to_string(value.integer()));
      problem_[i] = name;
    } catch (const NotUnderstood& error) {
      draft_.leave(fmt::format("the problem size {} cannot be evaluated: {}", in_quotes(python::text_of(*part)),
                               first_line(error.what())));
    }
  }

  void read_parameters() {
    const auto given = given_.find("tune_params");
    if (given == given_.end()) throw Error(fmt::format("{}: the call has no tune_params", file_.string()));
    Script::Entries all = dictionary(*script_.followed(given->second));
    if (given->second->kind == Node::Kind::name)
      if (const auto items = script_.items.find(given->second->text); items != script_.items.end())
        for (const auto& item : items->second) {
          const auto at =
              std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == item.first; });
          if (at == all.end())
            all.push_back(item);
          else
            at->second = item.second;
        }
    for (const auto& [name, values] : all) try {
        draft_.add_parameter(name, python::evaluate(*values, script_.constants));
      } catch (const NotUnderstood& error) {
        draft_.leave(fmt::format("parameter {} has no values: {}", printable(name), first_line(error.what())));
      }
    if (draft_.parameters.empty())
      throw Error(fmt::format("{}: no parameter of tune_params could be read{}{}", file_.string(),
                              draft_.left.empty() ? "" : "; ", fmt::join(draft_.left, "; ")));
    add_constants();
  }

  /// Numbers of the script that are neither parameters nor sizes are constants in expressions.
  void add_constants() {
    const Meaning meaning = draft_.meaning();
    for (const auto& [name, value] : script_.constants)
      if (!meaning.name(name)) draft_.constants[name] = value;
  }

  void read_restrictions() {
    const Tree tree = argument("restrictions");
    if (tree) restriction(*tree, 0);
    if (restrictions_ > kMostRestrictions) draft_.leave("the script has too many restrictions: the first were read");
  }

  /// (lambda nb: nb < 3, ["nb"]): a condition and the names of its parameters.
  bool is_condition_with_names(const Node& tree) const {
    if (tree.kind != Node::Kind::tuple || tree.children.size() != 2) return false;
    const Node &first = *script_.followed(tree.children[0]), &second = *script_.followed(tree.children[1]);
    if ((first.kind == Node::Kind::lambda) == (second.kind == Node::Kind::lambda)) return false;
    const Node& names = first.kind == Node::Kind::lambda ? second : first;
    const Meaning meaning = draft_.meaning();
    const auto is_name = [&](const Node& one) { return one.kind == Node::Kind::string && meaning.name(one.text); };
    const bool is_list = names.kind == Node::Kind::list || names.kind == Node::Kind::tuple;
    return is_list ? std::all_of(names.children.begin(), names.children.end(),
                                 [&](const Tree& one) { return is_name(*one); })
                   : is_name(names);
  }

  /// Whether the condition uses the same names for its arguments.
  bool has_their_names(const Node& pair) const {
    const Node &condition = *script_.followed(pair.children[0]), &names = *script_.followed(pair.children[1]);
    return condition.kind == Node::Kind::lambda &&
           std::equal(condition.keywords.begin(), condition.keywords.end(), names.children.begin(),
                      names.children.end(),
                      [](const std::string& name, const Tree& given) { return given->text == name; });
  }

  void restriction(const Node& tree, int level) {
    if (level > kMostTreeLevels) restrictions_ = kMostRestrictions;  // names that refer to each other
    if (++restrictions_ > kMostRestrictions) return;
    if (is_condition_with_names(tree)) {
      if (has_their_names(tree)) return restriction(*script_.followed(tree.children[0]), level + 1);
      return draft_.leave(fmt::format("the condition {} is not translated: its arguments were not understood",
                                      in_quotes(python::text_of(tree))));
    }
    if (tree.kind == Node::Kind::list || tree.kind == Node::Kind::tuple ||
        (tree.kind == Node::Kind::binary && tree.text == "+")) {
      for (const Tree& one : tree.children) restriction(*script_.followed(one), level + 1);
      return;
    }
    if (tree.kind == Node::Kind::string) {
      try {
        draft_.add_constraint(*python::parse(tree.text), tree.text);
      } catch (const NotUnderstood& error) {
        draft_.leave(
            fmt::format("the condition {} is not translated: {}", in_quotes(tree.text), first_line(error.what())));
      }
    } else {
      draft_.add_constraint(tree, python::text_of(tree));
    }
  }

  // ---- the launch --------------------------------------------------------------------------------------------------

  void read_launch() {
    std::vector<std::string> names{"block_size_x", "block_size_y", "block_size_z"};
    if (const Tree given = argument("block_size_names"))
      for (std::size_t i = 0; i < given->children.size() && i < 3; ++i)
        if (given->children[i]->kind == Node::Kind::string) names[i] = given->children[i]->text;
    const Meaning meaning = draft_.meaning();
    static const char* const kDefaults[] = {"256", "1", "1"};
    for (std::size_t i = 0; i < 3; ++i) draft_.block[i] = meaning.name(names[i]).value_or(kDefaults[i]);
    for (std::size_t i = 0; i < 3; ++i) {
      if (problem_[i].empty()) continue;
      const std::string size = draft_.expression(problem_[i], "the problem size", "1");
      const std::string divisor = divisor_of(i, meaning.name(names[i]));
      draft_.grid[i] = divisor == "1" ? size : fmt::format("ceil_div({}, {})", size, divisor);
    }
    if (const Tree shared = argument("smem_args"))
      for (const auto& [key, value] : dictionary(*shared))
        if (key == "size") {
          const Tree size = script_.followed(value);
          const Node& body = size->kind == Node::Kind::lambda ? *size->children[0] : *size;
          draft_.shared = draft_.expression(body.kind == Node::Kind::string ? body.text : python::text_of(body),
                                            "the dynamic shared memory", "0");
        }
  }

  std::string divisor_of(std::size_t i, const std::optional<std::string>& standard) {
    const Tree given = argument(std::string("grid_div_") + "xyz"[i]);
    if (!given) return standard.value_or("1");
    std::vector<Tree> parts = given->kind == Node::Kind::list || given->kind == Node::Kind::tuple
                                  ? given->children
                                  : std::vector<Tree>{given};
    std::string divisor;
    for (const Tree& one : parts) {
      const Tree part = script_.followed(one);
      const Node& body = part->kind == Node::Kind::lambda ? *part->children[0] : *part;
      // Kernel Tuner rounds a text divisor down.
      const std::string text =
          draft_.expression(body.kind == Node::Kind::string ? "int(" + body.text + ')' : python::text_of(body),
                            "a divisor of the grid", "1");
      const bool is_word = text.find_first_of(" +-?") == std::string::npos;
      divisor += (divisor.empty() ? "" : " * ") + (is_word || parts.size() == 1 ? text : '(' + text + ')');
    }
    return divisor.empty() ? "1" : divisor;
  }

  // ---- arguments ---------------------------------------------------------------------------------------------------

  void read_arguments() {
    const Tree list = argument("arguments");
    if (!list || (list->kind != Node::Kind::list && list->kind != Node::Kind::tuple)) return;
    std::vector<bool> is_output;
    const Tree answer = argument("answer");
    if (answer && (answer->kind == Node::Kind::list || answer->kind == Node::Kind::tuple))
      for (const Tree& one : answer->children) {
        const Tree value = script_.followed(one);
        is_output.push_back(!(value->kind == Node::Kind::name && value->text == "None"));
      }
    if (answer) draft_.leave("the answer is computed in Python: write a `reference` that computes it");
    const std::vector<bool> constant = constant_pointers(list->children.size());
    std::set<std::string> names{draft_.kernel};
    for (const DraftParameter& one : draft_.parameters) names.insert(one.name);
    for (const auto& [name, value] : draft_.sizes) names.insert(name);
    for (std::size_t i = 0; i < list->children.size(); ++i) {
      const Tree& given = list->children[i];
      DraftArgument argument;
      argument.name = given->kind == Node::Kind::name ? given->text : fmt::format("argument{}", i + 1);
      if (!scalar(given, argument, names)) buffer(given, argument, constant[i], is_output, i, names);
      draft_.arguments.push_back(std::move(argument));
    }
  }

  /// cmem_args: values that are copied to variables with these names.
  void read_constants() {
    const Tree given = argument("cmem_args");
    if (!given) return;
    for (const auto& [name, value] : dictionary(*given)) try {
        const Array array = array_of(*script_.followed(value));
        const auto type = element_type(array.type);
        if (!type) throw NotUnderstood(fmt::format("elements of type {} are not known", array.type));
        DraftArgument constant;
        constant.role = DraftArgument::Role::constant;
        constant.name = name;
        constant.type = type->name;
        constant.count = array.count;
        constant.fill = array.fill;
        for (DraftArgument& one : draft_.arguments)
          if (one.name == name) one.name += "_";
        draft_.arguments.push_back(std::move(constant));
        draft_.leave(
            fmt::format("constant memory {} has its own numbers, even if an argument has the same in the "
                        "script: that matters if the kernel reads both",
                        name));
      } catch (const Error& error) {
        draft_.leave(fmt::format("constant memory {} is left out: {}", name, first_line(error.what())));
      }
  }

  /// For each argument of the kernel, whether it is a pointer to const.
  std::vector<bool> constant_pointers(std::size_t count) const {
    std::vector<bool> constant(count, false);
    if (const auto signature = find_signature(code_of(draft_.source_text), draft_.kernel))
      for (std::size_t i = 0; i < std::min(count, signature->arguments.size()); ++i)
        constant[i] = signature->arguments[i].is_to_const();
    return constant;
  }

  /// A NumPy number: a size of the kernel if it is a size in the script, else a scalar.
  bool scalar(const Tree& given, DraftArgument& argument, std::set<std::string>& names) {
    python::Constant value;
    const Tree tree = script_.followed(given);
    try {
      value = python::evaluate(*tree, script_.constants);
    } catch (const NotUnderstood& error) {
      const auto type = tree->kind == Node::Kind::call && tree->children.size() == 2
                            ? element_type(tree->children[0]->text)
                            : std::nullopt;
      if (!type) return false;
      argument.role = DraftArgument::Role::scalar;
      argument.type = type->name;
      argument.value = "1";
      while (!names.insert(argument.name).second) argument.name += "_";
      draft_.leave(fmt::format("argument {} is 1 here: {}", argument.name, first_line(error.what())));
      return true;
    }
    if (!value.is_number()) return false;
    const auto type = element_type(value.type);
    argument.type = type ? type->name : value.is_integer() ? "int" : "float";
    if (!type)
      draft_.leave(
          fmt::format("argument {} is a number of Python: its type is assumed to be {}", argument.name, argument.type));
    const bool whole = value.is_integer() && value.integer() >= 0 &&
                       (argument.type == "int" || argument.type == "unsigned" || argument.type == "int64" ||
                        argument.type == "uint64");
    argument.value = number_text(value.number());
    argument.role = whole ? DraftArgument::Role::size : DraftArgument::Role::scalar;
    // A number of the problem size, and np.int32(size), are the size itself.
    for (const auto& [name, number] : draft_.sizes)
      if (whole && given->kind == Node::Kind::name && given->text == name) return true;
    if (whole && tree->kind == Node::Kind::call && tree->children.size() == 2 &&
        tree->children[1]->kind == Node::Kind::name)
      for (const auto& [name, number] : draft_.sizes)
        if (name == tree->children[1]->text) {
          argument.name = name;
          return true;
        }
    while (!names.insert(argument.name).second) argument.name += "_";
    return true;
  }

  void buffer(const Tree& given, DraftArgument& argument, bool constant, const std::vector<bool>& is_output,
              std::size_t i, std::set<std::string>& names) {
    while (!names.insert(argument.name).second) argument.name += "_";
    const bool known = i < is_output.size();
    argument.role = constant || (known && !is_output[i]) ? DraftArgument::Role::in : DraftArgument::Role::inout;
    try {
      const Array array = array_of(*script_.followed(given));
      if (array.uninitialised && argument.role == DraftArgument::Role::inout) argument.role = DraftArgument::Role::out;
      const auto type = element_type(array.type);
      if (!type) throw NotUnderstood(fmt::format("elements of type {} are not known", array.type));
      argument.type = type->name;
      argument.count = array.count;
      argument.fill = array.fill;
    } catch (const Error& error) {
      argument.count = problem_[0].empty() ? "1" : draft_.sizes.empty() ? "1" : draft_.sizes.front().first;
      draft_.leave(fmt::format("buffer {} is assumed to be {}[{}]: {}", argument.name, argument.type, argument.count,
                               first_line(error.what())));
    }
  }

  std::string shape(const Node& tree) {
    if (tree.kind == Node::Kind::name && tree.text == "problem_size" && !draft_.meaning().problem.empty())
      return translate("prod(problem_size)", draft_.meaning());
    const Tree followed_tree = tree.kind == Node::Kind::name && !draft_.meaning().name(tree.text)
                                   ? script_.followed(std::make_shared<const Node>(tree))
                                   : std::make_shared<const Node>(tree);
    if (followed_tree->kind != Node::Kind::tuple && followed_tree->kind != Node::Kind::list)
      return translate(*followed_tree, draft_.meaning());
    std::string text;
    for (const Tree& one : followed_tree->children) {
      const std::string factor = translate(*one, draft_.meaning());
      const bool is_word = factor.find_first_of(" +-?") == std::string::npos;
      text += (text.empty() ? "" : " * ") + (is_word ? factor : '(' + factor + ')');
    }
    return text;
  }

  static std::string type_name(const Node& tree) {
    if (tree.kind == Node::Kind::string || tree.kind == Node::Kind::name || tree.kind == Node::Kind::attribute)
      return tree.text;
    throw NotUnderstood(in_quotes(python::text_of(tree)) + " is no type");
  }

  Array array_of(const Node& tree) {
    if (array_levels_ == kMostArrayLevels || ++arrays_ > kMostArrays)
      throw NotUnderstood("an array consists of too many others");
    ++array_levels_;
    struct Level {
      ~Level() { --levels; }
      int& levels;
    } const level{array_levels_};
    return looked_into(tree);
  }

  Array looked_into(const Node& tree) {
    if (tree.kind == Node::Kind::name) {
      const Tree other = script_.followed(std::make_shared<const Node>(tree));
      if (other->kind != Node::Kind::name) return array_of(*other);
    }
    if (tree.kind == Node::Kind::binary || tree.kind == Node::Kind::unary) {
      for (const Tree& child : tree.children) try {
          Array array = array_of(*child);
          if (array.type == "int64" && tree.text == "/") array.type = "float64";
          draft_.leave(fmt::format("the values of {} are not translated", in_quotes(python::text_of(tree))));
          array.fill.clear();
          return array;
        } catch (const NotUnderstood&) {
        }
    }
    if (tree.kind != Node::Kind::call) throw NotUnderstood(in_quotes(python::text_of(tree)) + " is not a known array");
    return made_by(tree);
  }

  Array made_by(const Node& tree) {
    const Node& function = *tree.children[0];
    const std::string& what = function.text;
    std::vector<Tree> given;
    Tree type;
    Tree size;
    for (std::size_t i = 1; i < tree.children.size(); ++i) {
      const std::string& keyword = tree.keywords[i - 1];
      if (keyword.empty() || keyword == "*") given.push_back(tree.children[i]);
      if (keyword == "dtype") type = tree.children[i];
      if (keyword == "size" || keyword == "shape") size = tree.children[i];
    }
    const bool is_method = function.kind == Node::Kind::attribute;
    Array array;
    const auto finish = [&] {
      if (type) array.type = type_name(*type);
      return array;
    };
    if (is_method && (what == "astype" || what == "view") && given.size() == 1) {
      array = array_of(*function.children[0]);
      array.type = type_name(*given[0]);
      return array;
    }
    if (is_method && (what == "copy" || what == "flatten" || what == "ravel" || what == "reshape") &&
        function.children[0]->kind != Node::Kind::name) {
      array = array_of(*function.children[0]);
      return finish();
    }
    if (is_method && (what == "copy" || what == "flatten" || what == "ravel" || what == "reshape") &&
        script_.defined.contains(function.children[0]->text))
      return array_of(*function.children[0]);
    if (what == "copy" && given.size() == 1) return array_of(*given[0]);
    const bool like = what.ends_with("_like");
    const std::string base = like ? what.substr(0, what.size() - 5) : what;
    if (base == "zeros" || base == "ones" || base == "empty" || base == "full") {
      if (like && !given.empty()) {
        array = array_of(*given[0]);
      } else {
        const Tree dimensions = size ? size : given.empty() ? nullptr : given[0];
        if (!dimensions) throw NotUnderstood(in_quotes(python::text_of(tree)) + " has no shape");
        array.count = shape(*dimensions);
      }
      const std::size_t type_place = base == "full" ? 2 : 1;
      if (!type && given.size() > type_place) type = given[type_place];
      array.uninitialised = base == "empty";
      array.fill = base == "zeros" ? "constant 0" : base == "ones" ? "constant 1" : "";
      if (base == "full" && given.size() > 1)
        array.fill = "constant " + number_text(python::evaluate(*given[1], script_.constants).number());
      return finish();
    }
    if (base == "arange" && given.size() == 1) {
      array.type = "int64";
      array.count = shape(*given[0]);
      array.fill = "iota";
      return finish();
    }
    if (what == "randn" || what == "rand") {
      std::string text;
      for (const Tree& one : given) text += (text.empty() ? "" : " * ") + shape(*one);
      array.count = text.empty() ? "1" : text;
      array.fill = what == "rand" ? "uniform 0 1" : "uniform -1 1";
      if (what == "randn") draft_.leave("normally distributed numbers are uniform from -1 to 1 here");
      return finish();
    }
    if ((what == "random" || what == "random_sample") && (size || given.size() == 1)) {
      array.count = shape(size ? *size : *given[0]);
      array.fill = "uniform 0 1";
      return finish();
    }
    if (what == "randint" && !given.empty()) {
      array.type = "int64";
      const double first = python::evaluate(*given[0], script_.constants).number();
      const bool two = given.size() > 1;
      const double second = two ? python::evaluate(*given[1], script_.constants).number() : 0;
      if (!size && given.size() > 2) size = given[2];
      if (!size) throw NotUnderstood(in_quotes(python::text_of(tree)) + " has no size");
      array.count = shape(*size);
      array.fill = two ? fmt::format("uniform {} {}", number_text(first), number_text(second))
                       : "uniform 0 " + number_text(first);
      return finish();
    }
    if ((what == "normal" || what == "uniform") && (size || given.size() == 3)) {
      array.count = shape(size ? *size : *given[2]);
      const bool bounds = what == "uniform" && given.size() >= 2;
      array.fill =
          bounds ? fmt::format("uniform {} {}", number_text(python::evaluate(*given[0], script_.constants).number()),
                               number_text(python::evaluate(*given[1], script_.constants).number()))
                 : "uniform 0 1";
      if (what == "normal") draft_.leave("normally distributed numbers are uniform here");
      return finish();
    }
    if ((what == "array" || what == "asarray" || what == "ascontiguousarray") && !given.empty()) {
      if (!type && given.size() > 1) type = given[1];
      try {
        array = array_of(*script_.followed(given[0]));
      } catch (const NotUnderstood&) {
        const python::Constant values = python::evaluate(*given[0], script_.constants);
        if (!values.list()) throw;
        array.count = std::to_string(values.list()->size());
        draft_.leave(
            fmt::format("the values of {} are not translated", in_quotes(python::text_of(tree).substr(0, 80))));
      }
      return finish();
    }
    throw NotUnderstood(in_quotes(python::text_of(tree)) + " is not a known array");
  }

  // ---- the rest ----------------------------------------------------------------------------------------------------

  void read_options() {
    if (const Tree options = argument("compiler_options")) try {
        const python::Constant values = python::evaluate(*options, script_.constants);
        for (const python::Constant& one : values.list() ? *values.list() : std::vector<python::Constant>())
          if (one.string()) draft_.add_option(*one.string());
      } catch (const NotUnderstood& error) {
        draft_.leave(fmt::format("the compiler's options cannot be evaluated: {}", first_line(error.what())));
      }
    if (const Tree tolerance = argument("atol")) try {
        draft_.tolerance = fmt::format("absolute {}", python::evaluate(*tolerance, script_.constants).number());
      } catch (const Error& error) {
        draft_.leave(fmt::format("the tolerance cannot be evaluated: {}", first_line(error.what())));
      }
    static const std::set<std::string> read{"kernel_name", "kernel_source", "problem_size", "arguments", "tune_params",
                                            "grid_div_x", "grid_div_y", "grid_div_z", "restrictions", "answer", "atol",
                                            "lang", "smem_args", "compiler_options", "block_size_names", "cmem_args",
                                            // these concern the search, the output and the device, not the kernel
                                            "device", "platform", "verbose", "quiet", "log", "iterations", "strategy",
                                            "strategy_options", "cache", "simulation_mode", "parallel",
                                            "objective_higher_is_better", "compiler"};
    for (const auto& [name, tree] : given_)
      if (!read.contains(name) && argument(name))
        draft_.leave(fmt::format("{} is not translated: {}", name, in_quotes(python::text_of(*tree).substr(0, 120))));
  }

  fs::path file_;
  KernelDraft draft_;
  Script script_;
  int restrictions_ = 0, arrays_ = 0, array_levels_ = 0;
  std::map<std::string, Tree> given_;
  std::array<std::string, 3> problem_;
};

}  // namespace

KernelDraft read_kernel_tuner_script(const std::string& text, const fs::path& file) {
  return ScriptReader(file).read(text);
}

}  // namespace tuner::convert
