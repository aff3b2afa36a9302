#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;

/// `tune(block = 32, 64)` or a following clause such as `default(64)`.
struct Clause {
  std::string name;
  std::vector<std::string> items;  ///< separated by commas
};

struct Annotation {
  std::size_t at = 0;  ///< offset in the text
  std::string text;    ///< the text after `#pragma kernel`, lines joined
};

std::string trimmed_text(std::string_view text) { return std::string(trimmed(text)); }

/// Those that begin with `#pragma kernel`, or with its old name `#pragma kernel_tuner`.
std::vector<Annotation> annotations_of(const std::string& source) {
  std::vector<Annotation> all;
  for (const DirectiveLine& line : directives_of(code_of(source, Literals::kept))) {
    const std::string_view rest = line.rest(), name = word_at(rest, 0);
    if (line.name() == "pragma" && (name == "kernel" || name == "kernel_tuner"))
      all.push_back({line.begin, std::string(rest.substr(name.size()))});
  }
  return all;
}

/// Throws Error for any text but `name(…) name(…)`.
std::vector<Clause> clauses_of(const std::string& text) {
  std::vector<Clause> clauses;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('(', at);
    const std::string name = trimmed_text(text.substr(at, open == std::string::npos ? open : open - at));
    if (name.empty() && open == std::string::npos) break;
    int depth = 0;
    std::size_t close = open;
    for (; close < text.size(); ++close) {
      if (text[close] == '"') close = std::min(text.find('"', close + 1), text.size() - 1);
      if (text[close] == '(') ++depth;
      if (text[close] == ')' && --depth == 0) break;
    }
    if (!is_identifier(name) || close >= text.size())
      throw Error(fmt::format("{} is not an annotation such as tune(block = 32, 64)", in_quotes(trimmed_text(text))));
    Clause clause{name, {}};
    // Template arguments may be types; all other items may be comparisons.
    for (const std::string_view item :
         at_commas(std::string_view(text).substr(open + 1, close - open - 1), name != "template_args"))
      clause.items.emplace_back(item);
    clauses.push_back(std::move(clause));
    at = close + 1;
  }
  return clauses;
}

constexpr std::size_t kLongestMeaning = 4096;

bool is_any_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

class PragmaReader {
 public:
  explicit PragmaReader(fs::path file) : file_(std::move(file)) {}

  KernelDraft read(const std::string& text, const std::vector<Annotation>& annotations) {
    const auto signature = find_signature(code_of(text), {}, annotations.front().at);
    if (!signature) throw Error(fmt::format("{}: no kernel follows its `#pragma kernel`", file_.string()));
    signature_ = *signature;
    draft_.folder = file_.parent_path();
    draft_.parameters_are_macros = false;
    draft_.origin = fmt::format("annotations for Kernel Launcher in {}", file_.filename().string());
    draft_.kernel = signature_.name;
    draft_.source = file_;
    draft_.source_text = text;
    for (const Annotation& one : annotations)
      if (one.at < signature_.begin)
        for (Clause& clause : read_clauses(one)) clauses_.push_back(std::move(clause));
      else
        draft_.leave("the file annotates more than one kernel: this is the first");
    read_tuned();
    read_template();
    name_sizes();
    read_launch();
    read_arguments();
    return std::move(draft_);
  }

 private:
  std::vector<Clause> read_clauses(const Annotation& one) const try {
    return clauses_of(one.text);
  } catch (const Error& error) {
    const auto line = 1 + std::count(draft_.source_text.begin(),
                                     draft_.source_text.begin() + static_cast<std::ptrdiff_t>(one.at), '\n');
    throw Error(fmt::format("{}:{}: {}", file_.string(), line, error.what()));
  }

