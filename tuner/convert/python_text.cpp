#include <tuner/convert/python.hpp>

#include <array>
#include <cctype>

#include <fmt/format.h>

#include <tuner/core/message_text.hpp>

namespace tuner::convert::python {
namespace {

constexpr int kMostDepth = 60;
constexpr int kMostLinks = 1000;  // in chains such as a + b + …, whose trees are as deep as the chain is long

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

Tree make(Node::Kind kind, std::string text, std::vector<Tree> children = {}) {
  return std::make_shared<const Node>(Node{kind, std::move(text), std::move(children), {}, {}});
}

/// A recursive-descent parser. Line ends count as blanks, because the text is inside brackets or on one line.
class Parser {
 public:
  Parser(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  Tree expression() {
    if (++depth_ > kMostDepth) fail("is nested too deeply");
    Tree tree = word("lambda") ? lambda() : conditional();
    --depth_;
    return tree;
  }

  std::size_t at() const { return at_; }
  void end() {
    skip_blanks();
    if (at_ < text_.size()) fail("has more text after the expression");
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw NotUnderstood(fmt::format("{} {}", in_quotes(text_.substr(0, 200)), why));
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else {
        break;
      }
    }
  }

  bool link() {
    if (++links_ > kMostLinks) fail("is nested too deeply");
    return true;
  }

  bool word(std::string_view wanted) {
    skip_blanks();
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    const std::size_t end = at_ + wanted.size();
    if (end < text_.size() && is_name_char(text_[end])) return false;
    at_ = end;
    return true;
  }

  bool sign(std::string_view wanted, std::string_view unless_followed_by = "") {
    skip_blanks();
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    const std::size_t end = at_ + wanted.size();
    if (end < text_.size() && unless_followed_by.find(text_[end]) != std::string_view::npos) return false;
    at_ = end;
    return true;
  }

  void expect(std::string_view wanted) {
    if (!sign(wanted)) fail(fmt::format("lacks a '{}'", wanted));
  }

  std::string name() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (at_ == start) fail("lacks a name");
    return std::string(text_.substr(start, at_ - start));
  }

  Tree lambda() {
    Node node{Node::Kind::lambda, "", {}, {}, {}};
    while (!sign(":")) {
      (void)(sign("**") || sign("*"));
      node.keywords.push_back(name());
      (void)sign(",");
    }
    node.children.push_back(expression());
    return std::make_shared<const Node>(std::move(node));
  }

  Tree conditional() {
    Tree value = disjunction();
    if (!word("if")) return value;
    Tree condition = disjunction();
    if (!word("else")) fail("has an 'if' without 'else'");
    Tree other = expression();
    return make(Node::Kind::conditional, "if", {std::move(condition), std::move(value), std::move(other)});
  }

  Tree disjunction() {
    Tree tree = conjunction();
    while (word("or") && link()) tree = make(Node::Kind::binary, "or", {tree, conjunction()});
    return tree;
  }

  Tree conjunction() {
    Tree tree = negation();
    while (word("and") && link()) tree = make(Node::Kind::binary, "and", {tree, negation()});
    return tree;
  }

  Tree negation() {
    if (!word("not")) return comparison();
    if (++depth_ > kMostDepth) fail("is nested too deeply");
    Tree tree = make(Node::Kind::unary, "not", {negation()});
    --depth_;
    return tree;
  }

  std::string comparison_operator() {
    for (const char* one : {"==", "!=", "<=", ">="})
      if (sign(one)) return one;
    for (const char* one : {"<", ">"})
      if (sign(one, one)) return one;
    const std::size_t before = at_;
    if (word("not")) {
      if (word("in")) return "not_in";
      at_ = before;
    }
    if (word("in")) return "in";
    if (word("is")) return word("not") ? "!=" : "==";
    return {};
  }

  Tree comparison() {
    Node node{Node::Kind::comparison, "", {bits(0)}, {}, {}};
    for (std::string one = comparison_operator(); !one.empty(); one = comparison_operator()) {
      node.operators.push_back(std::move(one));
      node.children.push_back(bits(0));
    }
    if (node.operators.empty()) return node.children.front();
    return std::make_shared<const Node>(std::move(node));
  }

  /// Binary operators, in rising precedence.
  Tree bits(std::size_t level) {
    struct Operator {
      const char* text;
      const char* not_before;
    };
    // Assignments such as += are not operators.
    static constexpr std::array<std::array<Operator, 5>, 6> kLevels{
        {{{{"|", "|="}}},
         {{{"^", "="}}},
         {{{"&", "&="}}},
         {{{"<<", "="}, {">>", "="}}},
         {{{"+", "="}, {"-", "="}}},
         {{{"//", "="}, {"*", "*="}, {"/", "/="}, {"%", "="}}}}};
    if (level == kLevels.size()) return unary();
    Tree tree = bits(level + 1);
    for (bool found = true; found;) {
      found = false;
      for (const Operator& one : kLevels[level])
        if (one.text && sign(one.text, one.not_before)) {
          tree = make(Node::Kind::binary, one.text, {tree, bits(level + 1)});
          found = link();
          break;
        }
    }
    return tree;
  }

