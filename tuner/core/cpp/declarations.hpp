#pragma once
/// Finds the declarations of a C++ text without a compiler, as far as that is possible. Private to this room.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/scanner.hpp>

namespace tuner {

struct Declaration {
  enum class Kind { function, type, alias, instantiation, other };
  Kind kind = Kind::other;
  std::size_t begin = 0;
  std::size_t end = npos;     ///< after its `;` or `}`
  std::size_t body = npos;    ///< of a function: at its initialisers or its `{`; of a type: its `{`
  std::size_t around = npos;  ///< the number of the type whose member it is

  std::string name;  ///< empty if it has none
  std::string head;  ///< without what stands in brackets

  bool contains(std::size_t at) const { return begin <= at && at < end; }
};

/// The declarations of namespaces and types in \p code, the code_of() a text. The members of a type come after it. Of
/// two branches of an `#if`, both are read. \p whole: macros with arguments that stand for whole declarations, so that
/// `MACRO(a)` needs no `;`.
std::vector<Declaration> declarations_of(std::string_view code, const std::vector<std::string>& whole);

/// The macros of \p code with arguments that stand for whole declarations: their text ends in `;` or `}`.
std::vector<std::string> whole_declarations(std::string_view code);

}  // namespace tuner