  void read_tuned() {
    for (std::size_t i = 0; i < clauses_.size(); ++i) {
      const Clause& clause = clauses_[i];
      if (clause.name == "tune" && !clause.items.empty()) {
        std::string name = clause.items[0];
        std::vector<std::string> values(clause.items.begin() + 1, clause.items.end());
        if (const std::size_t equals = name.find('='); equals != std::string::npos) {
          values.insert(values.begin(), trimmed_text(name.substr(equals + 1)));
          name = trimmed_text(name.substr(0, equals));
        }
        std::string preset;
        for (; i + 1 < clauses_.size() && is_any_of(clauses_[i + 1].name, {"values", "default"}); ++i)
          for (const std::string& item : clauses_[i + 1].items)
            if (clauses_[i + 1].name == "values")
              values.push_back(item);
            else
              preset = item;
        add_parameter(name, values, preset);
      } else if (clause.name == "set") {
        for (const std::string& item : clause.items) set(item);
      }
    }
    if (draft_.parameters.empty()) throw Error(fmt::format("{}: it has nothing to tune", file_.string()));
  }

  /// A value of a parameter in Python's spelling. Throws Error for any other text.
  static std::string value_of(const std::string& text) {
    if (text == "true") return "True";
    if (text == "false") return "False";
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') return text;
    return std::to_string(Expression::parse(text, {}).evaluate_integer({}));
  }

  void add_parameter(const std::string& name, const std::vector<std::string>& values, const std::string& preset) {
    std::string list;
    const auto leave = [&](const std::string& value, const Error& error) {
      draft_.leave(fmt::format("{} is left out of parameter {}: {}", in_quotes(value), printable(name),
                               first_line(error.what())));
    };
    for (const std::string& value : values) try {
        list += (list.empty() ? "" : ", ") + value_of(value);
      } catch (const Error& error) {
        leave(value, error);
      }
    const std::size_t before = draft_.parameters.size();
    draft_.add_parameter(name, python::evaluate(*python::parse('[' + list + ']')));
    if (draft_.parameters.size() == before) return;
    std::string& chosen = draft_.parameters.back().preset.emplace(draft_.parameters.back().values.front());
    if (!preset.empty()) try {
        chosen = preset == "true" || preset == "false" ? preset : without_quotes(value_of(preset));
      } catch (const Error& error) {
        leave(preset, error);
      }
  }

  static std::string without_quotes(const std::string& text) {
    return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
  }

  void set(const std::string& item) {
    const std::size_t equals = item.find('=');
    std::string text = equals == std::string::npos ? "" : meaning(item.substr(equals + 1));
    if (text.empty() || text.size() > kLongestMeaning)
      draft_.leave(fmt::format("{} is not followed: {}", in_quotes(item.substr(0, 80)),
                               text.empty() ? "it has no text" : "its replacement is too long"));
    else
      meant_[trimmed_text(item.substr(0, equals))] = '(' + text + ')';
  }

  /// \p text with the settings of its names inserted.
  std::string meaning(const std::string& text) const { return trimmed_text(substitute_words(text, meant_)); }

  static bool is_of_type(const Declared& one) { return is_any_of(one.type, {"typename", "class"}); }

  void read_template() {
    const auto given = std::find_if(clauses_.begin(), clauses_.end(),
                                    [](const Clause& clause) { return clause.name == "template_args"; });
    const bool are_given = given != clauses_.end();
    std::vector<std::string> names = are_given ? given->items : std::vector<std::string>();
    for (std::size_t i = 0; i < signature_.template_parameters.size(); ++i) {
      const Declared& one = signature_.template_parameters[i];
      const bool is_given = are_given && i < names.size();
      if (!are_given) names.push_back(one.name);
      if (one.name.empty() && !is_given)
        draft_.leave("a parameter of the template has no name: complete `instantiate`");
      if (one.name.empty() || !is_of_type(one)) continue;
      const std::string argument = type_argument(one, i < names.size() ? names[i] : one.name);
      if (i < names.size()) names[i] = argument;
    }
    set_template_arguments(names);
  }

  /// The text in `instantiate` for the type \p one, given as \p given: from the annotation, or only its own name.
  std::string type_argument(const Declared& one, const std::string& given) {
    const std::string text = meaning(given);
    const auto known = element_type(plain_type(text));
    if (text == one.name && !is_parameter(text)) {
      draft_.types.emplace_back(one.name, "float");
      draft_.leave(
          fmt::format("the program chooses type {0}, which is float here: add the others to `type {0}`", one.name));
    } else if (known && known->count == 1 && text.find('*') == std::string::npos) {
      draft_.types.emplace_back(one.name, known->name);
      return one.name;
    }
    return text;
  }

