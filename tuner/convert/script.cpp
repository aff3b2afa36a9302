#include <tuner/convert/script.hpp>

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

using python::Node;
using python::NotUnderstood;
using python::Tree;

constexpr std::size_t kMostTreeNodes = 2'000'000;     // in all trees with inserted names
constexpr std::size_t kMostConstantRoom = 2'000'000;  // python::room_of() all constants

/// Splits a text into logical lines: brackets and long strings may span lines. Removes indentation.
std::vector<std::string> statements(const std::string& text) {
  std::vector<std::string> all;
  std::string line;
  int depth = 0;
  std::string quote;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    if (!quote.empty()) {
      if (c == '\\' && i + 1 < text.size()) {
        line += c;
        line += text[++i];
      } else if (text.compare(i, quote.size(), quote) == 0) {
        line += quote;
        i += quote.size() - 1;
        quote.clear();
      } else {
        line += c;
      }
      continue;
    }
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      --i;
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = text.compare(i, 3, std::string(3, c)) == 0 ? std::string(3, c) : std::string(1, c);
      line += quote;
      i += quote.size() - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      continue;
    }
    if ((c == '\n' || c == ';') && depth <= 0) {
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first != std::string::npos) all.push_back(line.substr(first));
      line.clear();
      depth = 0;
    } else {
      line += c;
    }
  }
  if (depth > 0 || !quote.empty()) all.push_back(line);  // a bracket or string is not closed
  return all;
}

class LineReader {
 public:
  Script read(const std::string& text) {
    for (const std::string& statement : statements(text))
      if (!script_.call)
        take(statement);
      else if (statement.find("tune_kernel(") != std::string::npos)
        script_.calls_again = true;
    return std::move(script_);
  }

