#pragma once
/// The part of Python's expressions that tuning scripts and T1 files need: parses them to trees and evaluates constant
/// ones. Never runs code.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/error.hpp>

namespace tuner::convert::python {

/// For text that cannot be parsed or has no value here. what() explains it to people.
class NotUnderstood : public Error {
 public:
  using Error::Error;
};

struct Node;
using Tree = std::shared_ptr<const Node>;

/// An expression. \p text is a name, an attribute's name, a number as written, a string's contents, or an operator.
/// Operators are `+ - * / // % ** << >> & | ^ and or not in not_in == != < <= > >=` and `neg`.
struct Node {
  enum class Kind {
    number,
    string,
    name,
    unary,
    binary,       ///< two children.
    comparison,   ///< chained: children are operands, \p operators the operators between them.
    conditional,  ///< condition, value, other value.
    attribute,    ///< of the only child.
    subscript,    ///< child, index.
    call,         ///< function, then arguments; \p keywords: their names, empty for positional ones.
    list,
    tuple,
    dictionary,     ///< key, value, key, value…
    comprehension,  ///< value, variable (a name), iterable, conditions…
    lambda,         ///< body; \p keywords: the arguments
  };
  Kind kind = Kind::number;
  std::string text = {};
  std::vector<Tree> children = {};
  std::vector<std::string> operators = {};
  std::vector<std::string> keywords = {};
};

/// Parses \p text, which must be one expression. Throws NotUnderstood.
Tree parse(std::string_view text);
/// Parses the expression at \p at and moves \p at to its end. Throws NotUnderstood.
Tree parse_prefix(std::string_view text, std::size_t& at);

/// A constant. NumPy's numbers and arrays keep the name of their type in \p type (`int32`).
struct Constant {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Constant>> value = {};
  std::string type = {};
  std::vector<Constant> keys = {};  ///< of a dictionary; its values are the list

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  const std::vector<Constant>* list() const { return std::get_if<std::vector<Constant>>(&value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
  bool is_number() const { return value.index() >= 1 && value.index() <= 3; }
  /// Throws NotUnderstood if it is not a number.
  double number() const;
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<bool>(value); }
  /// Throws NotUnderstood if it is not an integer.
  std::int64_t integer() const;
};

using Names = std::map<std::string, Constant, std::less<>>;

/// The value of \p tree with these \p names. Throws NotUnderstood if it is not a constant, or too large: a list of more
/// than 100,000 values, or more than 1,000,000 in room_of() all intermediate values.
Constant evaluate(const Node& tree, const Names& names = {});

/// The memory that \p constant needs: 1 for each value in it and for each 64 bytes of text.
std::size_t room_of(const Constant& constant);

/// \p tree as Python text, for messages.
std::string text_of(const Node& tree);

}  // namespace tuner::convert::python
