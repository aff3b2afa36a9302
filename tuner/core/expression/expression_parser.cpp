#include <tuner/core/expression/expression_parser.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Pointer = ExpressionNode::Pointer;

// Far more than anybody writes, far less than a thread's stack holds, even one of a sanitizer build.
constexpr int kMostNesting = 100;

struct Function {
  std::string_view name;
  Op op;
  std::size_t least, most;
};
constexpr std::size_t kAny = 1000;
constexpr Function kFunctions[] = {
    {"ceil_div", Op::ceil_div, 2, 2},
    {"min", Op::minimum, 1, kAny},
    {"max", Op::maximum, 1, kAny},
    {"log2", Op::log2, 1, 1},
    {"is_pow2", Op::is_pow2, 1, 1},
    {"sizeof", Op::size_of, 1, 1},
    {"abs", Op::absolute, 1, 1},
    // These give numbers with a point. Their names are not reserved: a parameter may be called `log`.
    {"sqrt", Op::square_root, 1, 1},
    {"exp", Op::exponential, 1, 1},
    {"log", Op::logarithm, 1, 1},
    {"sin", Op::sine, 1, 1},
    {"cos", Op::cosine, 1, 1},
    {"tan", Op::tangent, 1, 1},
};

bool gives_reals(const Function& function) { return function.op >= Op::square_root; }

std::span<const Function> integer_functions() { return {kFunctions, std::ranges::find_if(kFunctions, gives_reals)}; }

struct BinaryOperator {
  std::string_view text;
  Op op;
};
constexpr BinaryOperator kOr[] = {{"or", Op::logical_or}, {"||", Op::logical_or}};
constexpr BinaryOperator kAnd[] = {{"and", Op::logical_and}, {"&&", Op::logical_and}};
constexpr BinaryOperator kComparisons[] = {{"==", Op::equal},      {"!=", Op::not_equal}, {"<", Op::less},
                                           {"<=", Op::less_equal}, {">", Op::greater},    {">=", Op::greater_equal}};
constexpr BinaryOperator kShifts[] = {{"<<", Op::shift_left}, {">>", Op::shift_right}};
constexpr BinaryOperator kSums[] = {{"+", Op::add}, {"-", Op::subtract}};
constexpr BinaryOperator kProducts[] = {{"*", Op::multiply}, {"/", Op::divide}, {"%", Op::modulo}};