  void set_template_arguments(const std::vector<std::string>& names) {
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string text = meaning(names[i]);
      const bool takes_type =
          i < signature_.template_parameters.size() && is_of_type(signature_.template_parameters[i]);
      const bool is_expression =
          !takes_type && (text != names[i] || text.find_first_of("+-*/%<>?&|") != std::string::npos);
      const auto is_template_parameter = [&](const Declared& one) { return one.name == text; };
      if (!is_parameter(text) && !is_type(text) &&
          std::any_of(signature_.template_parameters.begin(), signature_.template_parameters.end(),
                      is_template_parameter))
        draft_.leave(fmt::format("the program chooses {} of the template: give its value in `instantiate`", text));
      list += (list.empty() ? "" : ", ") + (is_expression ? '{' + text + '}' : text);
    }
    if (!list.empty()) draft_.instantiate = fmt::format("{}<{}>", draft_.kernel, list);
  }

  bool is_parameter(const std::string& name) const {
    return std::any_of(draft_.parameters.begin(), draft_.parameters.end(), [&](auto& one) { return one.name == name; });
  }
  bool is_type(const std::string& name) const {
    return std::any_of(draft_.types.begin(), draft_.types.end(), [&](auto& one) { return one.first == name; });
  }

  /// Whole-number arguments of the kernel are sizes; only the program knows their values.
  void name_sizes() {
    std::set<std::string> in_problem;
    for (const Clause& clause : clauses_)
      if (is_any_of(clause.name, {"problem_size", "problem_dim"}))
        for (const std::string& item : clause.items) {
          const std::string text = meaning(item);
          for (const std::string_view word : words_of(text)) in_problem.emplace(word);
        }
    const std::size_t extents = std::count_if(signature_.arguments.begin(), signature_.arguments.end(),
                                              [&](const Declared& one) { return in_problem.contains(one.name); });
    const char* const value = extents <= 1 ? "16777216" : extents == 2 ? "4096" : "256";
    for (const Declared& one : signature_.arguments) {
      const auto type = one.is_pointer() ? std::nullopt : element_type(plain_type(one.type));
      if (!type || type->count > 1 || !is_any_of(type->name, {"int", "unsigned", "int64", "uint64"})) continue;
      draft_.sizes.emplace_back(one.name, in_problem.contains(one.name) ? value : "1");
      draft_.leave(fmt::format("the program chooses size {}, which is {} here", one.name, draft_.sizes.back().second));
    }
  }

  /// A C expression is one of kernel files if all its names are known.
  std::string known_expression(const std::string& given, const std::string& what, const std::string& otherwise) {
    const std::string text = substitute_words(meaning(given), {{"div_ceil", "ceil_div"}});
    const auto is_known = [&](std::string_view word) {
      return std::isdigit(static_cast<unsigned char>(word[0])) != 0 || is_parameter(std::string(word)) ||
             is_any_of(std::string(word), {"ceil_div", "true", "false"}) ||
             std::any_of(draft_.sizes.begin(), draft_.sizes.end(), [&](auto& one) { return one.first == word; });
    };
    try {
      for (const std::string_view word : words_of(text))
        if (!is_known(word)) throw Error(fmt::format("{} is not a parameter or size", in_quotes(word)));
      (void)Expression::parse(text, {});
      return text;
    } catch (const Error& error) {
      draft_.leave(
          fmt::format("{} is {} here and was {}: {}", what, otherwise, in_quotes(given), first_line(error.what())));
      return otherwise;
    }
  }

  void read_launch() {
    std::array<std::string, 3> problem{"1", "1", "1"}, divisor;
    bool has_block = false, has_grid = false;
    const auto read_three = [&](const Clause& clause, std::array<std::string, 3>& three, const char* what) {
      for (std::size_t i = 0; i < std::min<std::size_t>(clause.items.size(), 3); ++i)
        three[i] = known_expression(clause.items[i], fmt::format("{} {}", what, "XYZ"[i]), "1");
    };
    for (const Clause& clause : clauses_) {
      if (is_any_of(clause.name, {"block_size", "block_dim"})) {
        read_three(clause, draft_.block, "the block's");
        has_block = true;
      } else if (is_any_of(clause.name, {"grid_size", "grid_dim"})) {
        read_three(clause, draft_.grid, "the grid's");
        has_grid = true;
      } else if (is_any_of(clause.name, {"grid_divisor", "grid_divisors"})) {
        read_three(clause, divisor, "the grid's divisor");
      } else if (is_any_of(clause.name, {"problem_size", "problem_dim"})) {
        read_three(clause, problem, "the problem's");
      } else if (is_any_of(clause.name, {"restriction", "restrictions"})) {
        for (const std::string& item : clause.items)
          if (const std::string text = known_expression(item, "a restriction", "true"); text != "true")
            draft_.constraints.push_back(text);
      } else if (!is_any_of(clause.name,
                            {"tune", "values", "default", "set", "buffers", "buffer", "tuning_key", "template_args"})) {
        draft_.leave(fmt::format("the annotation {} is not translated", in_quotes(clause.name)));
      }
    }
    if (!has_block)
      for (const char* name : {"block_size_x", "block_size", "threads_per_block"})
        if (is_parameter(name) && draft_.block[0] == "1") draft_.block[0] = name;
    if (!has_block)
      draft_.leave(fmt::format("there is no `block_size`: the block's X is assumed to be {}", draft_.block[0]));
    if (has_grid) return;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string& by = divisor[i].empty() ? draft_.block[i] : divisor[i];
      draft_.grid[i] = by == "1" || problem[i] == "1" ? problem[i] : fmt::format("ceil_div({}, {})", problem[i], by);
    }
  }

  void read_arguments() {
    std::map<std::string, std::string> counts;
    for (const Clause& clause : clauses_)
      if (is_any_of(clause.name, {"buffers", "buffer"}))
        for (const std::string& item : clause.items)
          if (const std::size_t open = item.find('['); open != std::string::npos && item.ends_with(']'))
            counts[trimmed_text(item.substr(0, open))] = item.substr(open + 1, item.size() - open - 2);
    for (const Declared& one : signature_.arguments) {
      DraftArgument argument;
      argument.name = one.name.empty() ? fmt::format("argument{}", draft_.arguments.size() + 1) : one.name;
      const std::string type = plain_type(one.type);
      const auto known = element_type(type);
      argument.type = is_type(type) ? type : known ? known->name : "float";
      if (!is_type(type) && (!known || (known->count > 1 && !one.is_pointer())))
        draft_.leave(fmt::format("argument {} has the type {}: give its own", one.name, in_quotes(type)));
      if (one.is_pointer()) {
        argument.role = one.is_to_const() ? DraftArgument::Role::in : DraftArgument::Role::inout;
        if (known && known->count > 1) argument.type += std::to_string(known->count);
        if (!counts.contains(one.name)) draft_.leave(fmt::format("buffer {} has no size: it is 1 here", one.name));
        argument.count =
            counts.contains(one.name) ? known_expression(counts[one.name], "the size of buffer " + one.name, "1") : "1";
      } else if (std::any_of(draft_.sizes.begin(), draft_.sizes.end(),
                             [&](auto& size) { return size.first == one.name; })) {
        argument.role = DraftArgument::Role::size;
      } else {
        argument.role = DraftArgument::Role::scalar;
        argument.value = "1";
        draft_.leave(fmt::format("the program chooses argument {}, which is 1 here", one.name));
      }
      draft_.arguments.push_back(std::move(argument));
    }
  }

  fs::path file_;
  Signature signature_;
  std::vector<Clause> clauses_;
  std::map<std::string, std::string, std::less<>> meant_;
  KernelDraft draft_;
};

}  // namespace

std::optional<KernelDraft> read_launcher_pragmas(const std::string& text, const fs::path& file) {
  const std::vector<Annotation> annotations = annotations_of(text);
  if (annotations.empty()) return std::nullopt;
  return PragmaReader(file).read(text, annotations);
}

}  // namespace tuner::convert