  Tree unary() {
    if (++depth_ > kMostDepth) fail("is nested too deeply");
    Tree tree = sign("-") ? make(Node::Kind::unary, "neg", {unary()}) : sign("+") ? unary() : power();
    --depth_;
    return tree;
  }

  Tree power() {
    Tree tree = postfix();
    if (sign("**")) return make(Node::Kind::binary, "**", {tree, unary()});
    return tree;
  }

  Tree postfix() {
    Tree tree = atom();
    for (;; link()) {
      if (sign(".")) {
        tree = make(Node::Kind::attribute, name(), {tree});
      } else if (sign("[")) {
        Tree index = expression();
        expect("]");
        tree = make(Node::Kind::subscript, "", {tree, index});
      } else if (sign("(")) {
        tree = call(tree);
      } else {
        return tree;
      }
    }
  }

  Tree call(Tree function) {
    // One unreadable argument of tune_kernel must not hide the others.
    const bool is_tolerant = function->text == "tune_kernel";
    Node node{Node::Kind::call, "", {std::move(function)}, {}, {}};
    while (!sign(")")) {
      skip_blanks();
      const std::size_t before = at_;
      std::string keyword;
      if (at_ < text_.size() && is_name_char(text_[at_])) {
        keyword = name();
        if (!sign("=", "=")) {
          keyword.clear();
          at_ = before;
        }
      }
      if (sign("**")) keyword = "**";
      if (sign("*")) keyword = "*";
      Tree argument = is_tolerant ? argument_or_its_text() : this->argument();
      node.keywords.push_back(std::move(keyword));
      node.children.push_back(std::move(argument));
      if (sign(",")) continue;
      expect(")");
      break;
    }
    return std::make_shared<const Node>(std::move(node));
  }

  Tree argument() {
    Tree tree = expression();
    return word("for") ? comprehension(tree) : tree;
  }

  /// An argument; if it cannot be parsed, an undefined name with its text.
  Tree argument_or_its_text() {
    skip_blanks();
    const std::size_t begin = at_;
    const int depth = depth_;
    try {
      Tree tree = argument();
      skip_blanks();
      if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ')')) return tree;
    } catch (const NotUnderstood&) {
      depth_ = depth;
    }
    at_ = begin;
    skip_argument();
    return make(Node::Kind::name, std::string(text_.substr(begin, at_ - begin)));
  }

  /// Moves to the next comma or bracket.
  void skip_argument() {
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        for (++at_; at_ < text_.size() && text_[at_] != c; ++at_)
          if (text_[at_] == '\\') ++at_;
      } else if (c == '(' || c == '[' || c == '{') {
        ++open;
      } else if (open == 0 && (c == ',' || c == ')')) {
        return;
      } else if (c == ')' || c == ']' || c == '}') {
        --open;
      }
    }
    fail("ends inside a call");
  }

  Tree comprehension(Tree value) {
    Node node{Node::Kind::comprehension, "", {std::move(value)}, {}, {}};
    node.children.push_back(make(Node::Kind::name, name()));
    if (!word("in")) fail("has a 'for' without 'in'");
    node.children.push_back(disjunction());
    while (word("if")) node.children.push_back(disjunction());
    return std::make_shared<const Node>(std::move(node));
  }

  Tree sequence(Node::Kind kind, std::string_view close) {
    Node node{kind, "", {}, {}, {}};
    bool comma = false;
    while (!sign(close)) {
      Tree one = expression();
      if (node.children.empty() && word("for")) {
        Tree all = comprehension(one);
        expect(close);
        return all;
      }
      node.children.push_back(std::move(one));
      if (sign(",")) {
        comma = true;
        continue;
      }
      expect(close);
      break;
    }
    if (kind == Node::Kind::tuple && node.children.size() == 1 && !comma) return node.children.front();
    return std::make_shared<const Node>(std::move(node));
  }

  Tree dictionary() {
    Node node{Node::Kind::dictionary, "", {}, {}, {}};
    while (!sign("}")) {
      node.children.push_back(expression());
      expect(":");
      node.children.push_back(expression());
      if (sign(",")) continue;
      expect("}");
      break;
    }
    return std::make_shared<const Node>(std::move(node));
  }

  Tree atom() {
    skip_blanks();
    if (at_ == text_.size()) fail("ends too early");
    if (sign("(")) return sequence(Node::Kind::tuple, ")");
    if (sign("[")) return sequence(Node::Kind::list, "]");
    if (sign("{")) return dictionary();
    const char c = text_[at_];
    if (c == '"' || c == '\'') return strings();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (!is_name_char(c)) fail("has an unsupported character");
    const std::size_t before = at_;
    std::string text = name();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && text.size() <= 2) {
      if (text != "r" && text != "R" && text != "b" && text != "u") fail("has a string with an unsupported prefix");
      raw_ = text == "r" || text == "R";
      return strings();
    }
    if (text == "for" || text == "if" || text == "else" || text == "in" || text == "and" || text == "or") {
      at_ = before;
      fail("lacks a value");
    }
    return make(Node::Kind::name, std::move(text));
  }

  Tree number() {
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent =
          (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_.substr(start, 2) != "0x";
      if (!is_name_char(c) && c != '.' && !exponent) break;
      ++at_;
    }
    std::string digits(text_.substr(start, at_ - start));
    std::erase(digits, '_');
    return make(Node::Kind::number, std::move(digits));
  }

  /// Joins successive strings.
  Tree strings() {
    std::string all;
    do {
      all += one_string();
      raw_ = false;
      skip_blanks();
      const bool prefixed = at_ + 1 < text_.size() && (text_[at_] == 'r' || text_[at_] == 'R') &&
                            (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'');
      if (prefixed) {
        raw_ = true;
        ++at_;
      }
    } while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''));
    return make(Node::Kind::string, std::move(all));
  }

  std::string one_string() {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
    const std::string_view close = is_long ? std::string_view(three) : text_.substr(at_, 1);
    at_ += close.size();
    std::string text;
    while (text_.substr(at_, close.size()) != close) {
      if (at_ >= text_.size() || (!is_long && text_[at_] == '\n')) fail("has a string without an end");
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && !raw_) {
        ++at_;
        switch (text_[at_]) {
          case 'n':
            text += '\n';
            break;
          case 't':
            text += '\t';
            break;
          case '\n':
            break;
          default:
            if (text_[at_] != '\\' && text_[at_] != '\'' && text_[at_] != '"') text += '\\';
            text += text_[at_];
        }
      } else {
        text += text_[at_];
      }
      ++at_;
    }
    at_ += close.size();
    return text;
  }

  std::string_view text_;
  std::size_t at_;
  int depth_ = 0, links_ = 0;
  bool raw_ = false;
};

}  // namespace