 private:
  static bool begins_with_word(const std::string& statement, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string word) {
      return statement.starts_with(word) &&
             (statement.size() == word.size() ||
              (std::isalnum(static_cast<unsigned char>(statement[word.size()])) == 0 && statement[word.size()] != '_'));
    });
  }

  /// `with open("kernel.cu") as file:` makes `file` name the file.
  void take_with(const std::string& statement) {
    std::size_t at = 4;
    const Tree opened = python::parse_prefix(statement, at);
    skip(statement, at);
    if (statement.compare(at, 3, "as ") != 0) return;
    at += 3;
    define(*python::parse_prefix(statement, at), opened);
  }

  /// The head of a function without the types of its arguments.
  static std::string without_annotations(const std::string& head) {
    std::string text;
    int depth = 0;
    bool annotation = false;
    for (const char c : head) {
      if (c == '(' || c == '[') ++depth;
      if (depth == 1 && (c == ',' || c == '=' || c == ')')) annotation = false;
      if (depth == 1 && c == ':') annotation = true;
      if (!annotation) text += c;
      if (c == ')' || c == ']') --depth;
      if (depth == 0 && c == ')') break;
    }
    return text;
  }

  void take(const std::string& statement) {
    // Defaults of a function's arguments count as its arguments.
    if (begins_with_word(statement, {"def"})) try {
        std::size_t at = 0;
        const Tree function = python::parse_prefix(without_annotations(statement.substr(3)), at);
        for (std::size_t i = 1; i < function->children.size(); ++i)
          if (!function->keywords[i - 1].empty())
            define(Node{Node::Kind::name, function->keywords[i - 1], {}, {}, {}}, function->children[i]);
      } catch (const NotUnderstood&) {
      }
    if (begins_with_word(statement, {"with"})) try {
        take_with(statement);
      } catch (const NotUnderstood&) {
      }
    if (begins_with_word(statement,
                         {"import", "from", "def", "class", "with", "try", "except", "finally", "else", "elif", "if",
                          "for", "while", "pass", "assert", "raise", "global", "print", "break"})) {
      const bool decides = begins_with_word(statement, {"if", "elif", "else", "for", "while"});
      if (decides && statement.find("__main__") == std::string::npos && !script_.call) script_.decides = true;
      if (statement.find("tune_kernel(") != std::string::npos && !begins_with_word(statement, {"def"}))
        script_.no_call = in_quotes(statement.substr(0, 60)) + " is not supported: put the call on its own line";
      return;
    }
    try {
      std::string rest = statement;
      if (begins_with_word(rest, {"return"})) rest.erase(0, 6);
      take_assignment(rest);
    } catch (const NotUnderstood& error) {
      if (statement.find("tune_kernel(") != std::string::npos) script_.no_call = error.what();
      forget(statement);
    }
  }

  /// A placeholder for the result of \p line.
  static Tree unknown(const std::string& line) {
    return std::make_shared<const Node>(Node{Node::Kind::name, line.substr(0, 60), {}, {}, {}});
  }

  /// Marks names that \p line, which was not understood, may have changed as unknown. Their uses report it.
  void forget(const std::string& line) {
    std::string statement = line;
    if (begins_with_word(line, {"del"})) statement.erase(0, line.find_first_not_of(" \t", 3));
    std::size_t end = 0;
    while (end < statement.size() &&
           (std::isalnum(static_cast<unsigned char>(statement[end])) != 0 || statement[end] == '_'))
      ++end;
    const std::string name = statement.substr(0, end);
    script_.constants.erase(name);
    if (statement.compare(end, 1, "[") == 0) try {
        define(*python::parse_prefix(statement, end = 0), unknown(line));
        return;
      } catch (const NotUnderstood&) {
      }
    script_.defined.erase(name);
    script_.items.erase(name);
  }

  void take_assignment(const std::string& statement) {
    std::size_t at = 0;
    std::vector<Tree> targets;
    for (;;) {
      std::vector<Tree> parts{python::parse_prefix(statement, at)};
      skip(statement, at);
      while (at < statement.size() && statement[at] == ',') {
        ++at;
        parts.push_back(python::parse_prefix(statement, at));
        skip(statement, at);
      }
      Tree one =
          parts.size() == 1 ? parts.front() : std::make_shared<const Node>(Node{Node::Kind::tuple, "", parts, {}, {}});
      const bool add = at + 1 < statement.size() && statement[at] == '+' && statement[at + 1] == '=';
      const bool assign = at < statement.size() && statement[at] == '=';
      if (!add && !assign) {
        if (at < statement.size()) throw NotUnderstood(in_quotes(statement) + " is not a simple line");
        finish(targets, one);
        return;
      }
      at += add ? 2 : 1;
      if (add) {
        Tree more = python::parse_prefix(statement, at);
        one = std::make_shared<const Node>(Node{Node::Kind::binary, "+", {one, more}, {}, {}});
        define(*one->children[0], one);
        return;
      }
      targets.push_back(std::move(one));
    }
  }

  static void skip(const std::string& text, std::size_t& at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  }

  void finish(const std::vector<Tree>& targets, const Tree& value) {
    look_for_call(value);
    for (const Tree& target : targets) {
      if (target->kind == Node::Kind::tuple && value->kind == Node::Kind::tuple &&
          target->children.size() == value->children.size()) {
        for (std::size_t i = 0; i < target->children.size(); ++i) define(*target->children[i], value->children[i]);
      } else {
        define(*target, value);
      }
    }
    if (!targets.empty() || value->kind != Node::Kind::call) return;
    // x.append(value), x.update(dictionary)
    const Node& function = *value->children[0];
    if (function.kind != Node::Kind::attribute) return;
    static constexpr std::string_view kChanges[] = {"append", "extend", "insert", "pop",     "popitem",
                                                    "remove", "clear",  "sort",   "reverse", "setdefault"};
    const bool changes = std::find(std::begin(kChanges), std::end(kChanges), function.text) != std::end(kChanges);
    // x["a"].append(value): the result is unknown.
    if (changes && function.children[0]->kind == Node::Kind::subscript)
      return define(*function.children[0], unknown(python::text_of(*value)));
    if (function.children[0]->kind != Node::Kind::name) return;
    const std::string& name = function.children[0]->text;
    if (function.text == "append" && value->children.size() == 2 && script_.defined.contains(name)) {
      Tree list = std::make_shared<const Node>(Node{Node::Kind::list, "", {value->children[1]}, {}, {}});
      script_.defined[name] =
          bounded(std::make_shared<const Node>(Node{Node::Kind::binary, "+", {script_.defined[name], list}, {}, {}}));
    } else if (function.text == "update" && value->children.size() == 2) {
      for (const auto& [key, entry] : dictionary(*value->children[1])) script_.items[name].emplace_back(key, entry);
    } else if ((function.text == "pop" || function.text == "setdefault") && value->children.size() > 1 &&
               value->children[1]->kind == Node::Kind::string) {
      const Tree item = std::make_shared<const Node>(  // in a dictionary: lists have numbers
          Node{Node::Kind::subscript, "", {function.children[0], value->children[1]}, {}, {}});
      define(*item, unknown(python::text_of(*value)));
    } else if (changes && script_.defined.contains(name)) {
      define(*function.children[0], unknown(python::text_of(*value)));
    }
  }

  void define(const Node& target, const Tree& value) {
    if (target.kind == Node::Kind::name) {
      Tree given = value;
      // In `x = x + …` and `x += …`, replaces x by its old value.
      if (const auto at = script_.defined.find(target.text); at != script_.defined.end()) {
        given = replaced(value, target.text, at->second);
        if (given != value) given = bounded(given);
      }
      script_.defined[target.text] = given;
      script_.items.erase(target.text);
      try {
        script_.constants[target.text] = constant(*given);
      } catch (const NotUnderstood&) {
        script_.constants.erase(target.text);
      }
    } else if (target.kind == Node::Kind::subscript && target.children[0]->kind == Node::Kind::name &&
               target.children[1]->kind == Node::Kind::string) {
      auto& items = script_.items[target.children[0]->text];
      const std::string& key = target.children[1]->text;
      const auto at = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == key; });
      if (at == items.end())
        items.emplace_back(key, value);
      else
        at->second = value;
      remember(target.children[0]->text, key, *value);
    }
  }

  /// Remembers tune_params["x"] for later uses, such as max(tune_params["x"]).
  void remember(const std::string& name, const std::string& key, const Node& value) {
    try {
      python::Constant& dictionary = script_.constants[name];
      if (!dictionary.list()) dictionary.value = std::vector<python::Constant>();
      auto& values = std::get<std::vector<python::Constant>>(dictionary.value);
      values.resize(dictionary.keys.size());  // turns a list into a dictionary
      const auto has_key = [&](const auto& one) { return one.string() && *one.string() == key; };
      const auto at = std::find_if(dictionary.keys.begin(), dictionary.keys.end(), has_key);
      python::Constant given = constant(value);
      if (at != dictionary.keys.end()) {
        values[static_cast<std::size_t>(at - dictionary.keys.begin())] = std::move(given);
      } else {
        dictionary.keys.push_back({key, {}, {}});
        values.push_back(std::move(given));
      }
    } catch (const NotUnderstood&) {
      script_.constants.erase(name);
    }
  }

  static Tree replaced(const Tree& tree, const std::string& name, const Tree& by) {
    if (tree->kind == Node::Kind::name && tree->text == name) return by;
    std::vector<Tree> children;
    children.reserve(tree->children.size());
    for (const Tree& child : tree->children) children.push_back(replaced(child, name, by));
    if (children == tree->children) return tree;
    Node copy = *tree;
    copy.children = std::move(children);
    return std::make_shared<const Node>(std::move(copy));
  }

  /// The value of \p tree. Throws NotUnderstood when there are too many values.
  python::Constant constant(const Node& tree) {
    python::Constant value = python::evaluate(tree, script_.constants);
    const std::size_t room = python::room_of(value);
    if (room > kMostConstantRoom - constant_room_) throw NotUnderstood("the script has too many values");
    constant_room_ += room;
    return value;
  }

  /// \p tree, or an undefined name if it is too deep or too large to be walked repeatedly.
  Tree bounded(const Tree& tree) {
    if (is_walked(*tree, 0)) return tree;
    return std::make_shared<const Node>(Node{Node::Kind::name, "(too large)", {}, {}, {}});
  }

  bool is_walked(const Node& tree, int level) {
    if (level > kMostTreeLevels || tree_nodes_ >= kMostTreeNodes) return false;
    ++tree_nodes_;
    return std::all_of(tree.children.begin(), tree.children.end(),
                       [&](const Tree& child) { return is_walked(*child, level + 1); });
  }

  void look_for_call(const Tree& tree) {
    if (tree->kind == Node::Kind::call && tree->children[0]->text == "tune_kernel") {
      if (!script_.call) script_.call = tree;
      return;
    }
    for (const Tree& child : tree->children) look_for_call(child);
  }

  Script script_;
  std::size_t tree_nodes_ = 0, constant_room_ = 0;
};

}  // namespace