std::optional<Op> match(const Token& token, const auto& operators) {
  for (const BinaryOperator& candidate : operators) {
    if (token.is(candidate.text)) return candidate.op;
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(TokenCursor& cursor, const Substitutions& substitutions, Numbers numbers)
      : cursor_(cursor), substitutions_(substitutions), numbers_(numbers) {}

  Pointer expression() {
    const Nesting nesting(*this);
    Pointer condition = disjunction();
    if (!cursor_.peek().is("?")) return condition;
    const SourceLocation location = cursor_.place();
    cursor_.take();
    Pointer yes = expression();
    if (!cursor_.peek().is(":")) cursor_.fail("expected ':' of 'condition ? a : b', not " + cursor_.described());
    cursor_.take();
    return make_node(Op::conditional, {std::move(condition), std::move(yes), expression()}, location);
  }

 private:
  struct Nesting {
    explicit Nesting(Parser& p) : parser(p) {
      if (++parser.nesting_ > kMostNesting) {
        parser.cursor_.fail("nested more than " + std::to_string(kMostNesting) + " levels deep; name parts with 'let'");
      }
    }
    ~Nesting() { --parser.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  Pointer disjunction() {
    return chain(kOr, [this] { return chain(kAnd, [this] { return negation(); }); });
  }

  Pointer negation() {
    if (!cursor_.peek().is("not")) return comparison();
    const Nesting nesting(*this);
    const SourceLocation location = cursor_.place();
    cursor_.take();
    return make_node(Op::logical_not, {negation()}, location);
  }

  Pointer comparison() {
    const bool exclaimed = cursor_.peek().is("!");
    Pointer left = chain(kShifts, [this] { return sum(); });
    if (!at_comparison()) return left;
    if (exclaimed)
      cursor_.fail("'!a " + std::string(cursor_.peek().text) + " b' can be read two ways; add parentheses");
    const SourceLocation location = cursor_.place();
    if (cursor_.accept("in")) {
      left = membership(std::move(left), location);
    } else {
      const Op op = *match(cursor_.peek(), kComparisons);
      cursor_.take();
      left = make_node(op, {left, chain(kShifts, [this] { return sum(); })}, location);
    }
    if (at_comparison()) cursor_.fail("comparisons cannot be chained; write 'a < b and b < c'");
    return left;
  }

  bool at_comparison() const { return cursor_.peek().is("in") || match(cursor_.peek(), kComparisons); }

  Pointer membership(Pointer left, const SourceLocation& location) {
    cursor_.expect("{", "'in'");
    std::vector<Pointer> operands{std::move(left)};
    do {
      operands.push_back(expression());
    } while (cursor_.accept(","));
    cursor_.expect("}", "the values of 'in {'");
    return make_node(Op::member, std::move(operands), location);
  }

  Pointer sum() {
    return chain(kSums, [this] { return chain(kProducts, [this] { return unary(); }); });
  }

  /// Operators of one rank, from left to right.
  Pointer chain(const auto& operators, const auto& operand) {
    Pointer left = operand();
    while (const auto op = match(cursor_.peek(), operators)) {
      const SourceLocation location = cursor_.place();
      cursor_.take();
      left = make_node(*op, {left, operand()}, location);
    }
    return left;
  }

  Pointer unary() {
    const Token& token = cursor_.peek();
    const SourceLocation location = cursor_.place();
    if (token.is("-")) {
      const Nesting nesting(*this);
      cursor_.take();
      if (at_word_with_point()) return named(Op::name, "-" + std::string(cursor_.take().text), location);
      if (cursor_.peek().is("9223372036854775808")) {
        cursor_.take();
        return make_leaf({.value = INT64_MIN, .location = location});
      }
      return make_node(Op::negate, {unary()}, location);
    }
    if (token.is("!")) {
      const Nesting nesting(*this);
      cursor_.take();
      return make_node(Op::logical_not, {unary()}, location);
    }
    return primary();
  }

  /// Where expressions have integers alone, a number with a point is a word: a value of a parameter.
  bool at_word_with_point() const {
    const std::string_view text = cursor_.peek().text;
    return numbers_ != Numbers::any && cursor_.at_number() && text.find_first_of(".eE") != std::string_view::npos &&
           number_of<double>(text);
  }

  Pointer primary() {
    const SourceLocation location = cursor_.place();
    if (at_word_with_point()) return named(Op::name, std::string(cursor_.take().text), location);
    if (cursor_.at_number()) return number();
    if (cursor_.at_identifier()) return word();
    if (!cursor_.accept("(")) {
      const std::string hint = cursor_.peek().is("=") ? " (equality is written '==')" : "";
      cursor_.fail("expected a value, not " + cursor_.described() + hint);
    }
    Pointer inner = expression();
    if (!cursor_.peek().is(")")) {
      throw SpecError(
          cursor_.at_end() ? location : cursor_.place(),
          cursor_.at_end() ? "'(' is never closed" : "expected ')' or an operator, not " + cursor_.described());
    }
    cursor_.take();
    return inner;
  }

  Pointer number() {
    const SourceLocation location = cursor_.place();
    const std::string_view text = cursor_.take().text;
    if (numbers_ == Numbers::any && text.find_first_of(".eE") != std::string_view::npos) return real(text, location);
    return make_leaf({.value = decimal_integer(text, location), .location = location});
  }

  static Pointer real(std::string_view text, const SourceLocation& location) {
    const auto value = number_of<double>(text);
    if (!value || !std::isfinite(*value)) throw SpecError(location, in_quotes(text) + " is not a number");
    return make_leaf({.op = Op::real, .real = *value, .is_real = true, .has_reals = true, .location = location});
  }

  Pointer word() {
    const SourceLocation location = cursor_.place();
    const std::string_view text = cursor_.peek().text;
    if (text == "true" || text == "false") {
      cursor_.take();
      return make_leaf({.op = Op::boolean, .value = text == "true", .location = location});
    }
    if (is_reserved_word(text)) cursor_.fail("expected a value, not " + cursor_.described());
    const std::string name(cursor_.take().text);
    if (cursor_.peek().is("(")) return call(name, location);
    const auto substitution = substitutions_.find(name);
    if (substitution != substitutions_.end()) return ExpressionAccess::root(substitution->second);
    return named(Op::name, name, location);
  }

  static Pointer named(Op op, const std::string& name, const SourceLocation& location) {
    return make_leaf({.op = op, .name = name, .location = location});
  }

  Pointer call(const std::string& name, const SourceLocation& location) {
    const Function* const at = find_named(kFunctions, name);
    if (at != nullptr && gives_reals(*at) && numbers_ != Numbers::any)
      throw SpecError(location, in_quotes(name) + " gives numbers with a point, which only fills and 'estimate' allow");
    if (at == nullptr)
      throw SpecError(location,
                      unknown_name("function", name,
                                   numbers_ == Numbers::any ? names_of(kFunctions) : names_of(integer_functions())));
    const SourceLocation open = cursor_.place();
    cursor_.take();
    if (at->op == Op::size_of) return size_of(location);
    std::vector<Pointer> arguments;
    if (!cursor_.peek().is(")")) {
      do {
        arguments.push_back(expression());
      } while (cursor_.accept(","));
    }
    if (cursor_.at_end()) throw SpecError(open, "'(' is never closed");
    if (!cursor_.peek().is(")"))
      cursor_.fail("expected ',' or ')' in the arguments of " + in_quotes(name) + ", not " + cursor_.described());
    cursor_.take();
    if (arguments.size() < at->least || arguments.size() > at->most) {
      const std::string wanted = at->most == kAny
                                     ? "at least 1 argument"
                                     : std::to_string(at->least) + (at->least == 1 ? " argument" : " arguments");
      throw SpecError(location, in_quotes(name) + " takes " + wanted + ", not " + std::to_string(arguments.size()));
    }
    return make_node(at->op, std::move(arguments), location);
  }

  Pointer size_of(const SourceLocation& location) {
    const Token type = cursor_.expect_identifier("the name of a type in 'sizeof'");
    const std::string name(type.text);
    Pointer result;
    const auto element = element_type(name);
    const auto vector = element ? VectorType{*element, 1} : vector_type(name);
    if (vector)
      result = make_leaf(
          {.value = static_cast<std::int64_t>(info(vector->type).bytes) * vector->components, .location = location});
    else
      result = named(Op::size_of, name, cursor_.place(type));
    cursor_.expect(")", "the type of 'sizeof'");
    return result;
  }

  TokenCursor& cursor_;
  const Substitutions& substitutions_;
  Numbers numbers_;
  int nesting_ = 0;
};

}  // namespace

bool is_function_name(std::string_view name) { return contains(names_of(integer_functions()), name); }

bool is_reserved_word(std::string_view name) {
  constexpr std::array<std::string_view, 6> words{"and", "or", "not", "in", "true", "false"};
  return contains(words, name);
}

Expression parse_expression(TokenCursor& cursor, const Substitutions& substitutions, Numbers numbers) {
  const SourceLocation location = cursor.place();
  const std::size_t begin = cursor.peek().begin;
  Pointer root = Parser(cursor, substitutions, numbers).expression();
  return ExpressionAccess::make(std::move(root), cursor.line().text.substr(begin, cursor.last_stop() - begin),
                                location);
}

}  // namespace tuner
