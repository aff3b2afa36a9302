#pragma once
/// As much of Python's expressions as tuning scripts and T1 files consist of: parsed into a tree, and worked out where
/// they are constants. Nothing is ever run.

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

/// What is not read or has no value here. what() says why, for people.
class NotUnderstood : public Error {
 public:
  using Error::Error;
};

struct Node;
using Tree = std::shared_ptr<const Node>;

/// An expression. \p text: the operator (`+ - * / // % ** << >> & | ^ and or not in not_in == != < <= > >=`, `neg`), a
/// name, an attribute's name, a number as written, or a string's contents.
struct Node {
  enum class Kind {
    number,
    string,
    name,
    unary,
    binary,       ///< two children
    comparison,   ///< chained: operands are the children, operators in \p operators
    conditional,  ///< condition, value, other value
    attribute,    ///< of the one child
    subscript,    ///< child, index
    call,         ///< function, then arguments; \p keywords: name of each, empty for those by place
    list,
    tuple,
    dictionary,     ///< key, value, key, value…
    comprehension,  ///< value, variable (a name), iterable, conditions…
    lambda,         ///< body; \p keywords: its arguments
  };
  Kind kind = Kind::number;
  std::string text = {};
  std::vector<Tree> children = {};
  std::vector<std::string> operators = {};
  std::vector<std::string> keywords = {};
};

/// Of one expression that is all of \p text. Throws NotUnderstood.
Tree parse(std::string_view text);
/// Reads one expression at \p at and moves it behind it. Throws NotUnderstood.
Tree parse_prefix(std::string_view text, std::size_t& at);

/// A constant. Numbers of NumPy keep the name of their type in \p type (`int32`), arrays too.
struct Constant {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Constant>> value = {};
  std::string type = {};
  std::vector<Constant> keys = {};  ///< of a dictionary, whose values are the list

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  const std::vector<Constant>* list() const { return std::get_if<std::vector<Constant>>(&value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
  bool is_number() const { return value.index() >= 1 && value.index() <= 3; }
  /// Throws NotUnderstood where it is none.
  double number() const;
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<bool>(value); }
  /// Throws NotUnderstood where it is none.
  std::int64_t integer() const;
};

using Names = std::map<std::string, Constant, std::less<>>;

/// The value of \p tree, where \p names have these values. Throws NotUnderstood where it is no constant of these kinds
/// or too large: a list of more than 100,000 values, or a room of more than 1,000,000 for what is made on the way.
Constant evaluate(const Node& tree, const Names& names = {});

/// How much memory \p constant takes: one for each value in it, and for each 64 bytes of text.
std::size_t room_of(const Constant& constant);

/// \p tree as Python text, for messages.
std::string text_of(const Node& tree);

}  // namespace tuner::convert::python