Tree parse(std::string_view text) {
  Parser parser(text, 0);
  Tree tree = parser.expression();
  parser.end();
  return tree;
}

Tree parse_prefix(std::string_view text, std::size_t& at) {
  Parser parser(text, at);
  Tree tree = parser.expression();
  at = parser.at();
  return tree;
}

std::string text_of(const Node& tree) {
  const auto listed = [&](std::size_t from) {
    std::string text;
    for (std::size_t i = from; i < tree.children.size(); ++i) {
      const bool keyword = tree.kind == Node::Kind::call && !tree.keywords[i - 1].empty();
      text += (i > from ? ", " : "") + (keyword ? tree.keywords[i - 1] + '=' : "") + text_of(*tree.children[i]);
    }
    return text;
  };
  switch (tree.kind) {
    case Node::Kind::number:
    case Node::Kind::name:
      return tree.text;
    case Node::Kind::string:
      return '"' + tree.text + '"';
    case Node::Kind::unary:
      return (tree.text == "neg" ? "-" : "not ") + text_of(*tree.children[0]);
    case Node::Kind::binary:
      return '(' + text_of(*tree.children[0]) + ' ' + tree.text + ' ' + text_of(*tree.children[1]) + ')';
    case Node::Kind::comparison: {
      std::string text = text_of(*tree.children[0]);
      for (std::size_t i = 0; i < tree.operators.size(); ++i)
        text +=
            ' ' + (tree.operators[i] == "not_in" ? "not in" : tree.operators[i]) + ' ' + text_of(*tree.children[i + 1]);
      return text;
    }
    case Node::Kind::conditional:
      return text_of(*tree.children[1]) + " if " + text_of(*tree.children[0]) + " else " + text_of(*tree.children[2]);
    case Node::Kind::attribute:
      return text_of(*tree.children[0]) + '.' + tree.text;
    case Node::Kind::subscript:
      return text_of(*tree.children[0]) + '[' + text_of(*tree.children[1]) + ']';
    case Node::Kind::call:
      return text_of(*tree.children[0]) + '(' + listed(1) + ')';
    case Node::Kind::list:
      return '[' + listed(0) + ']';
    case Node::Kind::tuple:
      return '(' + listed(0) + ')';
    case Node::Kind::dictionary:
      return "{…}";
    case Node::Kind::comprehension:
      return '[' + text_of(*tree.children[0]) + " for " + tree.children[1]->text + " in " + text_of(*tree.children[2]) +
             (tree.children.size() > 3 ? " if …" : "") + ']';
    case Node::Kind::lambda:
      return "lambda: " + text_of(*tree.children[0]);
  }
  return {};
}

}  // namespace tuner::convert::python