Tree Script::followed(Tree tree) const {
  for (int steps = 0; steps < 20 && tree->kind == Node::Kind::name; ++steps) {
    const auto at = defined.find(tree->text);
    if (at == defined.end()) break;
    tree = at->second;
  }
  return tree;
}

Script read_script(const std::string& text) { return LineReader().read(text); }

Script::Entries dictionary(const Node& tree) {
  Script::Entries all;
  if (tree.kind == Node::Kind::dictionary) {
    for (std::size_t i = 0; i + 1 < tree.children.size(); i += 2)
      if (tree.children[i]->kind == Node::Kind::string) all.emplace_back(tree.children[i]->text, tree.children[i + 1]);
  } else if (tree.kind == Node::Kind::call &&
             (tree.children[0]->text == "dict" || tree.children[0]->text == "OrderedDict")) {
    for (std::size_t i = 1; i < tree.children.size(); ++i) {
      if (!tree.keywords[i - 1].empty()) {
        all.emplace_back(tree.keywords[i - 1], tree.children[i]);
        continue;
      }
      const Node& inner = *tree.children[i];
      if (inner.kind == Node::Kind::dictionary) all = dictionary(inner);
      for (const Tree& pair : inner.kind == Node::Kind::list ? inner.children : std::vector<Tree>())
        if (pair->children.size() == 2 && pair->children[0]->kind == Node::Kind::string)
          all.emplace_back(pair->children[0]->text, pair->children[1]);
    }
  }
  return all;
}

}  // namespace tuner::convert
